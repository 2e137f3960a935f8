// What is the reader's: take it home as a folder, bring it back, keep the course for a journey.
import { button, chooseFiles, download, find, html } from './dom.js';
import { notice } from './notices.js';
import { keepAll } from './offline.js';

const SECONDS = 180;

export class Menu {
  constructor(app) {
    this.app = app;
    this.dialog = find('menu');
    find('menu-button').addEventListener('click', () => this.open());
  }

  open() {
    const then = action => () => {
      this.dialog.close();
      action();
    };
    const row = (text, action, explanation) => html('li', {}, button(text, then(action), { class: 'primary' }), html('p', {}, explanation));
    this.dialog.replaceChildren(
      html('div', { class: 'dialog-head' }, html('h2', {}, 'Your work'), button('×', () => this.dialog.close(), { 'aria-label': 'Close', class: 'close' })),
      html('p', {}, 'What you write is kept in this browser, on this machine, and nowhere else.'),
      html('ul', { class: 'rows' },
        row('Take it home', () => this.takeHome(), 'A zip with the folder of “kuiper course start”: your exercises, their tests, the lectures, your progress. It works with kuiper on any computer.'),
        row('Bring it back', () => this.bringBack(), 'From such a zip. What it replaces stays under “Older versions”.'),
        row('Keep for a journey', () => keepAll(), 'What you have opened works without a network. This fetches the rest, too: all lectures, and the compiler for exercises in Cython.'),
        row('Start Python again', () => {
          this.app.restart('lecture');
          this.app.restart('exercise');
        }, 'For when something hangs. No file is lost.')),
      html('h3', {}, 'Keys'),
      html('p', {}, html('kbd', {}, 'Ctrl'), '+', html('kbd', {}, 'Enter'), ' checks the exercise, or runs the cell that you edit. ',
        html('kbd', {}, 'Esc'), ', then ', html('kbd', {}, 'Tab'), ' leaves the editor. ', html('kbd', {}, '←'), html('kbd', {}, '→'), ' move the line between lecture and exercise.'),
      html('p', {}, html('a', { href: 'licences.txt', target: '_blank' }, 'Licences of what this page is made of')));
    this.dialog.showModal();
  }

  async takeHome() {
    await this.app.exercise.keep.now();
    try {
      const { bytes, name } = await this.app.kernel('exercise').ask('zip', {}, { seconds: SECONDS });
      download(name, bytes, 'application/zip');
    } catch (error) {
      notice('zip', `The zip could not be made: ${error.message}`, { kind: 'problem' });
    }
  }

  async bringBack() {
    const [file] = await chooseFiles('.zip,application/zip');
    if (!file) return;
    const { work, course } = this.app;
    try {
      await this.app.exercise.keep.now();
      for (const exercise of course.exercises) if (work.text(exercise) !== exercise.skeleton) await work.keep(exercise.file);
      const bytes = new Uint8Array(await file.arrayBuffer());
      const { taken } = await this.app.kernel('exercise').ask('unzip', { bytes }, { seconds: SECONDS });
      await work.taken;
      notice('zip', taken.length ? `${taken.length} files are here again.` : 'The zip has nothing that is not here already.');
      await this.app.exercise.reload();
      this.app.progressed();
    } catch (error) {
      notice('zip', `The zip was not taken: ${error.message}`, { kind: 'problem' });
    }
  }
}

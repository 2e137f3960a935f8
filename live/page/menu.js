// What is the reader's: take it home as a folder, bring it back, keep the course for a journey.
import { button, chooseFiles, download, find, html } from './dom.js';
import { _, many, parts } from './language.js';
import { notice } from './notices.js';
import { keepAll } from './offline.js';
import { parseRoute } from './route.js';

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
    const key = name => html('kbd', {}, name);
    const row = (text, action, explanation) => html('li', {}, button(text, then(action), { class: 'primary' }), html('p', {}, explanation));
    this.dialog.replaceChildren(
      html('div', { class: 'dialog-head' }, html('h2', {}, _('Your work')), button('×', () => this.dialog.close(), { 'aria-label': _('Close'), class: 'close' })),
      html('p', {}, _('What you write is kept in this browser, on this machine, and nowhere else.')),
      html('ul', { class: 'rows' },
        row(_('Take it home'), () => this.takeHome(),
          _('A zip with the folder of “kuiper course start”: your exercises, their tests, the lectures, your progress. It works with kuiper on any computer.')),
        row(_('Bring it back'), () => this.bringBack(), _('From such a zip. What it replaces stays under “Older versions”.')),
        row(_('Keep for a journey'), () => keepAll(this.app.course.language),
          _('What you have opened works without a network. This fetches the rest, too: all lectures, and the compiler for exercises in Cython.')),
        row(_('Start Python again'), () => {
          this.app.restart('lecture');
          this.app.restart('exercise');
        }, _('For when something hangs. No file is lost.'))),
      html('h3', {}, _('Keys')),
      html('p', {}, parts('{ctrl}+{enter} checks the exercise, or runs the cell that you edit. {esc}, then {tab} leaves the editor. {left}{right} move the line between lecture and exercise.', {
        ctrl: key('Ctrl'), enter: key('Enter'), esc: key('Esc'), tab: key('Tab'), left: key('←'), right: key('→'),
      })),
      html('p', {}, html('a', { href: this.notebook(), target: '_blank' }, _('This lecture as a notebook (JupyterLite)'))),
      html('p', {}, html('a', { href: 'licences.txt', target: '_blank' }, _('Licences of what this page is made of'))));
    this.dialog.showModal();
  }

  /** Where the site has JupyterLite with the lecture that is open; what is written there stays there. */
  notebook() {
    const { course } = this.app;
    return `../lab/${course.language}/lab/index.html?path=notebooks/${parseRoute(location.hash, course).lecture}.ipynb`;
  }

  async takeHome() {
    await this.app.exercise.keep.now();
    try {
      const { bytes, name } = await this.app.kernel('exercise').ask('zip', {}, { seconds: SECONDS });
      download(name, bytes, 'application/zip');
    } catch (error) {
      notice('zip', _('The zip could not be made: {why}', { why: error.message }), { kind: 'problem' });
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
      notice('zip', taken.length ? many(taken.length, '{n} file is here again.', '{n} files are here again.') : _('The zip has nothing that is not here already.'));
      await this.app.exercise.reload();
      this.app.progressed();
    } catch (error) {
      notice('zip', _('The zip was not taken: {why}', { why: error.message }), { kind: 'problem' });
    }
  }
}

// An exercise: its text in the editor, the report of its tests below, hints one by one.
import { button, find, html, soon } from './dom.js';
import { Editor } from './editor.js';
import { goToDesk } from './layout.js';
import { _, many, parts } from './language.js';
import { notice, withdraw } from './notices.js';
import { headline, lineOf, pageText, reportNodes } from './report.js';
import { terminalText } from './output.js';
import { statusWords, textOf } from './work.js';

const CHECK_SECONDS = { python: 60, cython: 180 }; // an endless loop ends here; compiling takes some of the second
const KEEP_AFTER = 500; // milliseconds without a key

export class ExerciseView {
  constructor(node, app) {
    this.node = node;
    this.app = app;
    this.exercise = null;
    this.keep = soon(KEEP_AFTER, () => this.store());
    this.build();
    app.work.onChange((path, isFromOtherTab) => isFromOtherTab && this.changedElsewhere(path));
    addEventListener('beforeunload', event => {
      this.keep.now();
      if (!app.work.isKept) event.preventDefault();
    });
    addEventListener('pagehide', () => this.keep.now());
  }

  build() {
    this.title = html('h2', {});
    this.facts = html('p', { class: 'facts' });
    this.status = html('span', { class: 'status' });
    this.checkButton = button(_('Check'), () => this.check(), { class: 'primary', title: _('Run the tests (Ctrl+Enter)') });
    this.hintButton = button(_('Hint'), () => this.hint());
    this.more = html('details', { class: 'more' }, html('summary', {}, _('More')), html('div', { class: 'choices' },
      button(_('In the lecture'), () => this.app.showInLecture(this.exercise.id)),
      button(_('Older versions'), () => this.showOlder()),
      button(_('Begin again'), () => this.reset()),
      button(_('A solution'), () => this.solution())));
    this.more.addEventListener('click', event => event.target.closest('button') && (this.more.open = false));
    const place = html('div', { class: 'editor' });
    this.report = html('div', { class: 'result', 'aria-live': 'polite', tabindex: '0', 'aria-label': _('Report of the tests') });
    this.node.append(
      html('div', { class: 'exercise-head' }, html('div', {}, this.title, this.facts), this.status),
      place,
      html('div', { class: 'actions' }, this.checkButton, this.hintButton, this.more),
      this.report);
    this.editor = new Editor(place, {
      label: _('Your file'),
      changed: () => this.changed(),
      run: what => (what === 'save' ? this.keep.now() : this.check()),
    });
    place.addEventListener('focusin', () => this.app.expect('exercise'), { once: true });
  }

  async open(id) {
    if (this.exercise?.id === id) return;
    this.keep.now();
    const exercise = this.app.course.exercises.find(item => item.id === id);
    this.exercise = exercise;
    this.rungs = {};
    this.title.textContent = `${exercise.id} ${exercise.title}`;
    this.facts.textContent = [
      many(exercise.minutes, '{n} minute', '{n} minutes'), many(exercise.points, '{n} point', '{n} points'),
      exercise.language === 'cython' ? 'Cython' : 'Python',
      ...(exercise.needs.length ? [_('needs {exercises}', { exercises: exercise.needs.join(', ') })] : []),
    ].join(' · ');
    this.editor.open(this.app.work.text(exercise), exercise.file);
    this.toHole();
    this.report.replaceChildren(html('p', { class: 'empty' },
      _('Read the text of the file, write where it raises NotImplementedError, then check. Tests show the call, what was expected and what came.')));
    this.sayNewerText();
    await this.showStatus();
  }

  /** Show what is kept, after it has come from somewhere else. */
  async reload() {
    this.editor.text = this.app.work.text(this.exercise);
    this.sayNewerText();
    await this.showStatus();
  }

  /** Scroll to the first hole that is left. */
  toHole() {
    this.editor.goTo(`raise NotImplementedError("exercise ${this.exercise.id}`) || this.editor.select(0);
  }

  async showStatus() {
    const status = await this.app.work.status(this.exercise);
    this.status.textContent = statusWords(status);
    this.status.className = `status ${status.replace(' ', '-')}`;
  }

  /** The course has another text of this exercise than the one that the reader has begun with. */
  sayNewerText() {
    withdraw('newer');
    const { exercise } = this;
    const begun = textOf(this.editor.text);
    if (!begun || exercise.texts.includes(begun)) return;
    notice('newer', _('The course has a newer text of exercise {exercise}; yours is kept.', { exercise: exercise.id }),
      { actions: [[_('Begin again with the newer'), () => this.reset()]] });
  }

  changed() {
    this.editor.unmark();
    this.keep();
  }

  async store() {
    await this.app.work.write(this.exercise.file, this.editor.text);
    await this.showStatus();
  }

  /** Another tab has written: take its text over, unless there is something here that is not yet kept. */
  changedElsewhere(path) {
    if (path !== this.exercise?.file) return void this.showStatus();
    if (this.keep.waits()) return;
    this.editor.text = this.app.work.text(this.exercise);
    notice('tabs', _('This exercise was changed in another tab: here is its text.'));
    this.showStatus();
  }

  /** Run something on Python that the reader may stop; the answer, or null after a sentence that says why there is none. */
  async ask(type, fields, seconds, onEvent) {
    await this.keep.now();
    this.setRunning(true);
    try {
      return await this.app.kernel('exercise').ask(type, fields, { seconds, onEvent });
    } catch (error) {
      const why = error.kind === 'late' ? _('Is there a loop that never ends? Python was stopped; your text is kept.') : '';
      this.report.replaceChildren(html('p', { class: 'headline failing' }, error.message), why ? html('p', { class: 'likely' }, why) : '');
      return null;
    } finally {
      this.setRunning(false);
    }
  }

  setRunning(isRunning) {
    this.isRunning = isRunning;
    this.node.classList.toggle('is-running', isRunning);
    this.checkButton.textContent = isRunning ? _('Stop') : _('Check');
    this.hintButton.disabled = isRunning;
  }

  async check() {
    if (this.isRunning) return void this.app.kernel('exercise').end(_('Stopped by you.'));
    const { exercise } = this;
    const pre = html('pre', { class: 'report' });
    this.report.replaceChildren(html('p', { class: 'headline' }, _('The tests run …')), pre);
    let written = '';
    const onEvent = event => {
      if (event.event !== 'output') return;
      written += event.text;
      pre.replaceChildren(...terminalText(written));
    };
    const value = await this.ask('check', { exercise: exercise.id, text: this.editor.text }, CHECK_SECONDS[exercise.language], onEvent);
    if (!value || this.exercise !== exercise) return;
    this.app.work.keep(exercise.file); // a text that was tried is worth an older version
    this.report.replaceChildren(...reportNodes(value, exercise.file, line => this.goTo(line)));
    const line = lineOf(pageText(value.report), exercise.file);
    if (line && value.status === 'failing') this.editor.mark(line, headline(value));
    if (value.status === 'solved') this.report.append(this.next());
    await this.showStatus();
    this.app.progressed();
  }

  goTo(line) {
    this.editor.mark(line, _('The report names this line.'));
    this.editor.focus();
  }

  /** What comes after a solved exercise. */
  next() {
    const { exercises } = this.app.course;
    const following = exercises[exercises.indexOf(this.exercise) + 1];
    if (!following) return html('p', {}, _('This was the last exercise of the course.'));
    const exercise = `${following.id} ${following.title}`;
    const go = () => {
      this.app.go({ lecture: following.lecture, desk: following.id });
      goToDesk();
    };
    return html('p', {}, button(_('Next: {exercise}', { exercise }), go, { class: 'primary' }));
  }

  /** The next rung of the ladder: a question, a pointer, pseudo-code, the reference. */
  async hint(wanted) {
    const level = wanted ? (this.rungs[wanted] ?? 0) + 1 : undefined;
    const value = await this.ask('hint', { exercise: this.exercise.id, function: wanted, level }, 60);
    if (!value) return;
    this.rungs[value.function] = value.level;
    const again = value.level < value.of && button(_('Tell me more'), () => this.hint(value.function));
    const others = this.exercise.hints.filter(name => name !== value.function)
      .map(name => button(name, () => this.hint(name), { class: 'link' }));
    this.report.querySelector('.empty')?.remove();
    this.report.querySelectorAll('.hint .again').forEach(node => node.remove());
    const section = html('section', { class: 'hint', tabindex: '-1' },
      html('h3', {}, _('Hint {level} of {of}: {function}', { level: value.level, of: value.of, function: value.function })),
      value.level === value.of ? html('pre', {}, value.text) : html('p', {}, value.text),
      html('p', { class: 'again' }, again, others.length ? [' ', ...parts('for {functions}', { functions: html('span', {}, others) })] : ''));
    this.report.prepend(section);
    this.report.scrollTop = 0;
    if (document.activeElement === document.body) section.focus(); // the button that was pressed is gone, or was disabled
  }

  async solution() {
    if (!confirm(_('Show the reference solution of this exercise? Trying a hint first teaches more.'))) return;
    const value = await this.ask('solution', { exercise: this.exercise.id }, 60);
    if (value) this.report.replaceChildren(html('section', { class: 'hint' }, html('h3', {}, _('The reference solution')), html('pre', {}, value.text)));
  }

  /** The skeleton again; the reader's text becomes an older version. */
  async reset() {
    await this.keep.now();
    await this.app.work.keep(this.exercise.file);
    this.editor.text = this.exercise.skeleton;
    await this.store();
    withdraw('newer');
    this.toHole();
    notice('reset', _('This is the exercise as it begins; your text is under “Older versions”.'));
  }

  async showOlder() {
    const older = await this.app.work.older(this.exercise.file);
    const dialog = find('menu');
    const bring = text => {
      dialog.close();
      this.app.work.keep(this.exercise.file).then(() => {
        this.editor.text = text;
        this.store();
      });
    };
    const item = ({ text, time }) => html('li', {},
      html('details', {}, html('summary', {}, new Date(time).toLocaleString(document.documentElement.lang), ' ',
        html('small', {}, many(text.split('\n').length, '{n} line', '{n} lines'))),
        html('pre', {}, text), button(_('Bring this back'), () => bring(text))));
    dialog.replaceChildren(html('h2', {}, _('Older versions of {exercise}', { exercise: this.exercise.id })),
      older.length ? html('ol', { class: 'older' }, older.map(item)) : html('p', {}, _('There are none yet: each check keeps one.')),
      button(_('Close'), () => dialog.close()));
    dialog.showModal();
  }
}

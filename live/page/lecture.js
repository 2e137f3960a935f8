// A lecture: the page of the site, whose cells run in place.
import { button, html } from './dom.js';
import { Editor } from './editor.js';
import { _, parts } from './language.js';
import { goToDesk } from './layout.js';
import { Output } from './output.js';
import { inside } from './route.js';

const CELL_SECONDS = 600;

/** One cell: its code, what is stored of its output, and what running it gave. */
class Cell {
  constructor(node, number, view) {
    this.node = node;
    this.number = number;
    this.view = view;
    this.input = node.querySelector('.cell_input');
    this.highlighted = this.input.querySelector('.highlight');
    this.source = this.highlighted.textContent.replace(/\n$/, '');
    this.stored = node.querySelector(':scope > .cell_output');
    this.editor = null;
    this.hasRun = false;
    this.build();
  }

  get text() {
    return this.editor?.text ?? this.source;
  }

  build() {
    this.runButton = button('▶', () => this.view.runUntil(this), {
      class: 'run', 'aria-label': _('Run cell {number}', this), title: _('Run this cell; cells above it that have not run go first'),
    });
    this.editButton = button(_('Edit'), () => this.edit(), { class: 'edit', 'aria-label': _('Edit cell {number}', this) });
    this.note = html('span', { class: 'note', role: 'status' });
    this.live = html('div', { class: 'cell_output live', hidden: true });
    this.output = new Output(this.live);
    this.node.classList.add('runs');
    this.node.id = `cell-${this.number}`;
    this.input.append(html('div', { class: 'cell-tools' }, this.runButton, this.editButton, this.note));
    const folded = this.node.querySelector(':scope > details');
    if (folded) folded.before(html('div', { class: 'cell-tools folded' }, this.runButton, this.note));
    this.node.append(this.live);
  }

  edit() {
    if (this.editor) return;
    const place = html('div', { class: 'cell-editor' });
    this.highlighted.parentElement.hidden = true;
    this.highlighted.parentElement.after(place);
    this.editor = new Editor(place, {
      label: _('Code of cell {number}', this), numbers: false, run: () => this.view.runUntil(this),
    });
    this.editor.open(this.source, 'cell.py');
    this.editor.focus();
    this.editButton.hidden = true;
  }

  /** The output that is shown instead of the stored one. */
  begin() {
    this.node.classList.remove('failed');
    this.node.classList.add('running');
    this.note.textContent = '…';
    this.output.clear();
    this.began = performance.now();
  }

  take(event) {
    this.showLive();
    if (event.event === 'output') this.output.write(event.text, event.stream);
    if (event.event === 'display') this.output.show(event.data);
  }

  showLive() {
    this.live.hidden = false;
    if (this.stored) this.stored.hidden = true;
  }

  finish(problem, lacking) {
    this.node.classList.remove('running');
    this.node.classList.toggle('failed', Boolean(problem));
    this.hasRun = true; // one that failed is not in the way of the cells below it
    this.showLive();
    if (problem) this.output.write(`${problem}\n`, 'stderr');
    if (lacking) this.showStoredPictures();
    const seconds = (performance.now() - this.began) / 1000;
    const time = seconds < 1 ? `${Math.round(seconds * 1000)} ms` : `${seconds.toFixed(1)} s`;
    if (lacking) this.note.textContent = _('ran here; the picture is the stored one, for this site has no matplotlib');
    else this.note.textContent = problem ? _('stopped') : _('ran here in {time}', { time });
  }

  /** In the place of a chart that cannot be drawn here. */
  showStoredPictures() {
    const pictures = this.stored?.querySelectorAll(':scope > .output:not(.stream)') ?? [];
    this.live.append(...Array.from(pictures, picture => picture.cloneNode(true)));
  }

  forget() {
    this.node.classList.remove('running');
    if (this.hasRun) this.note.textContent = _('ran before Python started again');
    this.hasRun = false;
  }
}

export class LectureView {
  /** `app` has course, kernels and `go`. */
  constructor(node, app) {
    this.node = node;
    this.app = app;
    this.name = null;
    this.cells = [];
    node.addEventListener('click', event => this.follow(event));
  }

  async open(name) {
    if (this.name === name) return;
    this.name = name;
    this.cells = [];
    const address = new URL(this.app.course.lectures.find(item => item.name === name).page, document.baseURI);
    let article;
    try {
      const response = await fetch(address);
      if (!response.ok) throw new Error(_('the server answers {status}', { status: response.status }));
      article = new DOMParser().parseFromString(await response.text(), 'text/html').querySelector('article');
    } catch (error) {
      const sentence = navigator.onLine ? _('The lecture did not come: {why}.', { why: error.message }) : _('This lecture is not kept here yet, and there is no network.');
      this.name = null;
      this.node.replaceChildren(html('p', { class: 'empty' }, sentence, ' ', button(_('Try again'), () => this.open(name))));
      return;
    }
    if (navigator.serviceWorker && !navigator.serviceWorker.controller) {
      this.app.started.then(() => fetch(address)).catch(() => {}); // what came before it is kept, too
    }
    if (this.name !== name) return; // the reader has gone on meanwhile
    this.prepare(article, address);
    this.node.replaceChildren(this.head(address), article, this.foot());
    this.node.scrollTop = 0;
    this.fresh = false;
  }

  /** Absolute addresses, and no place of the site twice on this page. */
  prepare(article, address) {
    article.removeAttribute('role');
    for (const script of article.querySelectorAll('script, .live, a.headerlink')) script.remove();
    const hosted = article.querySelector('h1 + blockquote');
    if (hosted?.textContent.includes('%pip install')) hosted.remove(); // here is nothing to install
    for (const link of article.querySelectorAll('a[href]')) {
      const target = new URL(link.getAttribute('href'), address);
      link.href = target.href;
      const leads = inside(target, this.app.course);
      if (leads?.exercise) {
        link.textContent = _('Solve it here');
        link.classList.add('solve');
        link.dataset.exercise = leads.exercise;
      }
    }
    for (const image of article.querySelectorAll('img[src]')) image.src = new URL(image.getAttribute('src'), address).href;
    this.cells = [...article.querySelectorAll('.cell')].filter(node => node.querySelector('.cell_input'))
      .map((node, i) => new Cell(node, i + 1, this));
  }

  head(address) {
    return html('div', { class: 'lecture-tools' },
      button(_('▶ Run all'), () => this.runUntil(this.cells.at(-1)), { class: 'primary' }),
      button(_('Start Python again'), () => this.app.restart('lecture'), { class: 'quiet' }),
      html('a', { class: 'quiet', href: address.href }, _('As a page of the site')));
  }

  foot() {
    const { lectures } = this.app.course;
    const at = lectures.findIndex(item => item.name === this.name);
    const title = item => ({ title: html('strong', {}, item?.title ?? '') });
    const link = (item, words) => item && html('a', { href: `#${item.name}` }, words);
    const [before, next] = [lectures[at - 1], lectures[at + 1]];
    return html('nav', { class: 'lecture-foot', 'aria-label': _('Lectures before and behind') },
      link(before, parts('Before: {title}', title(before))), link(next, parts('Next: {title}', title(next))));
  }

  follow(event) {
    const link = event.target.closest('a[href]');
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const target = new URL(link.href);
    if (link.dataset.exercise) {
      event.preventDefault();
      this.app.go({ desk: link.dataset.exercise });
      goToDesk();
      return;
    }
    const leads = inside(target, this.app.course);
    if (!leads) {
      if (!link.hash || target.pathname !== location.pathname) link.target = '_blank';
      return;
    }
    event.preventDefault();
    const place = target.hash && document.getElementById(decodeURIComponent(target.hash.slice(1)));
    if (leads.lecture === this.name && place) place.scrollIntoView();
    else this.app.go({ lecture: leads.lecture, place: target.hash.slice(1) });
  }

  /** Run a cell, and before it those above that have not run since Python started; of those that fail, the others go on. */
  async runUntil(last) {
    if (this.isRunning || !last) return;
    const name = this.name;
    this.isRunning = true;
    this.node.classList.add('is-running');
    try {
      const before = this.cells.filter(cell => cell.number < last.number && !cell.hasRun);
      for (const cell of [...before, last]) {
        if (this.name !== name || !(await this.run(cell))) break;
      }
    } finally {
      this.isRunning = false;
      this.node.classList.remove('is-running');
    }
  }

  /** Run one cell; whether Python is still there for the next. */
  async run(cell) {
    const kernel = this.app.kernel('lecture');
    cell.begin();
    try {
      if (!this.fresh) await kernel.ask('lecture', { name: this.name });
      this.fresh = true;
      const request = { source: cell.text, name: _('cell {number}', cell) };
      const value = await kernel.ask('cell', request, { seconds: CELL_SECONDS, onEvent: event => cell.take(event) });
      if (value.error?.lacking) cell.finish('', value.error.lacking);
      else cell.finish(value.ok ? '' : value.error.traceback || `${value.error.type}: ${value.error.message}`);
      return true;
    } catch (error) {
      cell.finish(error.message);
      return false;
    }
  }

  /** Python has ended: its variables are gone. */
  forget() {
    this.fresh = false;
    for (const cell of this.cells) cell.forget();
  }

  /** Show where the lecture speaks of an exercise. */
  show(exercise) {
    const link = this.node.querySelector(`a[data-exercise="${exercise}"]`);
    link?.closest('.cell, p')?.scrollIntoView({ block: 'center' });
  }
}

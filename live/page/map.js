// The course at a glance: every exercise with its state, and the bar at the top of the page.
import { button, find, html } from './dom.js';
import { _ } from './language.js';
import { goToDesk } from './layout.js';
import { statusWords } from './work.js';

export class CourseMap {
  constructor(app) {
    this.app = app;
    this.dialog = find('map');
    find('map-button').addEventListener('click', () => this.open());
    app.work.onChange(() => this.showBar());
  }

  async states() {
    const { course, work } = this.app;
    return Promise.all(course.exercises.map(async exercise => ({ exercise, status: await work.status(exercise) })));
  }

  async showBar() {
    const states = await this.states();
    const weight = list => list.reduce((sum, { exercise }) => sum + exercise.points, 0);
    const solved = states.filter(({ status }) => status === 'solved');
    find('bar').style.width = `${(100 * weight(solved)) / weight(states)}%`;
    const counts = { solved: solved.length, all: states.length };
    find('solved').replaceChildren(_('{solved} of {all}', counts), html('small', {}, ` ${statusWords('solved')}`));
    find('map-button').setAttribute('aria-label', _('The course: {solved} of {all} exercises solved', counts));
  }

  async open() {
    const states = await this.states();
    const entry = ({ exercise, status }) => {
      const words = { exercise: `${exercise.id} ${exercise.title}`, status: statusWords(status) };
      const go = () => this.leave({ lecture: exercise.lecture, desk: exercise.id });
      return html('li', { class: status.replace(' ', '-') }, button('', go, { 'aria-label': _('{exercise}, {status}', words) }));
    };
    const section = course => {
      const own = states.filter(({ exercise }) => exercise.course === course.name);
      const list = html('ol', { class: 'tiles' }, own.map(entry));
      own.forEach(({ exercise, status }, i) => list.children[i].firstChild.append(
        html('b', {}, exercise.id), html('span', {}, exercise.title), html('small', {}, status === 'not started' ? _('{n} min', { n: exercise.minutes }) : statusWords(status))));
      return html('section', {}, html('h3', {}, `${course.number} ${course.title}`), list);
    };
    this.dialog.replaceChildren(
      html('div', { class: 'dialog-head' }, html('h2', {}, _('The course')), button('×', () => this.dialog.close(), { 'aria-label': _('Close'), class: 'close' })),
      ...this.app.course.courses.map(section));
    this.dialog.showModal();
  }

  leave(route) {
    this.dialog.close();
    this.app.go(route);
    goToDesk();
  }
}

// The page: a lecture at the left, an exercise at the right, Python behind both.
import { find, html } from './dom.js';
import { ExerciseView } from './exercise.js';
import { hasSimd, Kernels } from './kernels.js';
import { _, languageSwitch, spokenCourse, tableOf } from './language.js';
import { showSide, showTab, startLayout, startTabs } from './layout.js';
import { LectureView } from './lecture.js';
import { CourseMap } from './map.js';
import { Menu } from './menu.js';
import { notice } from './notices.js';
import { startOffline } from './offline.js';
import { PhotoView } from './photo.js';
import { formatRoute, parseRoute } from './route.js';
import { TextView } from './text.js';
import { themeSwitch } from './theme.js';
import { Work } from './work.js';

class App {
  constructor(course, work) {
    this.course = course;
    this.work = work;
    this.started = startOffline();
    this.kernels = new Kernels({
      settings: { ...course.runtime, language: course.language, base: document.baseURI }, work, status: find('python'),
      ended: name => name === 'lecture' && this.lecture.forget(), started: this.started,
    });
    this.lecture = new LectureView(find('lecture'), this);
    this.exercise = new ExerciseView(find('exercise'), this);
    this.photo = new PhotoView(find('photo'), this);
    this.text = new TextView(find('text'), this);
    this.map = new CourseMap(this);
    this.menu = new Menu(this);
    find('lectures').append(...course.lectures.map(item => html('option', { value: item.name }, item.title)));
    find('lectures').addEventListener('change', event => this.go({ lecture: event.target.value, desk: undefined }));
    startTabs(name => this.go({ desk: name === 'exercise' ? this.exercise.exercise?.id : name }));
    addEventListener('hashchange', () => this.follow());
  }

  kernel(name) {
    return this.kernels.get(name);
  }

  /** The reader will need Python soon: let it load while they read. */
  expect(name) {
    if (navigator.connection?.saveData) return;
    const first = name === 'lecture' ? 'files' : 'progress';
    this.kernel(name).ask(first, {}).catch(error => notice('python', error.message, { kind: 'problem' }));
  }

  restart(name) {
    this.kernels.restart(name);
  }

  progressed() {
    this.map.showBar();
  }

  /** Go to another lecture, or to another thing on the desk; the address says where the reader is. */
  go(change) {
    this.place = change.place;
    const route = { ...parseRoute(location.hash, this.course), ...change };
    const hash = formatRoute({ lecture: route.lecture, desk: route.desk ?? '' });
    if (change.desk) showSide('desk');
    else if (change.lecture) showSide('lecture');
    if (hash === location.hash) this.follow();
    else location.hash = hash;
  }

  async follow() {
    const { lecture, desk } = parseRoute(location.hash, this.course);
    find('lectures').value = lecture;
    const isExercise = desk !== 'photo' && desk !== 'text';
    showTab(isExercise ? 'exercise' : desk);
    const exercise = isExercise ? desk : (this.exercise.exercise?.id ?? parseRoute(`#${lecture}`, this.course).desk);
    const title = this.course.lectures.find(item => item.name === lecture).title;
    document.title = `${title} · kuiper live`;
    await Promise.all([this.exercise.open(exercise), this.lecture.open(lecture)]);
    if (this.place) document.getElementById(this.place)?.scrollIntoView();
    this.place = undefined;
  }

  async showInLecture(id) {
    const exercise = this.course.exercises.find(item => item.id === id);
    showSide('lecture');
    this.go({ lecture: exercise.lecture, desk: id });
    await this.lecture.open(exercise.lecture);
    showSide('lecture');
    this.lecture.show(id);
  }
}

async function start() {
  startLayout();
  if (location.protocol === 'file:') {
    return notice('start', 'Browsers run no Python from a file: serve the folder of the site, for example with “python -m http.server”, and open this page there.', { kind: 'problem' });
  }
  const course = await spokenCourse(find('language'));
  languageSwitch(find('language'));
  if (course.lacking) notice('language', _('The course in {language} could not be fetched: this is English.', { language: course.lacking }));
  themeSwitch(find('theme'));
  if (!hasSimd()) {
    notice('start', _('This browser is too old to run the course (it has no WebAssembly SIMD); you can read and write here, and take your work home.'), { kind: 'problem' });
  }
  const app = new App(course, await Work.open(course));
  if (!navigator.serviceWorker?.controller) app.started.then(() => fetch(tableOf(course.language))).catch(() => {}); // kept, too
  await app.follow();
  app.progressed();
  if (hasSimd()) app.expect('lecture');
}

start().catch(error => notice('start', _('The page could not start: {why}', { why: error.message }), { kind: 'problem' }));

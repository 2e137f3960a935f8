// The two Pythons of the page: one for the lecture, one for the reader's own code. Each starts when it is first needed.
import { Kernel, KernelError } from '../classroom.js';
import { _ } from './language.js';
import { notice } from './notices.js';

const AGAIN = {
  lecture: () => _('Python of the lecture starts again when it is next needed; your files are kept.'),
  exercise: () => _('Python of the exercise starts again when it is next needed; your files are kept.'),
};

/** A few bytes of WebAssembly with one instruction on 128 bits: a browser without them refuses this module. */
const SIMD = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11,
]);

export const hasSimd = () => typeof WebAssembly === 'object' && WebAssembly.validate(SIMD);

/** "Python 42 %" while something is loaded; "" when all is there. */
export function loadingText(parts) {
  const open = [...parts.entries()].filter(([, part]) => part.loaded < part.total || (!part.total && !part.isDone));
  if (!open.length) return '';
  const [what, { loaded, total }] = open.at(-1);
  if (total) return `${what} ${Math.floor((100 * loaded) / total)} %`;
  return loaded ? `${what}: ${(loaded / 1e6).toFixed(1)} MB` : `${what} …`;
}

export class Kernels {
  /** Nothing starts before `started`: what is loaded then is kept in the browser. */
  constructor({ settings, work, status, ended, started }) {
    this.started = started;
    this.settings = settings;
    this.work = work;
    this.status = status; // an element
    this.ended = ended;
    this.kernels = {};
    this.known = {}; // the files that each worker has, by its name
    this.loading = new Map();
    this.states = {};
  }

  get(name) {
    return (this.kernels[name] ??= this.make(name));
  }

  make(name) {
    const make = () => new Worker(new URL('worker.js', document.baseURI), { type: 'module' });
    const kernel = new Kernel(make, {
      settings: this.settings, files: () => this.filesFor(name), onEvent: event => this.hear(name, event),
    });
    const ask = kernel.ask.bind(kernel);
    kernel.ask = (type, fields, { seconds, onEvent = () => {} } = {}) => {
      const hear = event => {
        this.hear(name, event);
        onEvent(event);
      };
      const asked = this.started.then(() => {
        if (!hasSimd()) throw new KernelError('start', _('This browser is too old to run the course: it has no WebAssembly SIMD.'));
        for (const file of this.newFor(name)) ask('save', file);
        return ask(type, fields, { seconds, onEvent: hear });
      });
      return this.watched(name, asked);
    };
    return kernel;
  }

  /** All files, for a worker that starts. */
  filesFor(name) {
    const files = this.work.files();
    this.known[name] = new Map(Object.entries(files));
    return files;
  }

  /** What the reader, or the other worker, has written since this one has seen it. */
  newFor(name) {
    const known = this.known[name];
    if (!known) return []; // it starts with all
    const changed = Object.entries(this.work.files()).filter(([path, text]) => known.get(path) !== text);
    for (const [path, text] of changed) known.set(path, text);
    return changed.map(([path, text]) => (typeof text === 'string' ? { path, text } : { path, bytes: text }));
  }

  /** Say at the top of the page what Python does. */
  async watched(name, answer) {
    this.states[name] = (this.states[name] ?? 0) + 1;
    this.show();
    try {
      return await answer;
    } finally {
      this.states[name] -= 1;
      this.loading.clear();
      this.isReady = true;
      this.show();
    }
  }

  hear(name, event) {
    if (event.event === 'files') {
      for (const [path, text] of Object.entries(event.changed)) this.known[name]?.set(path, text);
      this.work.take(event);
    }
    if (event.event === 'ended') {
      delete this.known[name];
      this.ended(name, event.reason);
      this.show();
    }
    if (event.event === 'loading') {
      this.loading.set(event.what, event);
      this.show();
    } else if (event.event === 'output' || event.event === 'display') this.loading.clear();
  }

  show() {
    const running = Object.values(this.states).some(count => count > 0);
    const loading = loadingText(this.loading);
    if (loading) this.status.textContent = _('Loading {what}', { what: loading });
    else if (running) this.status.textContent = this.isReady ? _('Python works …') : _('Python starts …');
    else this.status.textContent = this.isReady ? _('Python is ready') : '';
    this.status.classList.toggle('busy', running);
  }

  restart(name) {
    this.kernels[name]?.end(_('Python starts again.'));
    notice('python', AGAIN[name]());
  }
}

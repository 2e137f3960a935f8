// The reader's work: the files that differ from the course as it is handed out. What is written here is in the browser's
// storage, in the other tabs that are open, and in the next zip.
import { _ } from './language.js';
import { notice } from './notices.js';
import { Memory, Store } from './store.js';

const PROGRESS = '.kuiper/progress.json';

/** What `kuiper course` calls the text of a skeleton: its first line says it, in any language. */
export const textOf = source => FIRST_LINE.exec(source)?.[1];

const FIRST_LINE = /^# .* ([0-9a-f]{12})\W?\n/;

/** The state of an exercise as a reader is told it. */
export const statusWords = status => STATUS[status]();

const STATUS = {
  solved: () => _('solved'), failing: () => _('failing'), started: () => _('started'), 'not started': () => _('not started'),
};

/** {id: {passed, total, digest}} of kuiper's own record; {} for a record that is none. */
export function resultsOf(record) {
  try {
    const table = JSON.parse(record ?? '{}');
    return Object.fromEntries(Object.entries(table).filter(([, entry]) => typeof entry?.digest === 'string'));
  } catch {
    return {};
  }
}

/** The hash of a file's text that kuiper's record has; null where the browser has no hashes (an address without https). */
export async function digestOf(text) {
  if (!globalThis.crypto?.subtle) return null;
  const bytes = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
  return Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('').slice(0, 16);
}

/** Whether a file is an exercise as the course hands it out, in some language or version: its first line has its hash. */
export async function isUntouched(text) {
  const [, begun] = typeof text === 'string' ? (FIRST_LINE.exec(text) ?? []) : [];
  return Boolean(begun && (await digestOf(text.slice(text.indexOf('\n') + 1)))?.startsWith(begun));
}

export class Work {
  /** Read what is kept; where the browser keeps nothing, say so. */
  static async open(course) {
    let store;
    try {
      store = await Store.open();
    } catch {
      store = new Memory();
      notice('storage', _('This browser keeps nothing for this page: take your work home (☰) before you close it.'), { kind: 'problem' });
    }
    const work = new Work(course, store);
    await work.readStore();
    return work;
  }

  constructor(course, store) {
    this.course = course;
    this.store = store;
    this.kept = new Map(); // path -> {text, revision}
    this.listeners = [];
    this.taken = Promise.resolve();
    this.isKept = true;
    this.channel = typeof BroadcastChannel === 'undefined' ? null : new BroadcastChannel('kuiper-live');
    this.channel?.addEventListener('message', event => this.#fromOtherTab(event.data));
  }

  /** What was never edited gives way to the exercise as the course has it today, in the language of today. */
  async readStore() {
    for (const file of await this.store.files()) {
      if (await isUntouched(file.text)) await this.store.remove(file.path);
      else this.kept.set(file.path, file);
    }
  }

  /** Call `listener(path, isFromOtherTab)` after a file has got another text. */
  onChange(listener) {
    this.listeners.push(listener);
  }

  /** The text of an exercise: the reader's, or the skeleton. */
  text(exercise) {
    return this.kept.get(exercise.file)?.text ?? exercise.skeleton;
  }

  /** All files for a new worker. */
  files() {
    return Object.fromEntries(Array.from(this.kept.values(), ({ path, text }) => [path, text]));
  }

  /** Write a file; a text that another tab has written meanwhile becomes an older version. */
  async write(path, text) {
    const before = this.kept.get(path);
    if (before && before.text === text) return;
    this.kept.set(path, { path, text, revision: before?.revision });
    await this.#guarded(async () => {
      const { revision, isOther } = await this.store.write(path, text, before?.revision);
      this.kept.set(path, { path, text, revision });
      this.channel?.postMessage({ path });
      if (isOther) notice('tabs', _('Another tab had changed this file too: its text is under “Older versions”.'));
    });
    this.#tell(path, false);
  }

  /** What a worker has changed; the answer comes when that, and what came before it, is kept. */
  take(change) {
    this.taken = this.taken.then(() => this.#take(change));
    return this.taken;
  }

  async #take({ changed = {}, removed = [] }) {
    for (const [path, text] of Object.entries(changed)) await this.write(path, text);
    for (const path of removed) {
      this.kept.delete(path);
      await this.#guarded(() => this.store.remove(path));
      this.channel?.postMessage({ path });
      this.#tell(path, false);
    }
  }

  /** Keep the text as it is now as an older version. */
  keep(path) {
    return this.#guarded(() => this.store.keep(path));
  }

  older(path) {
    return this.store.older(path);
  }

  /** "solved", "failing", "started" or "not started", as kuiper's record says. */
  async status(exercise) {
    const text = this.text(exercise);
    if (text === exercise.skeleton) return 'not started';
    const result = resultsOf(this.kept.get(PROGRESS)?.text)[exercise.id];
    const digest = await digestOf(text);
    if (!result || (digest !== null && digest !== result.digest)) return 'started';
    return result.passed === result.total ? 'solved' : 'failing';
  }

  async #guarded(action) {
    try {
      await action();
      if (!this.isKept) notice('storage', _('Your work is kept again.'));
      this.isKept = true;
    } catch (error) {
      this.isKept = false;
      const sentence = error?.name === 'QuotaExceededError'
        ? _('The browser’s storage is full: your text is still here, but take it home (☰) before you close this page.')
        : _('The browser cannot store ({why}): your text is still here, but take it home (☰) before you close this page.', { why: error.message });
      notice('storage', sentence, { kind: 'problem' });
    }
  }

  async #fromOtherTab({ path }) {
    const file = await this.store.read(path);
    if (file) this.kept.set(path, file);
    else this.kept.delete(path);
    this.#tell(path, true);
  }

  #tell(path, isFromOtherTab) {
    for (const listener of this.listeners) listener(path, isFromOtherTab);
  }
}

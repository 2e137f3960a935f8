// What the reader writes is kept in the browser (IndexedDB). No version is lost: what is overwritten stays as an older one.

const NAME = 'kuiper-live';
const OLDER_VERSIONS = 30; // of each file

function promised(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

function finished(transaction) {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error);
  });
}

/** Files and small values, in one database; `factory` is the browser's. */
export class Store {
  static async open(factory = globalThis.indexedDB, name = NAME) {
    const request = factory.open(name, 1);
    request.onupgradeneeded = () => {
      request.result.createObjectStore('files', { keyPath: 'path' });
      request.result.createObjectStore('older', { autoIncrement: true }).createIndex('path', 'path');
      request.result.createObjectStore('values');
    };
    return new Store(await promised(request));
  }

  constructor(database) {
    this.database = database;
  }

  read(path) {
    return promised(this.database.transaction('files').objectStore('files').get(path));
  }

  files() {
    return promised(this.database.transaction('files').objectStore('files').getAll());
  }

  /** Write a text. `known` is the revision that the writer has seen: where another one lies, that becomes an older version.
   *
   * The answer is the new revision, and whether another text was there.
   */
  async write(path, text, known) {
    const transaction = this.database.transaction(['files', 'older'], 'readwrite');
    const done = finished(transaction);
    const files = transaction.objectStore('files');
    const old = await promised(files.get(path));
    const isOther = old !== undefined && old.revision !== known && old.text !== text;
    if (isOther) await this.#keepOlder(transaction, old);
    const revision = (old?.revision ?? 0) + 1;
    files.put({ path, text, revision, time: Date.now() });
    await done;
    return { revision, isOther };
  }

  /** Keep the text of a file as an older version, unless the newest older version is the same. */
  async keep(path) {
    const transaction = this.database.transaction(['files', 'older'], 'readwrite');
    const done = finished(transaction);
    const file = await promised(transaction.objectStore('files').get(path));
    if (file) await this.#keepOlder(transaction, file);
    await done;
  }

  /** Remove a file; its text stays as an older version. */
  async remove(path) {
    await this.keep(path);
    const transaction = this.database.transaction('files', 'readwrite');
    const done = finished(transaction);
    transaction.objectStore('files').delete(path);
    await done;
  }

  async #keepOlder(transaction, file) {
    const older = transaction.objectStore('older');
    const keys = await promised(older.index('path').getAllKeys(file.path));
    const last = keys.length ? await promised(older.get(keys.at(-1))) : undefined;
    if (last?.text === file.text) return;
    older.add({ path: file.path, text: file.text, time: file.time });
    for (const key of keys.slice(0, Math.max(0, keys.length + 1 - OLDER_VERSIONS))) older.delete(key);
  }

  /** The older versions of a file, the newest first: [{text, time}]. */
  async older(path) {
    const found = await promised(this.database.transaction('older').objectStore('older').index('path').getAll(path));
    return found.reverse();
  }

  value(key) {
    return promised(this.database.transaction('values').objectStore('values').get(key));
  }

  async setValue(key, value) {
    const transaction = this.database.transaction('values', 'readwrite');
    const done = finished(transaction);
    transaction.objectStore('values').put(value, key);
    await done;
  }
}

/** The same for a browser that keeps nothing: until the page is closed. */
export class Memory {
  #files = new Map();
  #older = new Map();
  #values = new Map();

  async read(path) {
    return this.#files.get(path);
  }

  async files() {
    return [...this.#files.values()];
  }

  async write(path, text) {
    const revision = (this.#files.get(path)?.revision ?? 0) + 1;
    this.#files.set(path, { path, text, revision, time: Date.now() });
    return { revision, isOther: false };
  }

  async keep(path) {
    const { text, time } = this.#files.get(path) ?? {};
    const older = this.#older.get(path) ?? [];
    if (text !== undefined && older[0]?.text !== text) this.#older.set(path, [{ text, time }, ...older]);
  }

  async remove(path) {
    await this.keep(path);
    this.#files.delete(path);
  }

  async older(path) {
    return this.#older.get(path) ?? [];
  }

  async value(key) {
    return this.#values.get(key);
  }

  async setValue(key, value) {
    this.#values.set(key, value);
  }
}

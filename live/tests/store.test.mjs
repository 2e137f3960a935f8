import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IDBFactory } from 'fake-indexeddb';
import { Memory, Store } from '../page/store.js';

const PATH = 'course1_tensor/exercises/a.py';

test('write_by_two_tabs_keeps_what_the_second_overwrites', async () => {
  const factory = new IDBFactory();
  const [first, second] = [await Store.open(factory), await Store.open(factory)];
  const { revision } = await first.write(PATH, 'begun', undefined);
  await second.write(PATH, 'of the second tab', revision);
  const answer = await first.write(PATH, 'of the first tab', revision);
  assert.equal(answer.isOther, true);
  assert.equal((await second.read(PATH)).text, 'of the first tab');
  assert.deepEqual((await first.older(PATH)).map(({ text }) => text), ['of the second tab']);
});

test('write_by_one_tab_is_no_conflict', async () => {
  const store = await Store.open(new IDBFactory());
  const { revision } = await store.write(PATH, 'a', undefined);
  assert.equal((await store.write(PATH, 'b', revision)).isOther, false);
  assert.deepEqual(await store.older(PATH), []);
});

test('keep_keeps_thirty_versions_and_none_twice', async () => {
  const store = await Store.open(new IDBFactory());
  let revision;
  for (let i = 0; i < 40; i++) {
    ({ revision } = await store.write(PATH, `version ${i}`, revision));
    await store.keep(PATH);
    await store.keep(PATH);
  }
  const older = await store.older(PATH);
  assert.equal(older.length, 30);
  assert.deepEqual([older[0].text, older.at(-1).text], ['version 39', 'version 10']);
});

test('remove_leaves_an_older_version', async () => {
  const store = await Store.open(new IDBFactory());
  await store.write(PATH, 'mine', undefined);
  await store.remove(PATH);
  assert.equal(await store.read(PATH), undefined);
  assert.equal((await store.older(PATH))[0].text, 'mine');
});

test('write_into_a_full_storage_says_so_and_leaves_what_is_there', async () => {
  const store = await Store.open(new IDBFactory());
  const { revision } = await store.write(PATH, 'kept', undefined);
  const { transaction } = store.database;
  store.database.transaction = (...words) => {
    const made = transaction.apply(store.database, words);
    const take = made.objectStore.bind(made);
    made.objectStore = name => {
      const files = take(name);
      files.put = () => {
        made.abort();
        Object.defineProperty(made, 'error', { value: new DOMException('full', 'QuotaExceededError') });
      };
      return files;
    };
    return made;
  };
  await assert.rejects(store.write(PATH, 'too much', revision), { name: 'QuotaExceededError' });
  store.database.transaction = transaction;
  assert.equal((await store.read(PATH)).text, 'kept');
});

test('memory_does_what_store_does_until_it_is_closed', async () => {
  const memory = new Memory();
  await memory.write(PATH, 'a');
  await memory.keep(PATH);
  await memory.write(PATH, 'b');
  assert.equal((await memory.read(PATH)).text, 'b');
  assert.deepEqual((await memory.older(PATH)).map(({ text }) => text), ['a']);
});

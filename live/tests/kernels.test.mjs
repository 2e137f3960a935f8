import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasSimd, Kernels, loadingText } from '../page/kernels.js';
import { nextTheme } from '../page/theme.js';

test('has_simd_asks_webassembly_itself', () => {
  assert.equal(hasSimd(), true);
  const { validate } = WebAssembly;
  WebAssembly.validate = () => false;
  try {
    assert.equal(hasSimd(), false);
  } finally {
    WebAssembly.validate = validate;
  }
});

test('loading_text_says_what_is_on_its_way', () => {
  const parts = new Map([['python', { loaded: 10, total: 10 }], ['numpy', { loaded: 1, total: 3 }]]);
  assert.equal(loadingText(parts), 'numpy 33 %');
  parts.set('numpy', { loaded: 0, total: 0 });
  assert.equal(loadingText(parts), 'numpy …');
  parts.set('numpy', { loaded: 3, total: 3 });
  assert.equal(loadingText(parts), '');
});

test('next_theme_comes_round', () => {
  assert.deepEqual(['auto', 'light', 'dark'].map(nextTheme), ['light', 'dark', 'auto']);
});

test('new_for_gives_each_worker_what_the_other_has_written', () => {
  const files = { 'a.py': 'x = 1' };
  const work = { files: () => ({ ...files }), take: ({ changed }) => Object.assign(files, changed) };
  const kernels = new Kernels({ settings: {}, work, status: null, ended: () => {}, started: Promise.resolve() });
  assert.deepEqual(kernels.newFor('lecture'), [], 'it starts with all');
  for (const name of ['lecture', 'exercise']) kernels.filesFor(name);
  kernels.hear('exercise', { event: 'files', changed: { '.kuiper/progress.json': '{}' } });
  files['a.py'] = 'x = 2';
  assert.deepEqual(kernels.newFor('exercise'), [{ path: 'a.py', text: 'x = 2' }]);
  assert.deepEqual(kernels.newFor('lecture'), [{ path: 'a.py', text: 'x = 2' }, { path: '.kuiper/progress.json', text: '{}' }]);
  assert.deepEqual(kernels.newFor('lecture'), []);
});

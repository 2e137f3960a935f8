import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasSimd, loadingText } from '../page/kernels.js';
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
  parts.set('numpy', { loaded: 3, total: 3 });
  assert.equal(loadingText(parts), '');
});

test('next_theme_comes_round', () => {
  assert.deepEqual(['auto', 'light', 'dark'].map(nextTheme), ['light', 'dark', 'auto']);
});

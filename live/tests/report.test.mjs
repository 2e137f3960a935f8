import assert from 'node:assert/strict';
import { test } from 'node:test';
import { headline, lineOf, pageText } from '../page/report.js';

const FILE = 'course1_tensor/exercises/a.py';
const REPORT = `FFFF..Fupb....
  [100%]
================================== exercises ===================================

1.1 strides - 2 of 8 tests pass: ${FILE}:12
  test_matrix
    expected (3, 1)
    got      (6, 3)
    likely: this is what you get when the step is multiplied first

2 passed, 5 wrong, 1 unfinished in 1.88s
`;

test('page_text_leaves_out_what_only_a_terminal_needs', () => {
  const text = pageText(REPORT);
  assert.ok(text.startsWith('1.1 strides'));
  assert.ok(text.endsWith('multiplied first'));
});

test('page_text_is_the_same_in_another_language', () => {
  const chinese = REPORT.replace(' exercises ', ' 练习 ').replace('1.1 strides - 2 of 8 tests pass', '1.1 步长：8 个测试通过了 2 个');
  assert.ok(pageText(chinese).startsWith('1.1 步长'));
});

test('line_of_is_the_first_that_is_named', () => {
  assert.equal(lineOf(pageText(REPORT), FILE), 12);
  assert.equal(lineOf('nothing', FILE), null);
  assert.equal(lineOf(`see ${FILE}: line`, FILE), null);
});

test('headline_counts_what_passes', () => {
  assert.equal(headline({ status: 'failing', tests: { passed: 2, failed: 3, blocked: 0 } }), '2 of 5 tests pass');
  assert.match(headline({ status: 'solved', tests: { passed: 5, failed: 0, blocked: 0 } }), /^Solved: all 5/);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { headline } from '../page/report.js';
import { chosen, tableOf, use } from '../page/language.js';
import { statusWords } from '../page/work.js';

const OFFERED = ['en', 'zh'];

test('chosen_is_what_the_address_asks_for_then_what_was_chosen_then_the_browser', () => {
  assert.equal(chosen(['zh', 'en', 'en-GB'], OFFERED), 'zh');
  assert.equal(chosen([null, 'zh', 'en-GB'], OFFERED), 'zh');
  assert.equal(chosen([null, null, 'de', 'zh-TW', 'en'], OFFERED), 'zh');
  assert.equal(chosen([null, 'en', 'zh-CN'], OFFERED), 'en');
});

test('chosen_passes_over_what_is_not_offered', () => {
  assert.equal(chosen(['tlh', 'zh_CN'], OFFERED), 'zh');
  assert.equal(chosen(['', null, 'de'], OFFERED), 'en');
});

test('table_of_english_has_no_language_in_its_name', () => {
  assert.deepEqual(OFFERED.map(tableOf), ['course.json', 'course.zh.json']);
});

test('words_are_looked_up_when_they_are_said', () => {
  const solved = { status: 'solved', tests: { passed: 5, failed: 0, blocked: 0 } };
  try {
    use({ solved: '已完成', 'Solved: all {total} tests pass': '完成：{total} 个测试全部通过' });
    assert.equal(statusWords('solved'), '已完成');
    assert.equal(statusWords('failing'), 'failing');
    assert.equal(headline(solved), '完成：5 个测试全部通过');
  } finally {
    use({});
  }
  assert.equal(headline(solved), 'Solved: all 5 tests pass');
});

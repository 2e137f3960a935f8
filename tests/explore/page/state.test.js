'use strict';
const assert = require('node:assert/strict');
const { test } = require('node:test');
require('./load.js');
const { format, parse, whole } = kuiper.state;

test('parse and format are each other’s reverse, whatever a name has in it', () => {
  for (const operator of ['conv1', 'a+b', '<script>alert(1)</script>', '卷积 & "层"=#1', '%41', "it's"]) {
    const state = { operator, tab: 'maps', pixel: '3,4' };
    assert.deepEqual(parse(`#${format(state)}`), state);
  }
});

test('format has a fixed order and leaves out what is empty', () => {
  assert.equal(format({ tab: 'maps', operator: 'conv1', channel: null, stage: 0, value: '' }), 'operator=conv1&tab=maps&stage=0');
});

test('parse leaves out what it does not know, and what is broken', () => {
  assert.deepEqual(parse('#__proto__=1&operator=%E0%A4%A&tab=time&tab2&=x'), { tab: 'time' });
  assert.deepEqual(parse(''), {});
});

test('whole is a number within its limits or the fallback', () => {
  assert.deepEqual([whole('3', 5), whole('9', 5), whole('-1', 5), whole('1.5', 5), whole(undefined, 5, 2), whole('', 5, 2)], [3, 0, 0, 0, 2, 2]);
});

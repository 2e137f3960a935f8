'use strict';
const assert = require('node:assert/strict');
const { test } = require('node:test');
const { sample } = require('./sample.js');
require('./load.js');
const { aliveAt, compared, duration, grouped, operatorOf, roofline, selfTimes, threads, wallTimes } = kuiper.times;

const network = sample();
const [one, two] = network.runs;

test('selfTimes adds up all threads, longest first', () => {
  assert.deepEqual([...selfTimes(two, network)], [['conv2', 60], ['conv1+relu', 40], ['pool', 8], ['fc', 3]]);
});

test('wallTimes counts threads that run at the same time once', () => {
  assert.equal(wallTimes(two, network).get('conv2'), 30);
  assert.equal(wallTimes(one, network).get('conv2'), 60);
});

test('operatorOf asks the plan where a span has only its step', () => {
  assert.equal(operatorOf({ step: 1 }, network), 'pool');
  assert.equal(operatorOf({ step: 99 }, network), '');
});

test('grouped sums by family', () => {
  const family = name => (name.startsWith('conv') ? 'convolution' : 'other');
  assert.deepEqual(grouped(selfTimes(one, network), family), [['convolution', 100], ['other', 11]]);
});

test('compared has the largest difference first, and operators that only one run has', () => {
  const rows = compared(new Map([['a', 5], ['b', 9]]), new Map([['a', 4], ['c', 7]]));
  assert.deepEqual(rows.map(row => row.name), ['b', 'c', 'a']);
  assert.deepEqual(rows[1], { name: 'c', first: undefined, second: 7 });
});

test('threads and duration', () => {
  assert.deepEqual(threads(two), [0, 1]);
  assert.equal(duration(one), 114);
});

test('roofline has flops per byte and GFLOP per second of each operator', () => {
  const point = roofline(network, wallTimes(one, network)).find(each => each.operator === 'conv1+relu');
  assert.equal(point.intensity, 250000 / 26000);
  assert.equal(point.speed, 250000 / 40 / 1e3);
  assert.equal(roofline({ plan: null }, new Map([['conv2', 1]])).length, 0);
});

test('aliveAt lists what lies in memory at a step', () => {
  const { alive, bytes } = aliveAt(network.memory, 1);
  assert.deepEqual(alive.map(r => r.value), ['b', 'c']);
  assert.equal(bytes, 23040);
});

'use strict';
const assert = require('node:assert/strict');
const { test } = require('node:test');
require('./load.js');
const { decode, plane, planes, range } = kuiper.arrays;

const base64 = bytes => Buffer.from(bytes).toString('base64');

test('decode reads float32 in little-endian order', () => {
  const array = { kind: 'f32', shape: [3], data: base64([0, 0, 128, 63, 0, 0, 32, 192, 0, 0, 192, 127]) };
  assert.deepEqual([...decode(array)], [1, -2.5, NaN]);
});

test('decode puts bytes between low and high', () => {
  const array = { kind: 'u8', shape: [3], low: -1, high: 1, data: base64([0, 51, 255]) };
  const [first, second, last] = decode(array);
  assert.deepEqual([first, last], [-1, 1]);
  assert.ok(Math.abs(second + 0.6) < 1e-6);
  assert.equal(decode(array), decode(array), 'the second time it is there already');
});

test('planes counts all axes before the last two', () => {
  assert.deepEqual(planes({ shape: [1, 3, 4, 5] }), { count: 3, height: 4, width: 5 });
  assert.deepEqual(planes({ shape: [7] }), { count: 1, height: 1, width: 7 });
  assert.deepEqual(planes({ shape: [] }), { count: 1, height: 1, width: 1 });
});

test('plane gives one picture', () => {
  const array = { kind: 'u8', shape: [2, 1, 2], low: 0, high: 255, data: base64([1, 2, 3, 4]) };
  assert.deepEqual([...plane(array, 1).values], [3, 4]);
});

test('range leaves out what is not finite', () => {
  assert.deepEqual(range([NaN, 3, -Infinity, -2]), [-2, 3]);
  assert.deepEqual(range([NaN]), [0, 0]);
});

'use strict';
const assert = require('node:assert/strict');
const { test } = require('node:test');
require('./load.js');
const { bytes, count, flops, number, percent, shape, short, ticks, time } = kuiper.format;

test('number keeps four digits, and uses an exponent for what is very small or large', () => {
  assert.deepEqual([0, 1, 0.123456, -12345.6, 1e-5, 123456789].map(number), ['0', '1', '0.1235', '−12350', '1.00e-5'.replace('-', '−'), '1.23e8']);
  assert.deepEqual([NaN, Infinity, -Infinity, null].map(number), ['NaN', '∞', '−∞', 'NaN']);
});

test('short fits into a small field', () => {
  for (const value of [0, 0.123, -0.5, 12.34, 123.4, -999, 12345, 1e-4, -1e-9, 1e12]) assert.ok(short(value).length <= 6, short(value));
  assert.equal(short(-0.5), '−0.5');
});

test('count, flops and bytes have the unit that fits', () => {
  assert.deepEqual([7, 1234, 11689512, 1.8e9].map(count), ['7', '1.23 k', '11.7 M', '1.8 G']);
  assert.equal(flops(3.6e9), '3.6 GFLOP');
  assert.deepEqual([12, 12345, 46.8e6].map(bytes), ['12 B', '12.3 kB', '46.8 MB']);
});

test('time goes from microseconds to seconds', () => {
  assert.deepEqual([0.4, 12.34, 999, 1234, 2.5e6, NaN].map(time), ['0.4 µs', '12.3 µs', '999 µs', '1.23 ms', '2.5 s', '–']);
});

test('percent says when there is nearly nothing', () => {
  assert.deepEqual([0, 0.0001, 0.0321, 0.5, 1].map(percent), ['0 %', '< 0.1 %', '3.2 %', '50 %', '100 %']);
});

test('shape takes a list or text', () => {
  assert.equal(shape([1, 64, 7]), '1 × 64 × 7');
  assert.equal(shape('(1, 64, 7)'), '1 × 64 × 7');
  assert.equal(shape('(3,)'), '3');
  assert.equal(shape([]), 'one number');
  assert.equal(shape(null), '');
});

test('ticks are round and within the ends', () => {
  assert.deepEqual(ticks(0, 100, 5), [0, 20, 40, 60, 80, 100]);
  assert.deepEqual(ticks(0.3, 0.7, 2).map(x => Number(x.toFixed(6))), [0.4, 0.6]);
  assert.deepEqual(ticks(2, 2), [2]);
});

'use strict';
const assert = require('node:assert/strict');
const { test } = require('node:test');
const { sample, SIZE } = require('./sample.js');
require('./load.js');
const { afterwards, inputChannels, receptiveField, terms, windowAt } = kuiper.windows;
const { decode } = kuiper.arrays;

const network = sample();
const close = (a, b) => assert.ok(Math.abs(a - b) < 1e-4 * Math.max(1, Math.abs(b)), `${a} is not ${b}`);
const f32 = (shape, values) => ({ kind: 'f32', shape, data: Buffer.from(Float32Array.from(values).buffer).toString('base64') });

test('receptiveField looks rows and columns up, and says when it is everything', () => {
  const field = { rows: [[0, 0, 1], [1, 2, 3]], columns: [[0, 2], [4, 6]] };
  assert.deepEqual(receptiveField(field, 2, 1, [9, 9]), { top: 1, left: 2, bottom: 4, right: 7, isWhole: false });
  assert.deepEqual(receptiveField(field, 8, 8, [9, 9]), { top: 1, left: 2, bottom: 4, right: 7, isWhole: false }, 'the last');
  assert.equal(receptiveField({ rows: [[0], [19]], columns: [[0], [19]] }, 0, 0, [20, 20]).isWhole, true);
});

test('windowAt takes stride, padding and dilation into account', () => {
  const spec = { kernel: [3, 2], stride: [2, 1], padding: [1, 0], dilation: [2, 3] };
  assert.deepEqual(windowAt(spec, 1, 4), { rows: [1, 3, 5], columns: [4, 7] });
});

test('inputChannels belong to the group of the output', () => {
  assert.deepEqual(inputChannels({ kind: 'convolution', groups: 2 }, 3, 6, 4), [3, 4, 5]);
  assert.deepEqual(inputChannels({ kind: 'max' }, 3, 6, 6), [3]);
});

test('terms add up to what the network has, in the middle and at the corners', () => {
  const spec = network.windows['conv1+relu'];
  const out = decode(network.values.b.exact);
  for (const [channel, y, x] of [[0, 0, 0], [3, 7, 9], [7, SIZE - 1, SIZE - 1], [5, 0, SIZE - 1]]) {
    const found = terms(spec, network.values.x.exact, channel, 8, y, x);
    assert.equal(found.parts.length, 3);
    close(afterwards(found.total, spec.activation), out[(channel * SIZE + y) * SIZE + x]);
    close(found.parts.reduce((sum, part) => sum + part.sum, found.bias), found.total);
  }
});

test('terms marks what lies in the padding', () => {
  const { parts } = terms(network.windows['conv1+relu'], network.values.x.exact, 0, 8, 0, 0);
  assert.deepEqual(parts[0].window.map(value => value === null), [true, true, true, true, false, false, true, false, false]);
});

test('terms of a pooling window is its largest number', () => {
  const out = decode(network.values.c.exact);
  close(terms(network.windows.pool, network.values.b.exact, 2, 8, 3, 4).total, out[(2 * 12 + 3) * 12 + 4]);
});

test('terms of an average counts the padding, or not', () => {
  const input = f32([1, 2, 2], [1, 2, 3, 4]);
  const spec = { kind: 'average', kernel: [2, 2], stride: [1, 1], padding: [1, 1], dilation: [1, 1] };
  assert.equal(terms(spec, input, 0, 1, 0, 1).total, 0.75);
  assert.equal(terms({ ...spec, countsPadding: false }, input, 0, 1, 0, 1).total, 1.5);
});

test('terms is null for a channel whose weights were left out', () => {
  const spec = { ...network.windows['conv1+relu'], channels: [0, 1] };
  assert.equal(terms(spec, network.values.x.exact, 5, 8, 1, 1), null);
});

test('terms sees only the channels of its group', () => {
  const spec = { kind: 'convolution', kernel: [1, 1], stride: [1, 1], padding: [0, 0], dilation: [1, 1], groups: 2, weights: f32([2, 1, 1, 1], [10, 100]) };
  const found = terms(spec, f32([2, 1, 1], [3, 4]), 1, 2, 0, 0);
  assert.deepEqual([found.total, found.parts[0].channel], [400, 1]);
});

test('terms of a linear layer takes each input as a channel, at the row of a matrix', () => {
  const spec = { kind: 'linear', weights: f32([2, 3], [1, 1, 1, 1, -5, 2]), bias: f32([2], [0, 0.5]) };
  const found = terms(spec, f32([2, 3], [9, 9, 9, 1, 2, 3]), 1, 2, 1, 0);
  assert.deepEqual(found.parts.map(part => part.sum), [1, -10, 6]);
  assert.equal(found.total, -2.5);
});

test('afterwards applies an activation as the engine does, and says nothing of one that it does not know', () => {
  const of = (name, value, alpha = 0, beta = 0) => afterwards(value, { name, alpha, beta });
  assert.deepEqual([of('relu', -2), of('leaky_relu', -2, 0.1), of('clip', 9, 0, 6), of('clip', -1, 0, 6)], [0, -0.2, 6, 0]);
  close(of('silu', 1), 0.7310586);
  close(of('hardswish', 1), 2 / 3);
  close(of('hardsigmoid', -4), 0);
  close(of('mish', 1), 0.8650984);
  close(of('elu', -1, 2), -1.2642411);
  close(of('gelu', 1), 0.8413447);
  close(of('gelu', -0.5), -0.1542688);
  close(of('gelu_tanh', 1), 0.8411920);
  assert.equal(of('swish', 1), null);
  assert.equal(afterwards(1, undefined), 1);
});

'use strict';
// A small made-up network with real numbers: what a page shows, without kuiper. `node sample.js > page.html` is that page.
const fs = require('node:fs');
const path = require('node:path');

const PAGE = path.join(__dirname, '../../../kuiper/explore/page');
const SIZE = 24;

const f32 = (shape, values) => ({ kind: 'f32', shape, data: Buffer.from(Float32Array.from(values).buffer).toString('base64') });

function u8(shape, values) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const bytes = Uint8Array.from(values, value => Math.round((255 * (value - low)) / (high - low || 1)));
  return { kind: 'u8', shape, low, high, data: Buffer.from(bytes).toString('base64') };
}

/** Numbers between -1 and 1 that are the same on every run. */
function draws(count, seed) {
  let state = seed;
  return Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  });
}

function convolve(input, channels, size, weights, bias, outputs) {
  const out = [];
  for (let o = 0; o < outputs; o++) {
    for (let y = 0; y < size; y++) {
      for (let x = 0; x < size; x++) {
        let sum = bias[o];
        for (let c = 0; c < channels; c++) {
          for (let k = 0; k < 9; k++) {
            const [row, column] = [y - 1 + Math.floor(k / 3), x - 1 + (k % 3)];
            if (row < 0 || column < 0 || row >= size || column >= size) continue;
            sum += input[(c * size + row) * size + column] * weights[(o * channels + c) * 9 + k];
          }
        }
        out.push(sum);
      }
    }
  }
  return out;
}

function pool(input, channels, size) {
  const half = size / 2;
  return Array.from({ length: channels * half * half }, (_, i) => {
    const [c, y, x] = [Math.floor(i / (half * half)), Math.floor(i / half) % half, i % half];
    return Math.max(...[0, 1, size, size + 1].map(shift => input[(c * size + 2 * y) * size + 2 * x + shift]));
  });
}

function value(shape, values, type = 'float32') {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const mean = values.reduce((a, b) => a + b, 0) / values.length;
  const std = Math.sqrt(values.reduce((a, b) => a + (b - mean) ** 2, 0) / values.length);
  const counts = Array(32).fill(0);
  for (const v of values) counts[Math.min(31, Math.floor((32 * (v - low)) / (high - low || 1)))]++;
  const inner = shape.length > 2 ? shape.slice(1) : shape;
  return {
    shape, type, low, high, mean, std, nan: 0, infinite: 0, zeros: values.filter(v => v === 0).length / values.length, saturated: 0,
    histogram: { low, high, counts }, maps: { array: u8(inner.length > 1 ? inner : [1, 1, ...inner], values), step: [1, 1] }, exact: f32(shape, values),
  };
}

/** The receptive field along both axes, cut at the border of the photo. */
function reach(count, size, step, start) {
  const places = Array.from({ length: count }, (_, i) => start + i * step);
  const axis = [places.map(at => Math.max(0, at)), places.map(at => Math.min(SIZE, at + size) - 1)];
  return { rows: axis, columns: axis, whole: false };
}

/** The data of the page. */
function sample() {
  const photo = Array.from({ length: 3 * SIZE * SIZE }, (_, i) => {
    const [c, y, x] = [Math.floor(i / (SIZE * SIZE)), Math.floor(i / SIZE) % SIZE, i % SIZE];
    return Math.hypot(x - 9 - 2 * c, y - 11) < 7 ? 0.9 - 0.2 * c : (x + y) / (4 * SIZE) - 0.3;
  });
  const [w1, b1, w2, b2] = [draws(8 * 27, 3), draws(8, 5), draws(12 * 72, 7), draws(12, 9)];
  const first = convolve(photo, 3, SIZE, w1, b1, 8).map(v => Math.max(0, v));
  const pooled = pool(first, 8, SIZE);
  const second = convolve(pooled, 8, SIZE / 2, w2, b2, 12);
  const scores = draws(10, 11).map(v => v * 4);
  const node = (id, name, type, family, more = {}) => ({ id, name, type, family, operator: name, group: '', change: 'same', from: [id], ...more });
  const edge = (from, to, name, shape) => ({ from, to, value: name, shape, bytes: 4 * shape.reduce((a, b) => a * b, 1) });
  const map = [1, 8, SIZE, SIZE];
  const file = {
    name: 'file', title: 'The graph as it stands in the file.', removed: [],
    nodes: [
      node(0, 'x', 'pnnx.Input', 'input', { from: [] }), node(1, 'conv1', 'nn.Conv2d', 'convolution', { label: '3×3, 8', group: 'stem' }), node(2, 'relu1', 'nn.ReLU', 'activation', { group: 'stem' }),
      node(3, 'pool', 'nn.MaxPool2d', 'pooling', { label: '2×2' }), node(4, 'conv2', 'nn.Conv2d', 'convolution', { label: '3×3, 12' }), node(5, 'fc', 'nn.Linear', 'linear'), node(6, 'out', 'pnnx.Output', 'output'),
    ],
    edges: [edge(0, 1, 'x', [1, 3, SIZE, SIZE]), edge(1, 2, 'a', map), edge(2, 3, 'b', map), edge(3, 4, 'c', [1, 8, 12, 12]), edge(4, 5, 'd', [1, 12, 12, 12]), edge(5, 6, 'e', [1, 10])],
  };
  const fused = {
    name: 'fuse_activation_into_conv', title: 'An activation behind a convolution becomes part of it.', removed: [2],
    nodes: [
      node(0, 'x', 'pnnx.Input', 'input'), node(1, 'conv1+relu', 'kuiper.FusedConv2d', 'convolution', { label: '3×3, 8', change: 'new', from: [1, 2] }),
      node(2, 'pool', 'nn.MaxPool2d', 'pooling', { from: [3], label: '2×2' }), node(3, 'conv2', 'nn.Conv2d', 'convolution', { from: [4], label: '3×3, 12' }), node(4, 'fc', 'nn.Linear', 'linear', { from: [5] }), node(5, 'out', 'pnnx.Output', 'output', { from: [6] }),
    ],
    edges: [edge(0, 1, 'x', [1, 3, SIZE, SIZE]), edge(1, 2, 'b', map), edge(2, 3, 'c', [1, 8, 12, 12]), edge(3, 4, 'd', [1, 12, 12, 12]), edge(4, 5, 'e', [1, 10])],
  };
  const operator = (type, inputs, outputs, more = {}) => ({ type, params: {}, inputs, outputs, steps: [], ...more });
  const window = (kind, kernel, stride, padding, field, more = {}) => ({ kind, kernel: [kernel, kernel], stride: [stride, stride], padding: [padding, padding, padding, padding], dilation: [1, 1], groups: 1, field, ...more });
  const times = { 'conv1+relu': 40, pool: 8, conv2: 60, fc: 3 };
  const run = (name, threads) => {
    const spans = [];
    let start = 0;
    Object.entries(times).forEach(([each, time], step) => {
      for (let thread = 0; thread < threads; thread++) spans.push({ operator: each, step, thread, start, time: time / threads });
      start += time / threads + 1;
    });
    return { name, total: start, spans };
  };
  const colors = [0, 1, 2].map(c => `rgb(${[200, 90, 60].map((v, i) => (i === c ? v : v / 2)).join(' ')})`);
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" width="240" height="240"><rect width="24" height="24" fill="${colors[2]}"/><circle cx="10" cy="11" r="7" fill="${colors[0]}"/></svg>`;
  return {
    format: 1,
    model: { name: 'sample', file: 'sample.pnnx.param', parameters: 2764, flops: 370000, inputs: [{ name: 'x', shape: [1, 3, SIZE, SIZE], type: 'float32' }], outputs: [{ name: 'e', shape: [1, 10], type: 'float32' }], kuiper: '0.1.0' },
    machine: { cpu: 'a made-up processor', threads: 2, gigahertz: 3, peak: 90, bandwidth: 20 },
    stages: [file, fused],
    operators: {
      x: operator('pnnx.Input', [], ['x']),
      'conv1+relu': operator('kuiper.FusedConv2d', ['x'], ['b'], { params: { kernel_size: [3, 3], activation: 'relu' }, formula: 'relu(conv(x) + bias)', parameters: 224, flops: 250000, steps: [0], source: 'kuiper/layers/fused/conv2d.py' }),
      pool: operator('nn.MaxPool2d', ['b'], ['c'], { flops: 4600, steps: [1] }),
      conv2: operator('nn.Conv2d', ['c'], ['d'], { parameters: 876, flops: 250000, steps: [2] }),
      fc: operator('nn.Linear', ['d'], ['e'], { parameters: 17290, flops: 34560, steps: [3] }),
      out: operator('pnnx.Output', ['e'], []),
    },
    plan: { refusal: null, steps: [
      { operator: 'conv1+relu', algorithm: 'direct', tasks: 4, bytes: 26000, flops: 250000, expected: 35, rejected: [{ algorithm: 'winograd', expected: 52 }, { algorithm: 'im2col', expected: 47 }], why: 'Few channels: nothing is gained by a matrix product.' },
      { operator: 'pool', algorithm: 'pool', tasks: 1, bytes: 23000, flops: 4600, expected: 6, rejected: [] },
      { operator: 'conv2', algorithm: 'winograd', tasks: 4, bytes: 15000, flops: 250000, expected: 40, rejected: [{ algorithm: 'direct', expected: 61 }] },
      { operator: 'fc', algorithm: 'gemv', tasks: 1, bytes: 76000, flops: 34560, expected: 4, rejected: [] },
    ] },
    runs: [run('engine, 1 thread', 1), run('engine, 2 threads', 2)],
    memory: { arena: 23040, unshared: 34600, bound: 23040, peak_step: 1, steps: [0, 1, 2, 3], rectangles: [
      { value: 'b', operator: 'conv1+relu', first: 0, last: 1, offset: 0, bytes: 18432 }, { value: 'c', operator: 'pool', first: 1, last: 2, offset: 18432, bytes: 4608 }, { value: 'd', operator: 'conv2', first: 2, last: 3, offset: 0, bytes: 6912 },
    ] },
    values: { x: value([1, 3, SIZE, SIZE], photo), b: value(map, first), c: value([1, 8, 12, 12], pooled), d: value([1, 12, 12, 12], second), e: value([1, 10], scores) },
    windows: {
      'conv1+relu': window('convolution', 3, 1, 1, 0, { weights: f32([8, 3, 3, 3], w1), bias: f32([8], b1), activation: { name: 'relu', alpha: 0, beta: 0 } }),
      pool: window('max', 2, 2, 0, 1),
      conv2: window('convolution', 3, 1, 1, 2, { weights: f32([12, 8, 3, 3], w2), bias: f32([12], b2) }),
    },
    fields: [reach(SIZE, 3, 1, -1), reach(12, 4, 2, -1), reach(12, 8, 2, -3)],
    answers: { kind: 'classes', meaning: 'probability', top: [{ label: 'tabby', score: 0.71 }, { label: 'tiger cat', score: 0.2 }, { label: 'lynx', score: 0.06 }] },
    input: { picture: `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`, size: [SIZE, SIZE], fit: 'resized', value: 'x' },
    left_out: [],
  };
}

/** The page of some data, put together as kuiper/explore/page.py does it. */
function assemble(network) {
  const read = name => fs.readFileSync(path.join(PAGE, name), 'utf8');
  const escaped = JSON.stringify(network).replace(/[<>&\u2028\u2029]/g, c => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return read('template.html')
    .replace('<link rel="stylesheet" href="page.css">', () => `<style>\n${read('page.css')}</style>`)
    .replace(/<script src="([\w./]+)"><\/script>/g, (_, name) => `<script>\n${read(name)}</script>`)
    .replace('id="network"></script>', () => `id="network">${escaped}</script>`);
}

module.exports = { PAGE, SIZE, assemble, sample };
if (require.main === module) process.stdout.write(assemble(sample()));

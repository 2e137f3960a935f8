'use strict';
const assert = require('node:assert/strict');
const { test } = require('node:test');
const { sample } = require('./sample.js');
require('./load.js');
const { changes, fold, groupsOf, neighbour, search } = kuiper.folding;
const { layered, ranks, spread, WIDTH, HEIGHT } = kuiper.layout;

const [file, fused] = sample().stages;

/** A graph of boxes and edges as texts: "a b" is an edge from a to b. */
function graph(edges) {
  const pairs = edges.map(text => text.split(' '));
  return { nodes: [...new Set(pairs.flat())].map(key => ({ key })), edges: pairs.map(([from, to]) => ({ from, to })) };
}

/** Blocks with a skip edge each, as in a residual network, from a seed. */
function large(blocks) {
  const edges = [];
  for (let i = 0; i < blocks; i++) edges.push(`${i}.in ${i}.a`, `${i}.a ${i}.b`, `${i}.b ${i}.out`, `${i}.in ${i}.out`, `${i}.out ${i + 1}.in`);
  return graph(edges);
}

test('groupsOf leaves out what is alone', () => {
  assert.deepEqual([...groupsOf(file).keys()], ['stem']);
  assert.equal(groupsOf(fused).size, 0);
});

test('fold makes one box of a group and keeps the edges around it', () => {
  const folded = fold(file, new Set(['stem']));
  assert.deepEqual(folded.nodes.map(entry => entry.key), ['0', 'group:stem', '3', '4', '5', '6']);
  assert.deepEqual(folded.edges.slice(0, 2).map(edge => [edge.from, edge.to, edge.value]), [['0', 'group:stem', 'x'], ['group:stem', '3', 'b']]);
  assert.equal(folded.keys.get(2), 'group:stem');
});

test('fold without folded groups has all nodes and edges', () => {
  const open = fold(file, new Set());
  assert.deepEqual([open.nodes.length, open.edges.length], [7, 6]);
});

test('search finds all words in name, type or family, and puts beginnings first', () => {
  assert.deepEqual(search(file, 'CONV').map(node => node.name), ['conv1', 'conv2']);
  assert.deepEqual(search(file, 'nn pool').map(node => node.name), ['pool']);
  assert.deepEqual(search(file, 'o').map(node => node.name)[0], 'out');
  assert.equal(search(file, '').length, 7);
  assert.equal(search(file, '.*(').length, 0, 'a text, no pattern');
});

test('changes counts what is new, changed and removed', () => {
  assert.deepEqual(changes(fused), { new: 1, changed: 0, moved: 0, removed: 1 });
});

test('ranks is the longest way from the start', () => {
  const { nodes, edges } = graph(['a b', 'b c', 'a c', 'c d']);
  assert.deepEqual([...ranks(nodes.map(node => node.key), edges)], [['a', 0], ['b', 1], ['c', 2], ['d', 3]]);
});

test('ranks survives a circle, as folding can make one', () => {
  const { nodes, edges } = graph(['a b', 'b c', 'c b', 'c d', 'd d']);
  const row = ranks(nodes.map(node => node.key), edges);
  assert.ok(row.get('a') === 0 && [...row.values()].every(place => place < 4));
  assert.equal(layered({ nodes, edges }).boxes.size, 4);
});

test('layered goes down along every edge, and no boxes overlap', () => {
  const given = large(40);
  const { boxes, edges, width, height } = layered(given);
  for (const { from, to } of given.edges) assert.ok(boxes.get(from).y + HEIGHT < boxes.get(to).y);
  const all = [...boxes.values()];
  for (const a of all) {
    assert.ok(a.x >= -0.01 && a.x + WIDTH <= width + 0.01 && a.y + HEIGHT <= height + 0.01);
    for (const b of all) assert.ok(a === b || a.row !== b.row || Math.abs(a.x - b.x) >= WIDTH);
  }
  assert.equal(edges.length, given.edges.length);
});

test('layered keeps a chain with skip edges straight', () => {
  const { boxes } = layered(large(20));
  const places = [...boxes.values()].map(box => box.x);
  assert.ok(Math.max(...places) - Math.min(...places) < WIDTH / 2, `${Math.max(...places) - Math.min(...places)}`);
});

test('layered leads edges around the boxes that they pass', () => {
  const { boxes, edges } = layered(large(3));
  const skip = edges.find(edge => edge.from === '1.in' && edge.to === '1.out');
  const passed = boxes.get('1.a');
  const beside = skip.points.filter(([, y]) => y >= passed.y && y <= passed.y + HEIGHT);
  assert.ok(beside.length && beside.every(([x]) => x < passed.x || x > passed.x + WIDTH));
});

test('layered is the same every time, and takes nothing and one box', () => {
  assert.deepEqual(layered(large(9)), layered(large(9)));
  assert.deepEqual(layered({ nodes: [], edges: [] }).height, 0);
  assert.deepEqual(layered({ nodes: [{ key: 'a' }], edges: [] }).width, WIDTH);
});

test('spread keeps order and distance, and lets boxes stay where they wish', () => {
  const row = [1, 2, 3].map(() => ({ width: WIDTH }));
  spread(row, [500, 0, 1000]);
  assert.ok(row[1].x - row[0].x >= WIDTH && row[2].x - row[1].x >= WIDTH);
  assert.equal(row[2].x, 1000);
});

test('neighbour goes along edges and to boxes beside', () => {
  const layout = layered(graph(['a b', 'a c', 'b d', 'c d']));
  assert.equal(neighbour(layout, 'd', 'down'), undefined);
  assert.ok(['b', 'c'].includes(neighbour(layout, 'a', 'down')));
  const left = layout.boxes.get('b').x < layout.boxes.get('c').x ? ['b', 'c'] : ['c', 'b'];
  assert.equal(neighbour(layout, left[0], 'right'), left[1]);
  assert.equal(neighbour(layout, left[1], 'left'), left[0]);
  assert.equal(neighbour(layout, undefined, 'down'), 'a', 'where nothing is chosen, the first');
});

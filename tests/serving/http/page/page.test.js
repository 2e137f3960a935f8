'use strict';
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { test } = require('node:test');
const { PAGE, scripts } = require('./load.js');

const css = fs.readFileSync(path.join(PAGE, 'page.css'), 'utf8');

test('the template names every script of the folder, once', () => {
  const files = fs.readdirSync(PAGE).filter(name => name.endsWith('.js'));
  assert.deepEqual(scripts.filter(name => !name.startsWith('../')).sort(), files.sort());
  assert.equal(path.basename(scripts[0]), 'language.js');
});

test('the scripts are strict, stay small, make no markup from text, and ask their own server only', () => {
  let lines = 0;
  for (const script of scripts) {
    const text = fs.readFileSync(path.join(PAGE, script), 'utf8');
    lines += text.split('\n').length - 1;
    assert.ok(text.startsWith("'use strict';\n"), script);
    assert.doesNotMatch(text, /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|<\/script|<!--/i, script);
    assert.doesNotMatch(text, /XMLHttpRequest|WebSocket|EventSource|import\(|https?:\/\//, script);
  }
  assert.ok(lines < 700, `${lines} lines`);
});

/** The colours of a theme: the first block is the light one. */
function theme(index) {
  const block = css.split(':root {')[index + 1].split('}')[0];
  return Object.fromEntries([...block.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map(found => [found[1], found[2]]));
}

function luminance(color) {
  const parts = [1, 3, 5].map(at => parseInt(color.slice(at, at + 2), 16) / 255);
  const light = parts.map(x => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4));
  return light.reduce((sum, x, i) => sum + x * [0.2126, 0.7152, 0.0722][i], 0);
}

function contrast(a, b) {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

test('letters can be read, and the colours of the picture told from its ground, in both themes', () => {
  for (const colors of [theme(0), theme(1)]) {
    for (const ground of ['ground', 'surface', 'sunken']) {
      for (const ink of ['ink', 'muted', 'bad']) assert.ok(contrast(colors[ink], colors[ground]) >= 4.5, `${ink} on ${ground}`);
    }
    assert.ok(contrast(colors['on-accent'], colors.accent) >= 4.5);
    for (const kind of ['prompt', 'drawn', 'right', 'wrong', 'waiting']) {
      assert.ok(contrast(colors[kind], colors.sunken) >= 3, kind);
    }
  }
});

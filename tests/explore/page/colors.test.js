'use strict';
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { test } = require('node:test');
const { PAGE } = require('./sample.js');
require('./load.js');
const { inkOn, scale, screen, signed, unsigned, MISSING } = kuiper.colors;

const light = color => color.map(x => x / 255).map(x => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4));
const luminance = color => light(color).reduce((sum, x, i) => sum + x * [0.2126, 0.7152, 0.0722][i], 0);
const contrast = (a, b) => {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
};

/** Lightness of OKLab, by the inverse of what the page does. */
function lightness(color) {
  const [r, g, b] = light(color);
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return 0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s;
}

test('the unsigned scale grows evenly in lightness, so that it needs no colours to be read', () => {
  const values = unsigned.map(lightness);
  const step = (values.at(-1) - values[0]) / 255;
  assert.ok(step > 0.0028);
  for (let i = 8; i < 256; i += 8) assert.ok(Math.abs(values[i] - values[i - 8] - 8 * step) < 0.006, `at ${i}`);
});

test('the signed scale is as light on both sides, and blue against orange', () => {
  for (const theme of ['light', 'dark']) {
    for (let i = 0; i < 128; i++) assert.ok(Math.abs(lightness(signed[theme][i]) - lightness(signed[theme][255 - i])) < 0.012);
    const [low, high] = [signed[theme][0], signed[theme][255]];
    assert.ok(low[2] > low[0] && high[0] > high[2]);
  }
});

test('scale is signed around zero only if there are both signs', () => {
  const both = scale(-1, 3);
  assert.deepEqual([both.from, both.to, both.isSigned], [-3, 3, true]);
  assert.deepEqual([scale(0, 3).isSigned, scale(-3, 0).isSigned, scale(1, 2).from], [false, false, 1]);
  assert.deepEqual(scale(0, 1).color(0), unsigned[0]);
  assert.deepEqual(scale(0, 1).color(9), unsigned[255]);
});

test('scale shows what is missing in a colour of its own, and a constant without falling', () => {
  assert.deepEqual(scale(0, 1).color(NaN), MISSING);
  assert.deepEqual(scale(0, 1).color(Infinity), MISSING);
  assert.deepEqual(scale(2, 2).color(2), unsigned[0]);
});

test('screen keeps the lightness where a colour is out of reach', () => {
  assert.ok(Math.abs(lightness(screen(0.5, 0.4, 150)) - 0.5) < 0.01);
});

test('inkOn can be read on each colour of each scale', () => {
  for (const color of [...unsigned, ...signed.light, ...signed.dark]) {
    const ink = inkOn(color) === '#000' ? [0, 0, 0] : [255, 255, 255];
    assert.ok(contrast(ink, color) >= 4.5);
  }
});

test('the style sheet has letters of a contrast of 4.5 in both themes', () => {
  const text = fs.readFileSync(path.join(PAGE, 'page.css'), 'utf8');
  const [first, second] = [...text.matchAll(/:root \{([^}]*)\}/g)].map(found => found[1]);
  const read = block => Object.fromEntries([...block.matchAll(/--([\w-]+): #(\w{6});/g)].map(([, name, hex]) => [name, [0, 2, 4].map(i => parseInt(hex.slice(i, i + 2), 16))]));
  const bright = read(first);
  for (const theme of [bright, { ...bright, ...read(second) }]) {
    for (const ground of ['ground', 'surface', 'sunken', 'accent-soft']) {
      for (const ink of ['ink', 'muted', 'accent', 'good', 'warn', 'bad']) {
        if (ground === 'accent-soft' && !['ink', 'muted', 'accent'].includes(ink)) continue;
        assert.ok(contrast(theme[ink], theme[ground]) >= 4.5, `${ink} on ${ground}: ${contrast(theme[ink], theme[ground])}`);
      }
    }
    for (const family of Object.keys(theme).filter(name => name.startsWith('f-'))) {
      assert.ok(contrast(theme['on-span'], theme[family]) >= 4.5, `letters on ${family}: ${contrast(theme['on-span'], theme[family])}`);
    }
  }
});

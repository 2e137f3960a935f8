'use strict';
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { test } = require('node:test');
const { assemble, sample, PAGE } = require('./sample.js');
const { scripts, template } = require('./load.js');

const MAX_LINES = 2340;

test('the template names every script of the folder, once', () => {
  const files = fs.readdirSync(PAGE).filter(name => name.endsWith('.js'));
  assert.deepEqual(scripts.filter(name => !name.startsWith('../')).sort(), files.sort());
  assert.equal(path.basename(scripts[0]), 'language.js');
});

test('the scripts are strict, stay small, and make no markup from text', () => {
  let lines = 0;
  for (const script of scripts) {
    const text = fs.readFileSync(path.join(PAGE, script), 'utf8');
    lines += text.split('\n').length - 1;
    assert.ok(text.startsWith("'use strict';\n"), script);
    assert.doesNotMatch(text, /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|<\/script|<!--/i, script);
    assert.doesNotMatch(text, /\bfetch\(|XMLHttpRequest|WebSocket|import\(|https?:\/\/(?!www\.w3\.org)/, `${script}: no network`);
  }
  assert.ok(lines < MAX_LINES, `${lines} lines`);
});

test('a page is one document in which no text of the model can end the script', () => {
  const network = sample();
  network.model.name = '</script><script>throw 1</script><!-- \u2028 &amp;';
  const page = assemble(network);
  assert.equal(page.match(/<script/g).length, scripts.length + 1);
  const data = page.match(/id="network">([^<]*)<\/script>/)[1];
  assert.equal(JSON.parse(data).model.name, network.model.name);
  assert.doesNotMatch(page.replace(template, ''), /src="\w+\.js"|href="page\.css"/);
});

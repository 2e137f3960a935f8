'use strict';
const assert = require('node:assert/strict');
const { afterEach, test } = require('node:test');
require('../../kuiper/language.js');
const { _, many, parts, sayAll, use } = kuiper.language;

afterEach(() => use({}));

test('a text without a translation is English, whatever it is', () => {
  for (const text of ['Send', '', 'constructor', '__proto__', '{n} of {m}']) assert.equal(_(text), text);
  assert.equal(_('{n} of {m}', { n: 1 }), '1 of {m}');
});

test('fields go where the translation has them, and are not read again', () => {
  use({ '{done} of {all} steps': '共 {all} 步，已完成 {done} 步' });
  assert.equal(_('{done} of {all} steps', { done: '{all}', all: 3 }), '共 3 步，已完成 {all} 步');
});

test('an amount chooses between two texts', () => {
  assert.deepEqual([0, 1, 2].map(n => many(n, '{n} text', '{n} texts')), ['0 texts', '1 text', '2 texts']);
  use({ '{n} text': '{n} 段', '{n} texts': '{n} 段文本' });
  assert.deepEqual([1, 2].map(n => many(n, '{n} text', '{n} texts')), ['1 段', '2 段文本']);
});

test('elements are fields too', () => {
  const element = { localName: 'a' };
  assert.deepEqual(parts('first in {link}, a link', { link: element }), ['first in ', element, ', a link']);
  use({ 'first in {link}, a link': '{link}：最先' });
  assert.deepEqual(parts('first in {link}, a link', { link: element }), [element, '：最先']);
  assert.deepEqual(parts('{sum}, a link', { sum: parts('first in {link}, a link', { link: element }) }), [element, '：最先', ', a link']);
});

/** As much of an element as sayAll asks for. */
class Element {
  constructor(localName, attributes, ...childNodes) {
    Object.assign(this, { localName, attributes, childNodes });
  }

  getAttribute(name) {
    return this.attributes[name] ?? null;
  }

  setAttribute(name, text) {
    this.attributes[name] = text;
  }

  querySelectorAll() {
    const elements = this.childNodes.filter(child => child instanceof Element);
    return elements.flatMap(child => [child, ...child.querySelectorAll()]);
  }

  replaceChildren(...children) {
    this.childNodes = children.map(child => (typeof child === 'string' ? { nodeType: 3, data: child } : child));
  }

  get text() {
    return this.childNodes.map(child => child.text ?? child.data).join('');
  }
}

const text = data => ({ nodeType: 3, data });

test('a document is said, with elements in their places, and what has no translation stays', () => {
  use({ 'It is in {code}, the file.': '文件 {code} 里有。', 'Zoom in': '放大', key: '密钥' });
  const code = new Element('code', { title: 'Zoom in' }, text('--file'));
  const paragraph = new Element('p', {}, text('\n  It is in '), code, { nodeType: 8, data: 'key' }, text(', the file.\n'));
  const other = new Element('p', { id: 'key' }, text(' other '));
  sayAll(new Element('body', {}, paragraph, other));
  assert.equal(paragraph.text, '文件 --file 里有。');
  assert.equal(paragraph.childNodes[1], code);
  assert.deepEqual([code.attributes.title, other.text, other.attributes.id], ['放大', ' other ', 'key']);
});

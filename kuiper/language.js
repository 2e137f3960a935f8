'use strict';
// What a page says, in its reader's language. Scripts and documents are English; a table has the messages of another
// language. kuiper/page_language.py puts it into a document, a page that asks for it first hands it to `use`.
(kuiper => {
  const SAID = ['alt', 'aria-label', 'placeholder', 'title'];
  let messages = new Map();

  /** Speak by this table: {English: translation}. */
  const use = table => (messages = new Map(Object.entries(table)));

  const meant = text => messages.get(text) ?? text;

  /** A text in the reader's language: _('{done} of {all} steps', { done: 1, all: 3 }). */
  function _(text, fields) {
    const said = meant(text);
    return fields ? said.replace(/\{(\w+)\}/g, (field, name) => fields[name] ?? field) : said;
  }

  /** As `_`, where fields may be elements, or what this has given: a list of texts and elements. */
  const parts = (text, fields) =>
    meant(text).split(/\{(\w+)\}/).flatMap((part, i) => (i % 2 ? fields[part] : part)).filter(part => part !== '');

  /** One of two texts by an amount, which is their field n: many(2, '{n} step', '{n} steps'). */
  const many = (amount, one, several, fields) => _(amount === 1 ? one : several, { ...fields, n: amount });

  /** Say what a document has in English: texts, and what is said of fields and pictures. An element within a text is a
    field with the name of its tag. */
  function sayAll(root) {
    for (const element of root.querySelectorAll('*')) {
      const told = SAID.filter(name => messages.has(element.getAttribute(name)));
      for (const name of told) element.setAttribute(name, _(element.getAttribute(name)));
      const children = [...element.childNodes].filter(child => child.data === undefined || child.nodeType === 3);
      const fields = Object.fromEntries(children.map(child => [child.localName, child]));
      const text = children.map(child => child.data ?? `{${child.localName}}`).join('').replace(/\s+/g, ' ').trim();
      if (messages.has(text)) element.replaceChildren(...parts(text, fields));
    }
  }

  const table = globalThis.document?.getElementById('messages');
  if (table) {
    use(JSON.parse(table.textContent));
    sayAll(document);
  }
  kuiper.language = { _, many, parts, sayAll, use };
})((globalThis.kuiper ??= {}));

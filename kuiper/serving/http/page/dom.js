'use strict';
// Elements. Text of models and readers comes in as text only, so that none of it can become markup.
(kuiper => {
  const find = id => document.getElementById(id);

  /** An element with attributes and children; what is null is left out. */
  function html(name, attributes = {}, ...children) {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (value !== null && value !== undefined) node.setAttribute(key, value);
    }
    node.append(...children.flat().filter(child => child !== null && child !== undefined));
    return node;
  }

  /** Numbers that come first: [name, text]. */
  const tiles = rows => rows.map(([name, text]) =>
    html('div', { class: 'tile' }, html('strong', {}, text), html('span', {}, name)));

  kuiper.dom = { find, html, tiles };
})((globalThis.kuiper ??= {}));

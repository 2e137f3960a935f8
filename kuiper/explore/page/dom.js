'use strict';
// Elements. Text of the data comes in by textContent and setAttribute only, so no name in a model can become markup.
(kuiper => {
  const SVG = 'http://www.w3.org/2000/svg';

  function fill(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) {
      if (value === undefined || value === null || value === false) continue;
      if (name === 'on') for (const [event, handler] of Object.entries(value)) node.addEventListener(event, handler);
      else if (name === 'style') for (const [key, text] of Object.entries(value)) node.style.setProperty(key, text);
      else if (name === 'value') node.value = value;
      else node.setAttribute(name, value === true ? '' : value);
    }
    for (const child of children.flat()) {
      if (child !== null && child !== undefined && child !== false) node.append(child);
    }
    return node;
  }

  const html = (name, attributes = {}, ...children) => fill(document.createElement(name), attributes, children);
  const svg = (name, attributes = {}, ...children) => fill(document.createElementNS(SVG, name), attributes, children);

  /** How wide a chart can be, so that its letters keep their size. */
  function room() {
    const panel = document.getElementById('panel');
    const padding = parseFloat(getComputedStyle(panel).paddingLeft);
    return Math.max(260, Math.min(1080, panel.clientWidth - 2 * padding));
  }

  /** A chart; its name is what a screen reader says. */
  function chart(width, height, name, ...children) {
    return svg('svg', { viewBox: `0 0 ${width} ${height}`, class: 'chart', role: 'img', 'aria-label': name },
      ...children);
  }

  /** A canvas that shows one picture of numbers in the colours of a scale, one pixel a number. */
  function mapCanvas({ height, width, values }, scale) {
    const canvas = html('canvas', { width, height, class: 'map-picture', 'aria-hidden': 'true' });
    const pen = canvas.getContext('2d');
    const image = pen.createImageData(width, height);
    for (let i = 0; i < values.length; i++) image.data.set([...scale.color(values[i]), 255], 4 * i);
    pen.putImageData(image, 0, 0);
    return canvas;
  }

  /** Rows of a list with a bar each: [{label, share, text, on, color, note}]. */
  function bars(name, rows) {
    return html('ol', { class: 'bars', 'aria-label': name },
      rows.map(row => {
        const label = row.on ? link(row.label, row.on) : html('span', {}, row.label);
        const width = `${100 * Math.min(1, Math.max(0, row.share || 0))}%`;
        const style = { '--share': width, '--color': row.color ?? 'var(--accent)' };
        return html('li', { class: row.strong ? 'strong' : '' },
          html('span', { class: 'bar-label' }, label, row.note ? html('small', {}, row.note) : null),
          html('span', { class: 'bar-track', 'aria-hidden': 'true' }, html('span', { class: 'bar', style })),
          html('span', { class: 'bar-text' }, row.text));
      }));
  }

  /** A table of two columns. */
  function facts(rows) {
    const known = rows.filter(([, value]) => value !== null && value !== undefined && value !== '');
    const cells = known.flatMap(([name, value]) => [html('dt', {}, name), html('dd', {}, value)]);
    return html('dl', { class: 'facts' }, cells);
  }

  /** Numbers that come first: [name, text]; those without a text are left out. */
  function tiles(rows) {
    const tile = ([name, text]) => html('div', { class: 'tile' }, html('strong', {}, text), html('span', {}, name));
    return html('div', { class: 'tiles' }, rows.filter(row => row[1]).map(tile));
  }

  const link = (text, click) => html('button', { type: 'button', class: 'link', on: { click } }, text);
  const section = (title, ...children) => html('section', {}, html('h3', {}, title), ...children);
  const note = text => html('p', { class: 'note' }, text);
  const familyColor = family => `var(--f-${family}, var(--f-other))`;

  /** A table: titles of its columns, and the cells of its rows; the first of a row names it. */
  function table(titles, rows) {
    const cell = (content, i) => (i ? html('td', {}, content) : html('th', { scope: 'row' }, content));
    const head = html('tr', {}, titles.map(text => html('th', { scope: 'col' }, text)));
    return html('div', { class: 'scroll' }, html('table', { class: 'rows' }, html('thead', {}, head),
      html('tbody', {}, rows.map(cells => html('tr', {}, cells.map(cell))))));
  }

  /** A list to choose from: options are [value, text]. */
  function choice(name, options, value, change, key) {
    const items = options.map(([id, text]) =>
      html('option', { value: id, selected: String(id) === String(value) }, text));
    const list = html('select', { 'data-key': key, on: { change: event => change(event.target.value) } }, items);
    return html('label', { class: 'choice' }, html('span', {}, name), list);
  }

  /** A slider: `ends` are {min, max, step, value}; `change` gets the number that it is moved to. */
  function range(name, ends, change, key) {
    const on = { input: event => change(Number(event.target.value)) };
    const slider = html('input', { type: 'range', 'data-key': key, ...ends, on });
    return html('label', { class: 'choice grow' }, html('span', {}, name), slider);
  }

  kuiper.dom = { bars, chart, choice, facts, familyColor, html, link, mapCanvas, note, range, room, section, svg, table,
    tiles };
})((globalThis.kuiper ??= {}));

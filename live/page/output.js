// What a cell prints and shows, as it comes.
import { html } from './dom.js';

const ESCAPE = /\x1b\[([\d;]*)([A-Za-z])/g;
const COLOURS = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'];

/** Text of a terminal as pieces [{text, classes}]; what is no colour is left out. */
export function terminalPieces(text) {
  const pieces = [];
  let classes = new Set();
  let from = 0;
  const add = until => {
    if (until > from) pieces.push({ text: text.slice(from, until), classes: [...classes] });
  };
  for (const match of text.matchAll(ESCAPE)) {
    add(match.index);
    from = match.index + match[0].length;
    if (match[2] === 'm') classes = styled(classes, match[1].split(';').map(Number));
  }
  add(text.length);
  return pieces;
}

function styled(classes, codes) {
  let result = new Set(classes);
  for (const code of codes) {
    if (code === 0) result = new Set();
    else if (code === 1) result.add('bold');
    else if (code === 2) result.add('faint');
    else if (code === 39 || (code >= 30 && code < 38) || (code >= 90 && code < 98)) {
      result = new Set([...result].filter(name => !COLOURS.includes(name)));
      if (code !== 39) result.add(COLOURS[code % 10]);
    }
  }
  return result;
}

/** What is seen of text in which a carriage return goes back to the beginning of its line. */
export function afterReturns(text) {
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  return lines.map(line => line.slice(line.replace(/\r+$/, '').lastIndexOf('\r') + 1).replace(/\r+$/, '')).join('\n');
}

/** Coloured text of a terminal as elements. */
export function terminalText(text) {
  const pieces = terminalPieces(afterReturns(text));
  return pieces.map(piece => (piece.classes.length ? html('span', { class: piece.classes.join(' ') }, piece.text) : piece.text));
}

/** The outputs of one cell: streams grow, displays stand below each other. */
export class Output {
  constructor(node) {
    this.node = node;
    this.stream = null;
  }

  clear() {
    this.node.replaceChildren();
    this.stream = null;
  }

  /** Text, behind what the same stream has said. */
  write(text, name = 'stdout') {
    if (this.stream?.name !== name) {
      const pre = html('pre', {});
      this.stream = { name, text: '', pre };
      this.node.append(html('div', { class: `output stream ${name}` }, html('div', { class: 'highlight' }, pre)));
    }
    this.stream.text += text;
    this.stream.pre.replaceChildren(...terminalText(this.stream.text));
  }

  /** A value by its forms: {MIME type: text}. */
  show(forms) {
    this.stream = null;
    const node = displayed(forms);
    if (node) this.node.append(html('div', { class: 'output display' }, node));
  }
}

/** The richest form that a page can show; null where there is nothing to show. */
function displayed(forms) {
  if (forms['text/vnd.kuiper.page']) return own(forms['text/vnd.kuiper.page']);
  if (forms['text/html']) return own(forms['text/html']);
  if (forms['image/svg+xml']) return image(`data:image/svg+xml;charset=utf-8,${encodeURIComponent(forms['image/svg+xml'])}`, forms);
  for (const type of ['image/png', 'image/jpeg']) {
    if (forms[type]) return image(`data:${type};base64,${forms[type].replaceAll('\n', '')}`, forms);
  }
  if (forms['text/markdown']) return html('div', { class: 'markdown' }, ...simpleMarkdown(forms['text/markdown']));
  return forms['text/plain'] ? html('div', { class: 'highlight' }, html('pre', {}, ...terminalText(forms['text/plain']))) : null;
}

const image = (address, forms) => html('img', { src: address, alt: forms['text/plain'] ?? '' });

/** Markup that the reader's own Python wrote; as in a notebook, it is shown, and its scripts do not run. */
function own(markup) {
  const node = html('div', {});
  node.innerHTML = markup;
  return node;
}

/** Paragraphs, lists, quotes, code, bold and links: all that the course's own cells write. */
export function simpleMarkdown(text) {
  const blocks = text.replace(/^> ?/gm, '').trim().split(/\n\s*\n/);
  return blocks.map(block => {
    const lines = block.split('\n');
    if (lines.every(line => /^([-*] |  )/.test(line))) {
      const items = block.split(/^[-*] /m).filter(item => item.trim());
      return html('ul', {}, items.map(item => html('li', {}, ...inline(item.trim()))));
    }
    if (block.startsWith('```')) return html('pre', {}, lines.slice(1, -1).join('\n'));
    if (/^\|/.test(block)) return table(lines);
    return html('p', {}, ...inline(block));
  });
}

function table(lines) {
  const rows = lines.filter(line => !/^\|[\s|:-]+\|$/.test(line)).map(line => line.replace(/^\||\|\s*$/g, '').split('|'));
  const row = (cells, tag) => html('tr', {}, cells.map(cell => html(tag, {}, ...inline(cell.trim()))));
  return html('table', {}, row(rows[0], 'th'), rows.slice(1).map(cells => row(cells, 'td')));
}

function inline(text) {
  const nodes = [];
  let from = 0;
  for (const match of text.matchAll(/`([^`]+)`|\*\*([^*]+)\*\*|\[([^\]]+)\]\(([^)\s]+)\)/g)) {
    nodes.push(text.slice(from, match.index));
    from = match.index + match[0].length;
    if (match[1]) nodes.push(html('code', {}, match[1]));
    else if (match[2]) nodes.push(html('strong', {}, ...inline(match[2])));
    else nodes.push(html('a', { href: match[4] }, ...inline(match[3])));
  }
  nodes.push(text.slice(from));
  return nodes.filter(node => node !== '');
}

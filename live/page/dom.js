// Elements. Text comes in by textContent and setAttribute only, so that no file and no answer can become markup.

export const find = id => document.getElementById(id);

/** An element with attributes (`on` holds listeners), and children: nodes, texts, or nothing. */
export function html(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key === 'on') for (const [event, handler] of Object.entries(value)) node.addEventListener(event, handler);
    else node.setAttribute(key, value === true ? '' : value);
  }
  node.append(...children.flat().filter(child => child !== null && child !== undefined && child !== false));
  return node;
}

export function button(text, click, attributes = {}) {
  return html('button', { type: 'button', on: { click }, ...attributes }, text);
}

/** Run something soon, and only once when it is asked for again in the meantime; `now` does not wait. */
export function soon(milliseconds, action) {
  let timer = null;
  const run = () => {
    clearTimeout(timer);
    timer = null;
    return action();
  };
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(run, milliseconds);
  };
  later.now = () => (timer === null ? undefined : run());
  later.waits = () => timer !== null;
  return later;
}

/** Give the reader a file. */
export function download(name, bytes, type) {
  const address = URL.createObjectURL(new Blob([bytes], { type }));
  html('a', { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
}

/** The files that a reader chooses, or []. */
export function chooseFiles(accept) {
  return new Promise(resolve => {
    const input = html('input', { type: 'file', accept });
    input.addEventListener('change', () => resolve([...input.files]));
    input.addEventListener('cancel', () => resolve([]));
    input.click();
  });
}

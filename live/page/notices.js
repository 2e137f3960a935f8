// One sentence at the top of the page, for what the reader must know; each subject has one at a time.
import { button, find, html } from './dom.js';
import { _ } from './language.js';

const shown = new Map();

/** Show a sentence; `actions` are [text, click]; a later one on the same subject takes its place. */
export function notice(subject, sentence, { actions = [], kind = 'information' } = {}) {
  withdraw(subject);
  const close = () => withdraw(subject);
  const act = ([text, click]) => button(text, () => {
    close();
    click();
  });
  const node = html('div', { class: `notice ${kind}`, role: kind === 'problem' ? 'alert' : 'status' },
    html('span', {}, sentence), actions.map(act), button('×', close, { 'aria-label': _('Close'), class: 'close' }));
  shown.set(subject, node);
  find('notices').append(node);
}

export function withdraw(subject) {
  shown.get(subject)?.remove();
  shown.delete(subject);
}

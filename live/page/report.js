// The report of an exercise's tests: what kuiper writes, with the sentences that help most put first; in any language.
import { html } from './dom.js';
import { _ } from './language.js';
import { terminalText } from './output.js';

// What a terminal needs and this page shows otherwise: a heading, one letter for each test, pytest's own last line.
const FOR_TERMINALS = [/^=+ .+ =+$/, /^ *(?:[-.FEbpsux]+ *(?:\[ *\d+%\])?|\[ *\d+%\])$/, / in [\d.]+ ?s\b/];

/** What a report says of each failure. */
export function pageText(report) {
  const lines = report.replace(/\s+$/, '').split('\n');
  return lines.filter(line => !FOR_TERMINALS.some(pattern => pattern.test(line))).join('\n').trim();
}

/** The line of the reader's file that a report names first, or null. */
export function lineOf(report, file) {
  const at = report.indexOf(`${file}:`);
  return at < 0 ? null : Number(/^\d+/.exec(report.slice(at + file.length + 1))?.[0] ?? NaN) || null;
}

/** What stands above a report: counts of the tests. */
export function headline({ status, tests }) {
  const { passed = 0, failed = 0, blocked = 0 } = tests ?? {};
  const total = passed + failed + blocked;
  if (status === 'solved') return _('Solved: all {total} tests pass', { total });
  if (status === 'not started') return _('Not started: fill in the lines that raise NotImplementedError');
  if (blocked) return _('{passed} of {total} tests pass, {blocked} wait for other exercises', { passed, total, blocked });
  return _('{passed} of {total} tests pass', { passed, total });
}

/** The elements of a report; `goTo(line)` is called where the reader follows a line's number. */
export function reportNodes(value, file, goTo) {
  const text = pageText(value.report);
  const line = lineOf(text, file);
  return [
    html('p', { class: `headline ${value.status.replace(' ', '-')}` }, headline(value)),
    value.likely.map(sentence => html('p', { class: 'likely' }, sentence)),
    line && html('p', {}, html('button', { type: 'button', class: 'link', on: { click: () => goTo(line) } }, _('Go to line {line}', { line }))),
    html('pre', { class: 'report' }, ...terminalText(text)),
  ].flat().filter(Boolean);
}

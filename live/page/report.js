// The report of an exercise's tests: what kuiper writes, with the sentences that help most put first.
import { html } from './dom.js';
import { terminalText } from './output.js';

// What a terminal needs and this page shows otherwise: one letter for each test, the bars of the courses, what comes next.
const FOR_TERMINALS = [
  /^=+ exercises =+$/, /^[-.FEsxu]+( +\[ *\d+%\])?$/, /^course\d_\w+ +[\u2588-\u2591]/, /^next: /, / in [\d.]+ ?s\b/,
];

/** The parts of a report: what it says of each failure, and the lines that begin with "likely:". */
export function partsOf(report) {
  const lines = report.replace(/\s+$/, '').split('\n');
  const body = lines.filter(line => !FOR_TERMINALS.some(pattern => pattern.test(line)));
  const likely = [...new Set(body.filter(line => /^\s*likely: /.test(line)).map(line => line.trim()))];
  return { likely, text: body.join('\n').trim() };
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
  if (status === 'solved') return `Solved: all ${total} tests pass`;
  if (status === 'not started') return 'Not started: fill in the lines that raise NotImplementedError';
  const rest = blocked ? `, ${blocked} wait for other exercises` : '';
  return `${passed} of ${total} tests pass${rest}`;
}

/** The elements of a report; `goTo(line)` is called where the reader follows a line's number. */
export function reportNodes(value, file, goTo) {
  const { likely, text } = partsOf(value.report);
  const spoken = value.likely?.length ? value.likely.map(sentence => `likely: ${sentence.replace(/^likely: /, '')}`) : likely;
  const line = lineOf(text, file);
  return [
    html('p', { class: `headline ${value.status.replace(' ', '-')}` }, headline(value)),
    spoken.map(sentence => html('p', { class: 'likely' }, sentence)),
    line && html('p', {}, html('button', { type: 'button', class: 'link', on: { click: () => goTo(line) } }, `Go to line ${line}`)),
    html('pre', { class: 'report' }, ...terminalText(text)),
  ].flat().filter(Boolean);
}

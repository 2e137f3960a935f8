// What goes wrong for a reader: each costs one sentence, and no work.
import fs from 'node:fs';
import path from 'node:path';
import { solution } from './reader.mjs';

const MARK = '# kept through every mishap';
const ENDLESS_C = [/for i in range\(out\.shape\[0\]\):(\s+)out\[i\] =/, 'while True:$1out[0] =']; // ends with its worker only
const OVERFLOW = `
cdef long deeper(long n):
    return deeper(n + 1) * n + 1 if n >= 0 else 0

print(deeper(1))
`;

/** Whether the mark is at the beginning of the editor's text; an editor draws only what is in sight. */
async function kept(reader) {
  await reader.page.$eval('#exercise .cm-scroller', node => (node.scrollTop = 0));
  await new Promise(resolve => setTimeout(resolve, 300));
  return (await reader.text('#exercise .cm-content')).includes(MARK);
}

/** Python ends at a stack that overflows in compiled code; the next check starts another. */
export async function crash({ reader, live, expect, exercise }) {
  await reader.open(`${live}#01_tensors/1.6`);
  const text = solution(exercise('1.6').file);
  await reader.write(`${MARK}\n${text}${OVERFLOW}`);
  await reader.press('Check', '#exercise');
  await reader.reported();
  const said = await reader.text('.result');
  expect('a crash is one sentence', /crashed|stack|recursion/i.test(said) && said.length < 2000, said);
  expect('a crash costs no text', await kept(reader), '');
  await reader.write(text);
  const { headline } = await reader.check();
  expect('Python is there again after a crash', /^Solved/.test(headline), headline);
  reader.forgive(/Pyodide has suffered|cause of the fatal error|RangeError|JSHandle@error .*pyodide/); // Pyodide's own words
}

/** A loop in compiled code, which no exception reaches. */
export async function endlessC({ reader, live, expect, exercise }) {
  await reader.open(`${live}#01_tensors/1.6`);
  const text = solution(exercise('1.6').file);
  if (!ENDLESS_C[0].test(text)) throw new Error(`1.6: expected ${ENDLESS_C[0]}`);
  await reader.write(`${MARK}\n${text.replace(...ENDLESS_C)}`);
  await reader.press('Check', '#exercise');
  await reader.page.waitForFunction(() => document.querySelector('#exercise .primary').textContent === 'Stop');
  await new Promise(resolve => setTimeout(resolve, 20000));
  await reader.press('Stop', '#exercise');
  await reader.reported();
  expect('a loop in C can be stopped', /Stopped by you/.test(await reader.text('.result')), await reader.text('.result'));
  expect('it costs no text', await kept(reader), '');
}

/** The browser has no room left: the sentence says so, and the text is still there to be taken home. */
export async function fullStorage({ reader, live, expect }) {
  await reader.open(`${live}#01_tensors/1.2`, { before: fill });
  await reader.write(`${MARK}\n`);
  await reader.page.waitForSelector('.notice.problem');
  const said = await reader.text('.notice.problem');
  expect('a full storage is one sentence', /storage is full.*take it home/.test(said), said);
  expect('a full storage costs no text', await kept(reader), '');
  await reader.page.evaluate(() => (globalThis.isFull = false));
  await reader.write(`${MARK}, again\n`);
  await reader.page.waitForFunction(() => /kept again/.test(document.querySelector('#notices').textContent));
  await reader.page.reload();
  await reader.page.waitForSelector('.cell.runs');
  expect('what is kept later is kept', await kept(reader), await reader.text('#exercise .cm-content'));
}

/** In the page: no write of IndexedDB has room while `isFull`. */
function fill() {
  globalThis.isFull = sessionStorage.getItem('was-full') === null;
  sessionStorage.setItem('was-full', 'yes');
  const put = IDBObjectStore.prototype.put;
  IDBObjectStore.prototype.put = function (...words) {
    if (!globalThis.isFull) return put.apply(this, words);
    throw new DOMException('no room', 'QuotaExceededError');
  };
}

/** A window that keeps nothing at all. */
export async function noStorage({ reader, live, expect }) {
  await reader.open(`${live}#01_tensors/1.2`, { before: () => Object.defineProperty(globalThis, 'indexedDB', { value: undefined }) });
  const said = await reader.text('.notice.problem');
  expect('a browser that keeps nothing says so', /keeps nothing for this page: take your work home/.test(said), said);
  await reader.page.close();
}

/** A browser without SIMD: reading and writing go on. */
export async function noSimd({ reader, live, expect }) {
  await reader.open(`${live}#01_tensors/1.2`, { before: () => (WebAssembly.validate = () => false) });
  const said = await reader.text('.notice.problem');
  expect('a browser without SIMD is one sentence', /too old.*take your work home/.test(said), said);
  await reader.write(`${MARK}\n`);
  expect('it can still be written', await kept(reader), '');
  await reader.run(1);
  expect('a cell says why it does not run', /too old/.test((await reader.failures()).join()), (await reader.failures()).join());
  await reader.page.close();
}

/** The course changes on the host while work is kept here: the page offers both, and takes nothing. */
export async function newVersion({ reader, live, expect, site, course }) {
  await reader.open(`${live}#01_tensors/1.4`);
  await reader.write(course.exercises.find(({ id }) => id === '1.4').skeleton.replace('\n', `\n${MARK}\n`));
  await new Promise(resolve => setTimeout(resolve, 1500));
  await reader.page.waitForFunction(() => navigator.serviceWorker.controller); // this version is kept
  await new Promise(resolve => setTimeout(resolve, 8000)); // Firefox looks for a newer one only when it has been at rest
  const files = ['course.json', 'service_worker.js'].map(name => path.join(site, 'live', name));
  const texts = files.map(file => fs.readFileSync(file, 'utf8'));
  try {
    const newer = JSON.parse(texts[0]);
    const part = newer.exercises.find(({ id }) => id === '1.4');
    part.skeleton = part.skeleton.replace(/as text \w+/, 'as text 0123456789ab');
    part.texts = ['0123456789ab'];
    fs.writeFileSync(files[0], JSON.stringify(newer));
    fs.writeFileSync(files[1], texts[1].replace(/"version": "\w+"/, '"version": "another"'));
    await reader.page.reload();
    await reader.page.waitForFunction(() => /new version of the course/.test(document.querySelector('#notices').textContent));
    expect('a new version of the course is one sentence', true);
    await reader.press('Load it', '#notices');
    await reader.page.waitForNavigation();
    await reader.page.waitForFunction(() => /newer text of exercise 1.4; yours is kept/.test(document.querySelector('#notices').textContent));
    expect('it costs no text', await kept(reader), await reader.text('#exercise .cm-content'));
    await reader.press('Begin again with the newer', '#notices');
    await reader.page.waitForFunction(mark => !document.querySelector('#exercise .cm-content').textContent.includes(mark), {}, MARK);
    expect('the newer text is there when asked for', (await reader.text('#exercise .cm-content')).includes('0123456789ab'), '');
    await reader.press('Older versions', '#exercise');
    await reader.page.waitForSelector('dialog[open] .older');
    expect('the old one is under “Older versions”', (await reader.text('dialog[open]')).includes(MARK), await reader.text('dialog[open]'));
  } finally {
    files.forEach((file, i) => fs.writeFileSync(file, texts[i]));
  }
}

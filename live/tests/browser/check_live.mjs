// Use the live page as a student does, in a real browser, and say where one would stumble.
//
//     node live/tests/browser/check_live.mjs build/site [--browser firefox] [--program PATH] [--lectures all] [--exercises 1.1,1.6] [--steps solve,...]
//
// Lectures run from their first to their last cell; exercises are solved, some of them in Cython; a mistake is named; an
// endless loop, a crash, a full storage, a new version each cost one sentence (mishaps.mjs); photo, text and the zip work
// (panels.mjs); keys alone suffice (keyboard.mjs); the page speaks another language (languages.mjs); a lecture runs as a notebook
// in JupyterLite (notebooks.mjs); work outlives a reload, a second tab and the network. --python names one
// with kuiper, for the zip at home. Pictures go to build/live-screenshots, figures to the standard output. Exit code 1: something is wrong.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { keyboard } from './keyboard.mjs';
import * as languages from './languages.mjs';
import * as mishaps from './mishaps.mjs';
import { notebooks } from './notebooks.mjs';
import * as panels from './panels.mjs';
import { Reader, solution } from './reader.mjs';
import { serve } from './server.mjs';

const PROGRAMS = { chromium: ['/usr/bin/chromium', '/usr/bin/google-chrome'], firefox: ['/usr/bin/firefox-esr', '/usr/bin/firefox'] };
const [PACE, COLD_SECONDS, WARM_SECONDS, COLD_MEGABYTES] = [20e6 / 8, 15, 4, 18];
const KEEPING = 8000; // milliseconds
const MISTAKE = [/steps\.append\(step\)\n(\s+)step \*= length/, 'step *= length\n$1steps.append(step)'];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    browser: { type: 'string', default: 'chromium' }, program: { type: 'string' }, lectures: { type: 'string', default: 'all' },
    exercises: { type: 'string', default: '1.1,1.6,2.1,3.2,4.7,5.14' }, steps: { type: 'string', default: '' }, list: { type: 'boolean' },
    python: { type: 'string', default: '' },
  },
});
const site = path.resolve(positionals[0] ?? 'build/site');
const shots = path.join(path.dirname(site), 'live-screenshots');
fs.mkdirSync(shots, { recursive: true });
const course = JSON.parse(fs.readFileSync(path.join(site, 'live/course.json'), 'utf8'));
const program = values.program ?? PROGRAMS[values.browser].find(file => fs.existsSync(file));
const profile = fs.mkdtempSync(path.join(os.tmpdir(), 'kuiper-live-'));
const problems = [];
const done = []; // exercises that are solved here
const began = performance.now();
const say = text => console.log(`${((performance.now() - began) / 1000).toFixed(1).padStart(6)} s  ${text}`);
const expect = (what, isRight, got) => {
  say(`${isRight ? 'ok   ' : 'WRONG'} ${what}`);
  if (!isRight) problems.push(`${what}: got ${String(got).slice(0, 600)}`);
};
const exercise = id => course.exercises.find(item => item.id === id);
const megabytes = sent => (sent.reduce((sum, [, bytes]) => sum + bytes, 0) / 1e6).toFixed(1);

if (!program) throw new Error(`expected ${PROGRAMS[values.browser].join(' or ')}, got none; --program PATH`);
const server = await serve(site);
const live = `${server.address}live/index.html`;
const reader = await Reader.start(values.browser, program, profile);

/** A lecture's first cell, as somebody sees it who comes with an empty browser over 20 Mbit/s, and who comes back. */
async function measure() {
  server.line.pace = PACE;
  for (const [words, seconds] of [['cold', COLD_SECONDS], ['warm', WARM_SECONDS]]) {
    const [before, from] = [server.sent.length, performance.now()];
    if (words === 'cold') await reader.open(`${live}#01_tensors`);
    else await reader.page.reload();
    await reader.page.waitForSelector('.cell.runs');
    const read = performance.now();
    await reader.run(1);
    const took = (performance.now() - from) / 1000;
    const sent = megabytes(server.sent.slice(before));
    if (words === 'cold') await new Promise(resolve => setTimeout(resolve, KEEPING)); // a reader reads; what was compiled is kept meanwhile
    say(`${words}: the lecture after ${((read - from) / 1000).toFixed(1)} s, its first cell after ${took.toFixed(1)} s (wanted: ${seconds}), ${sent} MB`);
    if (words === 'cold') expect(`a lecture takes at most ${COLD_MEGABYTES} MB`, sent <= COLD_MEGABYTES, sent);
  }
  server.line.pace = Infinity;
  const twice = server.sent.map(([name]) => name).filter((name, i, all) => /runtime/.test(name) && all.indexOf(name) < i);
  expect('no large file is fetched twice', !twice.length, twice.join(' '));
}

async function runLectures() {
  const names = values.lectures === 'all' ? course.lectures.map(item => item.name) : values.lectures.split(',');
  await reader.open(`${live}#${names[0]}`);
  const first = performance.now();
  await reader.run(1);
  say(`first cell after ${((performance.now() - first) / 1000).toFixed(1)} s from the click, ${megabytes(server.sent)} MB sent`);
  for (const name of names) {
    await reader.page.evaluate(wanted => (location.hash = `#${wanted}`), name);
    await reader.page.waitForFunction(wanted => document.querySelector('.lecture-tools a')?.href.includes(wanted), {}, name);
    const cells = await reader.run();
    expect(`lecture ${name}: ${cells}`, /^\.+$/.test(cells), (await reader.failures()).join(' | '));
  }
  await reader.screenshot(path.join(shots, `lecture-${values.browser}.png`));
}

async function solve() {
  if (!reader.page) await reader.open(`${live}#01_tensors`);
  for (const id of values.exercises.split(',')) {
    await reader.take(id);
    await reader.write(solution(exercise(id).file));
    const { headline, report } = await reader.check();
    expect(`exercise ${id} (${exercise(id).language}) is solved`, /^Solved/.test(headline), report);
    if (/^Solved/.test(headline)) done.push(id);
    await reader.screenshot(path.join(shots, `solved-${id}-${values.browser}.png`));
  }
}

async function stumble() {
  const text = solution(exercise('1.1').file);
  await reader.take('1.1');
  await reader.write(text.replace(...MISTAKE));
  const { report } = await reader.check();
  expect('a mistake is named', /likely: .*each axis steps over itself/.test(report), report);
  await reader.press('Hint', '#exercise');
  await reader.page.waitForSelector('.result .hint');
  expect('a hint is a question first', /Hint 1 of 4/.test(await reader.text('.hint h3')), await reader.text('.hint'));
  await reader.screenshot(path.join(shots, `mistake-${values.browser}.png`));
  await reader.write(text.replace('steps.append(step)', 'while True: pass'));
  await reader.press('Check', '#exercise');
  await reader.page.waitForFunction(() => document.querySelector('#exercise .primary').textContent === 'Stop');
  await new Promise(resolve => setTimeout(resolve, 3000));
  await reader.press('Stop', '#exercise');
  await reader.reported();
  expect('an endless loop can be stopped', /Stopped by you/.test(await reader.text('.result')), await reader.text('.result'));
  await reader.write(text);
  const { headline } = await reader.check();
  expect('Python is there again after that', /^Solved/.test(headline), headline);
}

async function comeBack() {
  const solved = () => reader.page.waitForFunction(wanted => document.querySelector('#solved').textContent.startsWith(`${wanted} of`), { timeout: 10000 }, values.exercises.split(',').length);
  await reader.page.reload();
  await reader.page.waitForSelector('.cell.runs');
  await solved().then(() => expect('progress outlives a reload', true), async () => expect('progress outlives a reload', false, await reader.text('#solved')));
  const text = await reader.text('#exercise .cm-content');
  expect('the text outlives a reload', !text.includes('NotImplementedError'), text);
}

async function twoTabs() {
  const first = reader.page;
  const second = await reader.open(`${live}#01_tensors/1.3`);
  await reader.write('# of the second tab\n');
  await new Promise(resolve => setTimeout(resolve, 1500));
  reader.page = first;
  await first.bringToFront();
  await reader.take('1.3');
  expect('a second tab’s text is here', (await reader.text('#exercise .cm-content')).includes('of the second tab'), await reader.text('#exercise .cm-content'));
  await second.close();
}

async function withoutNetwork() {
  server.stop();
  await reader.open(`${live}#01_tensors/1.1`);
  const cells = await reader.run(1);
  expect('a lecture runs without a network', cells.startsWith('.'), (await reader.failures()).join(' | '));
  await reader.take('1.1');
  await reader.write(solution(exercise('1.1').file));
  const { headline } = await reader.check();
  expect('an exercise is checked without a network', /^Solved/.test(headline), headline);
  if (!reader.requested.some(address => address.endsWith('course.zh.json'))) return; // nobody has read Chinese here
  await reader.open(`${live}?lang=zh#01_tensors/1.1`);
  const lang = await reader.page.$eval('html', node => node.lang);
  expect('what was opened in Chinese is there without a network', lang === 'zh-CN', lang);
}

async function lookAround() {
  for (const theme of ['light', 'dark']) {
    for (const width of [400, 1280]) {
      await reader.open(`${live}#01_tensors/1.1`, { width, theme });
      await new Promise(resolve => setTimeout(resolve, 800));
      for (const side of ['lecture', 'desk']) {
        await reader.click(`#show-${side}`);
        const found = await reader.look();
        expect(`${width} pixels, ${theme}, ${side}: nothing to stumble over`, !found.length, found.join(' | '));
        await reader.screenshot(path.join(shots, `${side}-${width}-${theme}-${values.browser}.png`));
      }
      await reader.page.close();
    }
  }
}

/** A browser that has never been here. */
const openedBy = name => Reader.start(name, program, fs.mkdtempSync(`${profile}-other-`));
const tools = {
  get solved() { return done; }, server, reader, live, course, site, expect, exercise, openedBy, python: values.python,
  shot: name => path.join(shots, `${name}-${values.browser}.png`),
};
const others = Object.entries({ ...panels, ...mishaps, keyboard, ...languages, notebooks }).map(([name, step]) => [name, () => step(tools)]);
const STEPS = { measure, runLectures, solve, stumble, comeBack, twoTabs, ...Object.fromEntries(others), lookAround, withoutNetwork };

try {
  for (const name of values.steps ? values.steps.split(',') : Object.keys(STEPS)) await STEPS[name]();
} catch (error) {
  problems.push(error.stack);
  await reader.page?.screenshot({ path: path.join(shots, `stopped-${values.browser}.png`) }).catch(() => {});
}
const elsewhere = new Set(reader.requested.filter(address => /^https?:/.test(address) && !address.startsWith(server.address)).map(address => new URL(address).host));
if (values.list) for (const [name, bytes] of server.sent) say(`${bytes} ${name}`);
say(`${megabytes(server.sent)} MB in ${server.sent.length} answers; other hosts: ${[...elsewhere].join(', ') || 'none'}`);
problems.push(...reader.problems);
await reader.browser.close();
server.stop();
fs.rmSync(profile, { recursive: true, force: true });
console.log(problems.length ? problems.join('\n') : 'all is well');
process.exit(problems.length ? 1 : 0);

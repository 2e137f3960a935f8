// How fast kuiper is on a page of `make live` (SELF_HOSTED=--self-hosted): one line of JSON for each of what is asked for.
//
//     node live/tests/browser/pace.mjs build/site node|PROGRAM [SCRIPT [LEVEL ...]]
//
// In node, or in the browser PROGRAM: {loaded, first, next}, seconds until clang stands ready, until the first exercise in
// Cython is compiled and checked, and until the next text of it is. In a browser then what SCRIPT prints last, on each LEVEL.
import fs from 'node:fs';
import path from 'node:path';
import puppeteer from 'puppeteer-core';
import { serve } from './server.mjs';

const EXERCISE = '1.6';
const LIVE = path.resolve(import.meta.dirname, '../..');
const [site, where, script, ...levels] = process.argv.slice(2);
const folder = path.resolve(site, 'live');

/** Seconds that a call takes. */
async function seconds(call) {
  const began = performance.now();
  await call();
  return (performance.now() - began) / 1000;
}

/** How long a student waits for exercises in Cython; `ask` asks a worker that has started. */
async function compileTimes(ask) {
  const { text } = await ask('solution', { exercise: EXERCISE });
  const checked = async (more) => {
    const { status, report } = await ask('check', { exercise: EXERCISE, text: text + more });
    if (status !== 'solved') throw new Error(`${EXERCISE}: expected that its solution passes, got ${report}`);
  };
  const loaded = await seconds(() => ask('prepare'));
  const first = await seconds(() => checked(''));
  return { loaded, first, next: await seconds(() => checked('\n# another text\n')) };
}

async function inNode() {
  process.env.KUIPER_LIVE = folder;
  const { startedKernel } = await import('../kernel.js');
  const { kernel } = startedKernel();
  await kernel.start();
  console.log(JSON.stringify(await compileTimes((type, fields) => kernel.ask(type, fields))));
  kernel.end('done');
}

async function inBrowser(program) {
  const server = await serve(path.dirname(folder));
  const options = { browser: /firefox/.test(program) ? 'firefox' : 'chrome', executablePath: program, headless: true };
  const args = options.browser === 'chrome' ? ['--no-sandbox', '--disable-dev-shm-usage'] : [];
  const browser = await puppeteer.launch({ ...options, args, protocolTimeout: 600000 });
  const base = `${server.address}live/`;
  const { runtime } = JSON.parse(fs.readFileSync(path.join(folder, 'course.json'), 'utf8'));
  try {
    const page = await browser.newPage();
    await page.goto(`${base}licences.txt`);
    const classroom = fs.readFileSync(path.join(LIVE, 'classroom.js'), 'utf8');
    await page.evaluate(async (source, settings) => {
      const { Kernel } = await import(URL.createObjectURL(new Blob([source], { type: 'text/javascript' })));
      window.kernel = new Kernel(() => new Worker(new URL('worker.js', settings.base), { type: 'module' }), { settings });
      await window.kernel.start();
    }, classroom, { ...runtime, base });
    const ask = (type, fields) => page.evaluate((...words) => window.kernel.ask(...words), type, fields ?? {});
    console.log(JSON.stringify(await compileTimes(ask)));
    await page.evaluate(() => window.kernel.end('done'));
    for (const level of levels) console.log(await lastLine(page, { runtime, base, level, text: fs.readFileSync(script, 'utf8') }));
  } finally {
    await browser.close();
    server.stop();
  }
}

/** What a script prints last, in a Python of its own. */
function lastLine(page, what) {
  return page.evaluate(async ({ runtime, base, level, text }) => {
    const at = address => new URL(address, base).href;
    const { loadPyodide } = await import(at(`${runtime.pyodide}pyodide.mjs`));
    const env = { HOME: '/home/pyodide', KUIPER_ARCH: level, KUIPER_MODELS: at(runtime.models) };
    const python = await loadPyodide({ indexURL: at(runtime.pyodide), env });
    const extractDir = python.runPython("import sysconfig; sysconfig.get_path('platlib')");
    for (const wheel of runtime.wheels.start) {
      const bytes = await (await fetch(at(wheel))).arrayBuffer();
      python.unpackArchive(bytes, 'wheel', { extractDir });
    }
    const said = [];
    python.setStdout({ batched: line => said.push(line) });
    python.runPython(text);
    return said.at(-1);
  }, what);
}

await (where === 'node' ? inNode() : inBrowser(where));

// The page in another language: all that it says, a lecture, an exercise with its report and hints, and the way there and back.
import { solution } from './reader.mjs';

const CHINESE = /[\u4e00-\u9fff]/;
const MISTAKE = [/steps\.append\(step\)\n(\s+)step \*= length/, 'step *= length\n$1steps.append(step)'];
const NAMES = new Set(['kuiper', 'python', 'cython', 'numpy', 'pyodide', 'wheel', 'clang', 'numpy', 'ctrl', 'enter', 'esc', 'tab']);

/** Runs in the page before its scripts: the messages of Chinese become ⟦English⟧, with their fields outside of brackets. */
function speakInBrackets() {
  const plain = globalThis.fetch;
  globalThis.fetch = async (address, ...rest) => {
    const response = await plain(address, ...rest);
    if (!/course\.zh\.json$/.test(String(address))) return response;
    const table = await response.json();
    const said = Object.keys(table.messages).map(text => [text, text.split(/(\{\w+\})/).map((part, i) => (i % 2 || !part ? part : `⟦${part}⟧`)).join('')]);
    return new Response(JSON.stringify({ ...table, messages: Object.fromEntries(said) }));
  };
}

/** English words of the page's own texts and labels that are outside of brackets. */
function escaped(reader) {
  return reader.page.evaluate(names => {
    const foreign = '.cm-editor, pre, script, style, noscript, option, kbd, article, [translate=no]';
    const own = node => node.closest('.cell-tools') || !node.closest(foreign);
    const said = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) if (own(walker.currentNode.parentElement)) said.push(walker.currentNode.data);
    for (const node of document.querySelectorAll('[aria-label], [title], [placeholder]')) {
      if (own(node)) said.push(...['aria-label', 'title', 'placeholder'].map(name => node.getAttribute(name) ?? ''));
    }
    const words = text => text.replace(/⟦[^⟦⟧]*⟧/g, ' ').match(/[A-Za-z]{2,}[\w.]*/g) ?? [];
    return [...new Set(said.flatMap(words))].filter(word => !names.includes(word.toLowerCase()) && !/[_.\d]/.test(word));
  }, [...NAMES]);
}

const settled = () => new Promise(resolve => setTimeout(resolve, 1000));

/** Whatever the page says of its own comes from the catalogue. */
export async function words({ reader, live, expect, course }) {
  const address = `${live}?lang=zh#01_tensors/1.1`;
  await reader.open(address, { before: speakInBrackets });
  const symbols = new Set(course.exercises.flatMap(exercise => [...exercise.hints, ...`${exercise.title}`.split(/\W/)]));
  const left = async () => (await escaped(reader)).filter(word => !symbols.has(word));
  const look = async what => {
    await settled();
    const found = await left();
    expect(`no word escapes: ${what}`, !found.length, found.join(' '));
  };
  await look('the page');
  await reader.page.waitForFunction(() => !/^$/.test(document.querySelector('#python').textContent));
  await reader.click('#menu-button');
  await look('the menu');
  await reader.page.$eval('#menu', node => node.close());
  await reader.click('#map-button');
  await look('the course');
  await reader.page.$eval('#map', node => node.close());
  for (const name of ['photo', 'text']) {
    await reader.click(`#tab-${name}`);
    await look(name);
  }
  await reader.page.close();
}

/** A student who reads Chinese, and was never here: a lecture, a mistake, a hint, a solution; and English has what was written. */
export async function chinese({ reader: { name }, openedBy, live, expect, exercise, server, shot }) {
  const [before, reader] = [server.sent.length, await openedBy(name)];
  await reader.open(`${live}?lang=zh#01_tensors/1.1`);
  expect('the document is Chinese', (await reader.page.$eval('html', node => node.lang)) === 'zh-CN', '');
  await reader.run(3);
  const ran = await reader.page.$$eval('.cell.runs:not(.failed) > .cell_output.live:not([hidden])', nodes => nodes.length);
  expect('cells of a lecture in Chinese run', ran === 3, [ran, ...(await reader.failures())].join(' | '));
  for (const [what, selector] of [['the lecture', '#lecture h1'], ['the exercise', '#exercise h2'], ['its file', '#exercise .cm-content'], ['the report’s place', '.result']])
    expect(`${what} is Chinese`, CHINESE.test(await reader.text(selector)), await reader.text(selector));
  await reader.screenshot(shot('chinese-lecture'));
  const text = solution(exercise('1.1').file);
  await reader.write(text.replace(...MISTAKE));
  await reader.press('检查', '#exercise');
  await reader.reported();
  const likely = await reader.text('.result .likely').catch(() => 'none');
  expect('a mistake is named in Chinese', CHINESE.test(likely), likely);
  const next = await reader.text('.result');
  await reader.press('提示', '#exercise');
  await reader.page.waitForSelector('.result .hint');
  expect('a hint is Chinese', CHINESE.test(await reader.text('.hint > p')), await reader.text('.hint'));
  await reader.screenshot(shot('chinese-report'));
  expect('the report is for a page', !/\d solved|next: /.test(next), next);
  await reader.write(text);
  await reader.press('检查', '#exercise');
  await reader.reported();
  expect('the exercise is solved', /^完成/.test(await reader.text('.result .headline')), await reader.text('.result'));
  expect('messages come once', server.sent.slice(before).filter(([file]) => /zh\.zip/.test(file)).length === 1, '');
  await inEnglish({ reader, expect });
  expect('nothing was complained of', !reader.problems.length, reader.problems.join(' | '));
  await reader.browser.close();
}

/** The choice on the page. */
async function inEnglish({ reader, expect }) {
  const chosen = async (language, lang) => {
    await reader.page.select('#language', language);
    await reader.page.waitForFunction(wanted => document.documentElement.lang === wanted && document.querySelector('.cell.runs'), {}, lang);
    await settled();
  };
  await chosen('en', 'en');
  expect('English is one choice away', /^Check/.test(await reader.text('#exercise .primary')), await reader.text('#exercise'));
  expect('the address does not ask for Chinese any more', !reader.page.url().includes('lang='), reader.page.url());
  expect('the work is here in English', (await reader.text('#exercise .status')) === 'solved', await reader.text('#exercise .status'));
  expect('a file that was edited is no older text', !/newer text/.test(await reader.text('#notices')), await reader.text('#notices'));
  await reader.page.reload();
  await reader.page.waitForSelector('.cell.runs');
  expect('the choice is kept', (await reader.page.$eval('html', node => node.lang)) === 'en', '');
  await chosen('zh', 'zh-CN');
  expect('and back', (await reader.text('#exercise .status')) === '已完成', await reader.text('#exercise .status'));
}

/** At both widths, light and dark. */
export async function chineseAround({ reader, live, expect, shot }) {
  for (const [width, theme] of [[1280, 'light'], [400, 'light'], [1280, 'dark'], [400, 'dark']]) {
    await reader.open(`${live}?lang=zh#01_tensors/1.2`, { width, theme });
    await settled();
    for (const side of ['lecture', 'desk']) {
      await reader.click(`#show-${side}`);
      const found = await reader.look();
      expect(`Chinese, ${width} pixels, ${theme}, ${side}: nothing to stumble over`, !found.length, found.join(' | '));
      await reader.screenshot(shot(`chinese-${side}-${width}-${theme}`));
    }
    for (const name of ['menu', 'map']) {
      await reader.click(`#${name}-button`);
      await settled();
      await reader.screenshot(shot(`chinese-${name}-${width}-${theme}`));
      await reader.page.$eval(`#${name}`, node => node.close());
    }
    await reader.page.close();
  }
}

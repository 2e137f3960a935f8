// Somebody who uses the live page: opens a lecture, runs cells, writes, checks.
import fs from 'node:fs';
import path from 'node:path';
import puppeteer from 'puppeteer-core';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const PATIENCE = Number(process.env.KUIPER_PATIENCE ?? 240) * 1000; // milliseconds: a slow machine loads Python, clang and Cython
const BROWSERS = {
  chromium: { browser: 'chrome', args: ['--no-sandbox', '--disable-dev-shm-usage', '--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream'] },
  firefox: { browser: 'firefox', args: [], extraPrefsFirefox: { 'media.navigator.streams.fake': true, 'media.navigator.permission.disabled': true } },
};

/** The reference solution of an exercise's file, without its markers. */
export function solution(file) {
  const text = fs.readFileSync(path.join(ROOT, file.replace('/exercises/', '/solutions/')), 'utf8');
  return text.split('\n').filter(line => !/^\s*# (BEGIN SOLUTION(: .*)?|END SOLUTION)$/.test(line)).join('\n');
}

export class Reader {
  static async start(name, executable, profile) {
    const browser = await puppeteer.launch({ ...BROWSERS[name], executablePath: executable, headless: true, userDataDir: profile });
    return new Reader(browser, name);
  }

  constructor(browser, name) {
    this.browser = browser;
    this.name = name;
    this.problems = [];
    this.requested = [];
  }

  /** Open a page in a tab of a width, after `before` has run in it, and wait until there is something; what its scripts complain of is a problem. */
  async open(address, { width = 1280, height = 800, theme = 'light', before, until = '.cell.runs' } = {}) {
    const page = await this.browser.newPage();
    await page.setViewport({ width, height });
    if (before) await page.evaluateOnNewDocument(before);
    await page.evaluateOnNewDocument(chosen => localStorage.setItem('theme', chosen), theme);
    page.setDefaultTimeout(PATIENCE);
    page.on('pageerror', error => this.problems.push(`${address}: ${error.message}`));
    page.on('console', message => message.type() === 'error' && this.problems.push(`${address}: ${message.text()} ${message.location().url ?? ''}`));
    page.on('request', request => this.requested.push(request.url()));
    this.page = page;
    await page.goto(address);
    await page.waitForSelector(until);
    return page;
  }

  /** What was to be complained of. */
  forgive(pattern) {
    this.problems = this.problems.filter(problem => !pattern.test(problem));
  }

  click(selector) {
    return this.page.$eval(selector, node => node.click());
  }

  async press(text, within = 'body') {
    await this.page.evaluate((wanted, place) => {
      const found = [...document.querySelectorAll(`${place} button`)].find(node => node.textContent.trim().startsWith(wanted));
      if (!found) throw new Error(`no button “${wanted}” in ${place}`);
      found.click();
    }, text, within);
  }

  text(selector) {
    return this.page.$eval(selector, node => node.textContent);
  }

  /** Run a cell, by its number, or all; the outcome of each cell: "." ran, "F" failed, "-" not run. */
  async run(number) {
    if (number) await this.click(`#cell-${number} .run`);
    else await this.press('▶ Run all', '#lecture');
    await this.page.waitForFunction(() => !document.querySelector('#lecture').classList.contains('is-running'));
    return this.page.$$eval('.cell.runs', cells => cells.map(cell => {
      if (cell.classList.contains('failed')) return 'F';
      return /ran here/.test(cell.querySelector('.note').textContent) ? '.' : '-';
    }).join(''));
  }

  failures() {
    return this.page.$$eval('.cell.failed', cells => cells.map(cell => `${cell.id}: ${cell.querySelector('.live').textContent.trim().split('\n').at(-1)}`));
  }

  /** Go to an exercise; its text is in the editor then. */
  async take(id) {
    await this.page.evaluate(wanted => (location.hash = `#nowhere/${wanted}`), id);
    await this.page.waitForFunction(wanted => document.querySelector('#exercise h2').textContent.startsWith(`${wanted} `), {}, id);
  }

  /** Put a text in the place of the editor's, as a reader who pastes it. */
  async write(text) {
    await this.page.evaluate(pasted => {
      const node = document.querySelector('#exercise .cm-content');
      node.focus();
      getSelection().selectAllChildren(node);
      document.execCommand('selectAll');
      const data = new DataTransfer();
      data.setData('text/plain', pasted);
      const words = { dataType: 'text/plain', data: pasted }; // Firefox knows only these
      node.dispatchEvent(new ClipboardEvent('paste', { ...words, clipboardData: data, bubbles: true, cancelable: true }));
    }, text);
  }

  /** Check the exercise; the report's first line, and all of it. */
  async check() {
    await this.press('Check', '#exercise');
    await this.reported();
    return { headline: await this.text('.result .headline'), report: await this.text('.result') };
  }

  async reported() {
    await this.page.waitForFunction(() => {
      const line = document.querySelector('.result .headline');
      return line && !line.textContent.endsWith('…') && !document.querySelector('#exercise').classList.contains('is-running');
    });
  }

  /** Drop a file of the site's on a part of the page. */
  drop(selector, address) {
    return this.page.evaluate(async (place, from) => {
      const blob = await (await fetch(from)).blob();
      const data = new DataTransfer();
      data.items.add(new File([blob], from.split('/').pop(), { type: blob.type }));
      document.querySelector(place).dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
      await new Promise(resolve => setTimeout(resolve, 1000)); // the picture is read
    }, selector, address);
  }

  /** Ask the networks something of the photo; their answer. */
  async answer(question) {
    await this.press(question, '#photo');
    await this.page.waitForFunction(() => /./.test(document.querySelector('#photo .answer').textContent) && !document.querySelector('#photo').classList.contains('is-running'));
    return this.text('#photo .answer');
  }

  /** The bytes of the zip of all work. */
  async takeHome() {
    await this.page.evaluate(() => {
      const make = URL.createObjectURL;
      URL.createObjectURL = blob => {
        globalThis.handedOut = blob;
        return make.call(URL, blob);
      };
    });
    await this.click('#menu-button');
    await this.press('Take it home', '#menu');
    await this.page.waitForFunction(() => globalThis.handedOut);
    const text = await this.page.evaluate(async () => {
      const bytes = new Uint8Array(await globalThis.handedOut.arrayBuffer());
      return btoa(Array.from(bytes, byte => String.fromCharCode(byte)).join(''));
    });
    return Buffer.from(text, 'base64');
  }

  /** Bring such a zip back: a file that the reader chooses. */
  async bringBack(file) {
    await this.click('#menu-button');
    const asked = this.page.waitForFileChooser();
    await this.press('Bring it back', '#menu');
    await (await asked).accept([file]);
    await this.page.waitForFunction(() => /files are here again|nothing that is not here|not taken/.test(document.querySelector('#notices').textContent));
  }

  /** What a reader stumbles over: what is wider than the window, and buttons without a name. */
  async look() {
    return this.page.evaluate(() => {
      const found = [];
      if (document.documentElement.scrollWidth > innerWidth) found.push(`the page is ${document.documentElement.scrollWidth - innerWidth} pixels too wide`);
      for (const node of document.querySelectorAll('button, select, input, [role=tab]')) {
        const name = node.getAttribute('aria-label') || node.textContent || node.closest('label')?.textContent;
        if (!name?.trim()) found.push(`no name: ${node.outerHTML.slice(0, 90)}`);
      }
      return found;
    });
  }

  screenshot(file) {
    return this.page.screenshot({ path: file });
  }
}

// What stands on the desk beside the exercise: a photo, the camera, a page of kuiper explore, a text, and the way home.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const BEHIND = { polling: 300 }; // milliseconds: a page behind another one draws no frames

/** Photos are dropped, taken from the bundle, and taken with the camera; networks say what is on them. */
export async function photo({ reader, live, expect, shot }) {
  await reader.open(`${live}#05a_photos_in_names_out/photo`);
  await reader.drop('#photo', 'photos/cat.jpg');
  const named = await reader.answer('What is it?');
  expect('a photo that is dropped is classified', /^cat/.test(named), named);
  await reader.screenshot(shot('photo'));
  await explored({ reader, expect, shot });
  await reader.drop('#photo', 'photos/digits.png');
  const found = await reader.answer('Where are digits?');
  expect('digits are found on a photo', /^\d+ found: (\d ?)+$/.test(found), found);
  await reader.screenshot(shot('digits'));
  await reader.drop('#photo', 'licences.txt');
  await reader.page.waitForSelector('#photo .failing');
  expect('a file that is no picture is one sentence', /no picture/.test(await reader.text('#photo .answer')), await reader.text('#photo .answer'));
  await reader.press('Camera', '#photo');
  await reader.page.waitForFunction(() => document.querySelector('#photo video')?.videoWidth > 0 || /camera/.test(document.querySelector('#photo .answer').textContent));
  await reader.press('Take it', '#photo');
  const seen = await reader.answer('What is it?');
  expect('a picture of the camera is classified', /\d %/.test(seen), seen);
}

async function explored({ reader, expect, shot }) {
  const { page, browser } = reader;
  const button = await page.waitForSelector('#photo .actions button::-p-text(See how it works inside)');
  const opened = new Promise(resolve => browser.once('targetcreated', resolve));
  await button.click(); // a reader's own click: only that may open a tab
  const target = await opened;
  await page.waitForFunction(() => /network at work|failing/.test(document.querySelector('#photo .answer').innerHTML), BEHIND);
  const tab = await target.page();
  await tab.waitForFunction(() => /explore$/.test(document.title) && document.querySelector('canvas, svg, img'));
  expect('kuiper explore shows the network at work', /cifar_resnet20/.test(await tab.title()), await tab.title());
  await tab.screenshot({ path: shot('explore') });
  await tab.close();
  await page.bringToFront();
}

/** A language model's text grows while it is written, and can be stopped. */
export async function text({ reader, live, expect, shot }) {
  await reader.open(`${live}#05e_a_language_model/text`);
  await reader.press('Write', '#text');
  const lengths = [];
  await reader.page.waitForFunction(() => document.querySelector('.paper').textContent.length > 20);
  for (let i = 0; i < 200 && (await reader.text('#text .primary')) === 'Stop'; i += 1) {
    lengths.push((await reader.text('.paper')).length);
    await new Promise(resolve => setTimeout(resolve, 100));
  }
  expect('a text is shown as it is written', new Set(lengths).size > 3, lengths.join(' '));
  expect('it is a play', /ROMEO:/.test(await reader.text('.paper')), await reader.text('.paper'));
  await reader.screenshot(shot('text'));
}

/** The zip is a folder of kuiper's, with the same progress; an empty browser takes it back. */
export async function home({ reader, live, expect, python, course, solved, openedBy }) {
  await reader.open(`${live}#01_tensors/1.3`);
  await reader.write('# begun, and not yet checked\n');
  const bytes = await reader.takeHome();
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'kuiper-home-'));
  const zip = path.join(folder, 'home.zip');
  fs.writeFileSync(zip, bytes);
  if (python) {
    const say = words => execFileSync(python, words, { cwd: path.join(folder, 'kuiper-course'), encoding: 'utf8', env: { ...process.env, COLUMNS: '120' } });
    execFileSync(python, ['-m', 'zipfile', '-e', zip, folder]);
    const table = JSON.parse(say(['-m', 'kuiper', 'progress', '--json']));
    const there = JSON.stringify(table.filter(({ status }) => status === 'solved').map(({ id }) => id));
    expect('at home the same exercises are solved', there === JSON.stringify(solved), there);
    const report = say(['-m', 'pytest', '-q', 'course1_tensor', '--exercise', solved[0]]);
    expect('at home their tests pass', / passed/.test(report) && !/ failed/.test(report), report);
  }
  const other = await openedBy(reader.name);
  await other.open(`${live}#01_tensors/1.3`);
  await other.bringBack(zip);
  await other.page.waitForFunction(wanted => document.querySelector('#solved').textContent.startsWith(`${wanted} of`), {}, solved.length);
  expect('an empty browser takes the zip', (await other.text('#exercise .cm-content')).includes('begun, and not yet checked'), await other.text('#exercise'));
  expect('the bar counts all exercises', (await other.text('#solved')).includes(`of ${course.exercises.length}`), await other.text('#solved'));
  await other.browser.close();
  fs.rmSync(folder, { recursive: true, force: true });
}

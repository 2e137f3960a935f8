// Somebody without a mouse: from the top of the page through a lecture and an exercise, with keys alone.
import { solution } from './reader.mjs';

const MOST_STEPS = 150; // keys until something must have been reached

/** What has the focus: its name, and why it cannot be seen, or "". */
function focused() {
  const node = document.activeElement;
  const name = node.id || node.getAttribute('aria-label') || node.textContent.trim().slice(0, 40) || node.tagName;
  const shown = node.closest('.cm-focused') ?? node;
  const { outlineStyle, outlineWidth, opacity } = getComputedStyle(shown);
  const box = node.getBoundingClientRect();
  const isMarked = (outlineStyle !== 'none' && parseFloat(outlineWidth) > 0) || node.id === 'divider';
  const isInSight = box.width > 0 && box.height > 0 && box.bottom > 0 && box.right > 0 && box.top < innerHeight && box.left < innerWidth;
  if (node === document.body) return { name, hidden: 'the focus is nowhere' };
  if (!isInSight) return { name, hidden: 'out of sight' };
  return { name, hidden: isMarked && opacity !== '0' ? '' : 'not marked' };
}

/** Press Tab until an element has the focus; the names of what had it on the way. */
async function go(reader, expect, selector) {
  const { page } = reader;
  const way = [];
  const unseen = [];
  for (let i = 0; i < MOST_STEPS; i += 1) {
    await page.keyboard.press('Tab');
    await new Promise(resolve => setTimeout(resolve, 30)); // it scrolls
    const { name, hidden } = await page.evaluate(focused);
    way.push(name);
    if (hidden) unseen.push(`${name}: ${hidden}`);
    if (!(await has(reader, selector))) continue;
    if (unseen.length) expect(`the focus can be seen on the way to ${selector}`, false, unseen.join(', '));
    return way;
  }
  throw new Error(`${MOST_STEPS} times Tab did not lead to ${selector}: ${way.join(', ')}`);
}

/** What has the focus, in words. */
const where = async reader => Object.values(await reader.page.evaluate(focused)).join(': ');

/** Whether an element has the focus now. */
const has = (reader, selector) => reader.page.evaluate(wanted => document.activeElement.matches(wanted), selector);

export async function keyboard({ reader, live, expect, exercise }) {
  const page = await reader.open(`${live}#02a_model_files/1.1`);
  const { keyboard: keys } = page;
  await go(reader, expect, 'a.skip');
  await keys.press('Enter');
  expect('the skip link leads to the desk', await has(reader, '#desk'), await where(reader));
  expect('and leaves lecture and exercise as they are', /^1\.1 /.test(await reader.text('#exercise h2')) && (await page.$eval('#lectures', node => node.value)) === '02a_model_files', page.url());
  await atTheTop(reader, expect);
  await aCell(reader, expect);
  await anExercise(reader, expect, solution(exercise('1.1').file));
  await page.close();
}

async function atTheTop(reader, expect) {
  const { page } = reader;
  const { keyboard: keys } = page;
  for (const [opener, dialog] of [['map-button', 'map'], ['menu-button', 'menu']]) {
    await page.focus(`#${opener}`);
    await keys.press('Enter');
    await page.waitForSelector(`#${dialog}[open]`);
    await go(reader, expect, `#${dialog} button:not(.close)`);
    await keys.press('Escape');
    await page.waitForSelector(`#${dialog}:not([open])`);
    expect(`Escape closes #${dialog}, and the focus is where it was`, await has(reader, `#${opener}`), await where(reader));
  }
  await page.focus('#map-button');
  await keys.press('Enter');
  await go(reader, expect, '#map button[aria-label^="1.2 "]');
  await keys.press('Enter');
  await page.waitForFunction(() => document.querySelector('#exercise h2').textContent.startsWith('1.2 '));
  expect('an exercise of the map is taken, and the focus goes there', await has(reader, '#desk'), await where(reader));
}

async function aCell(reader, expect) {
  const { page } = reader;
  const { keyboard: keys } = page;
  await page.focus('#menu-button');
  const way = await go(reader, expect, '#cell-1 .run');
  expect('few keys lead to the first cell', way.length <= 40, way.join(', '));
  await keys.press('Enter');
  await page.waitForFunction(() => /ran here/.test(document.querySelector('#cell-1 .note').textContent));
  expect('Enter runs a cell', await has(reader, '#cell-1 .run'), await where(reader));
  await go(reader, expect, '#cell-1 .edit');
  await keys.press('Enter');
  expect('Enter edits it', await has(reader, '#cell-1 .cm-content'), await where(reader));
  await keys.down('Control');
  await keys.press('End');
  await keys.up('Control');
  await keys.type('\nprint("by keys")');
  await keys.down('Control');
  await keys.press('Enter');
  await keys.up('Control');
  await page.waitForFunction(() => /by keys/.test(document.querySelector('#cell-1 .live').textContent));
  await keys.press('Escape');
  await keys.press('Tab');
  expect('Escape, then Tab, leaves the editor of a cell', !(await has(reader, '.cm-content')), await where(reader));
}

async function anExercise(reader, expect, text) {
  const { page } = reader;
  const { keyboard: keys } = page;
  await reader.take('1.1');
  await page.focus('#divider');
  const before = await page.$eval('#divider', node => node.getAttribute('aria-valuenow'));
  await keys.press('ArrowLeft');
  expect('arrows move the line', before !== (await page.$eval('#divider', node => node.getAttribute('aria-valuenow'))), before);
  await go(reader, expect, '#tab-exercise');
  await keys.press('ArrowRight');
  await page.waitForSelector('#tab-photo[aria-selected="true"]');
  expect('arrows change the tab', await has(reader, '#tab-photo'), await where(reader));
  await keys.press('ArrowLeft');
  await page.waitForSelector('#tab-exercise[aria-selected="true"]');
  await go(reader, expect, '#exercise .cm-content');
  await reader.write(text);
  await keys.press('Escape');
  await go(reader, expect, '#exercise .actions button:nth-of-type(2)');
  await keys.press('Enter');
  await page.waitForSelector('.hint h3');
  const rung = await reader.text('.hint h3'); // the first, unless an earlier step has asked
  await go(reader, expect, '.hint .again button');
  await keys.press('Enter');
  await page.waitForFunction(before => document.querySelector('.hint h3').textContent !== before, {}, rung);
  expect('the focus stays with a hint that has told more', await has(reader, '.hint, .hint *'), await where(reader));
  await page.focus('#exercise .cm-content');
  await keys.down('Control');
  await keys.press('Enter');
  await keys.up('Control');
  await reader.reported();
  expect('Control and Enter check the exercise', /^Solved/.test(await reader.text('.result .headline')), await reader.text('.result'));
  await keys.press('Escape');
  await go(reader, expect, '.result .primary');
  await keys.press('Enter');
  await page.waitForFunction(() => document.querySelector('#exercise h2').textContent.startsWith('1.2 '));
  expect('the next exercise is taken, and the focus goes there', await has(reader, '#desk'), await where(reader));
}

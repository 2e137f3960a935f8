// JupyterLite beside the live page: lectures run there as notebooks, in each language, in a course folder of one's own.
import fs from 'node:fs';
import path from 'node:path';
import { solution } from './reader.mjs';

const LECTURE = '01_tensors';
const CHINESE = /[\u4e00-\u9fff]/;
const PAGE = '.jp-Notebook .jp-CodeCell';

/** Run all cells of the notebook in front: for each cell with code "." if it ran, "F" if it failed, "-" if it was not run. */
function ranAll(reader) {
  return reader.page.evaluate(async () => {
    const { commands, shell } = globalThis.jupyterapp;
    const { content, sessionContext } = shell.currentWidget;
    await sessionContext.ready;
    const cells = content.widgets.filter(cell => cell.model.type === 'code');
    for (const cell of cells) cell.model.clearExecution();
    await commands.execute('notebook:run-all-cells');
    const has = (cell, type) => cell.model.outputs.toJSON().some(output => output.output_type === type);
    return cells.map(cell => (has(cell, 'error') ? 'F' : cell.model.executionCount ? '.' : '-')).join('');
  });
}

/** What lines of Python print in the kernel of the notebook in front. */
function said(reader, code) {
  return reader.page.evaluate(async text => {
    const { sessionContext } = globalThis.jupyterapp.shell.currentWidget;
    await sessionContext.ready;
    const future = sessionContext.session.kernel.requestExecute({ code: text });
    let all = '';
    future.onIOPub = ({ content }) => (all += content.text ?? content.traceback?.join('\n') ?? '');
    await future.done;
    return all;
  }, code);
}

export async function notebooks({ reader, server, site, course, expect, shot }) {
  const exercise = course.exercises[0];
  const solved = new RegExp(`\\b1/${course.exercises.filter(item => item.course === exercise.course).length}\\b`);
  for (const language of fs.readdirSync(path.join(site, 'lab')).filter(name => fs.existsSync(path.join(site, 'lab', name, 'lab')))) {
    const began = performance.now();
    await reader.open(`${server.address}lab/${language}/lab/index.html?path=notebooks/${LECTURE}.ipynb`, { until: PAGE });
    await reader.page.waitForFunction(() => globalThis.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel?.info);
    const first = await said(reader, 'import kuiper\nprint(kuiper.__version__, kuiper.__file__)');
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    expect(`kuiper in a notebook, in ${language}, after ${seconds} s`, /site-packages/.test(first), first);
    const cells = await ranAll(reader);
    expect(`notebook ${language}/${LECTURE}: ${cells}`, /^\.+$/.test(cells), cells);
    await reader.screenshot(shot(`notebook-${language}`));
    const place = `/drive/${exercise.file}`;
    const text = JSON.stringify(solution(exercise.file));
    const check = `from pathlib import Path\nPath("${place}").write_text(${text})\nfrom kuiper.course.lecture import terminal\nterminal("kuiper check ${exercise.id}")`;
    const report = await said(reader, check);
    expect(`exercise ${exercise.id} is checked in a notebook, in ${language}`, solved.test(report) && CHINESE.test(report) === (language === 'zh'), report);
    await reader.page.close();
  }
  reader.forgive(/favicon\.ico|api\/contents|Failed to update the table of contents/); // JupyterLite's own
}

// Pyodide in node, without a network.
//
//   node python.mjs [--wheels FOLDER ...] [--mount FOLDER=PLACE ...] [--set NAME=VALUE ...] --run SCRIPT [ARGUMENT ...]
//
// SCRIPT is run with the wheels of all FOLDERs installed; the process ends with its status. KUIPER_PYODIDE is the folder of
// npm's package pyodide.
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const options = { wheels: [], mount: [], set: [] };
const words = process.argv.slice(2);
while (words.length && words[0] !== "--run") options[words.shift().replace("--", "")].push(words.shift());
const [, script, ...rest] = words;

const runtime = process.env.KUIPER_PYODIDE;
const { loadPyodide } = await import(pathToFileURL(path.join(runtime, "pyodide.mjs")));
const environment = Object.fromEntries(options.set.map((word) => word.split(/=(.*)/s, 2)));
const python = await loadPyodide({ indexURL: runtime, env: { HOME: "/home/pyodide", ...environment } });
const extractDir = python.runPython("import sysconfig; sysconfig.get_path('platlib')");
for (const folder of options.wheels)
  for (const name of fs.readdirSync(folder).filter((name) => name.endsWith(".whl")))
    python.unpackArchive(new Uint8Array(fs.readFileSync(path.join(folder, name))), "wheel", { extractDir });
for (const word of options.mount) {
  const [folder, place] = word.split("=");
  python.mountNodeFS(place, path.resolve(folder));
}
python.globals.set("_words", python.toPy([script, ...rest]));
python.globals.set("_text", fs.readFileSync(script, "utf8"));
try {
  python.runPython(`
import sys
sys.argv = list(_words)
exec(compile(_text, _words[0], "exec"), {"__name__": "__main__", "__file__": _words[0]})
`);
  process.exitCode = 0;
} catch (error) {
  const status = /SystemExit: (\d+)\s*$/.exec(error.message);
  if (!status) console.error(error.message);
  process.exitCode = status ? Number(status[1]) : 1;
}

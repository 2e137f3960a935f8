// What modules import that the runtime does not have: loading such a module is no error, but the first call of the missing
// name ends the interpreter.
//
//   node imports.mjs FILE.so ...      prints FILE: NAME ... for each that wants more than there is; the status is then 1
//
// KUIPER_PYODIDE is the folder of npm's package pyodide.
import fs from "node:fs";
import path from "node:path";

// What the loader itself hands to each module.
const LINKAGE = ["memory", "__indirect_function_table", "__stack_pointer", "__memory_base", "__table_base"];

const runtime = process.env.KUIPER_PYODIDE;
const main = new WebAssembly.Module(fs.readFileSync(path.join(runtime, "pyodide.asm.wasm")));
const script = fs.readFileSync(path.join(runtime, "pyodide.asm.mjs"), "utf8");
const table = script.lastIndexOf("wasmImports=");
if (table < 0) throw new Error("imports.mjs: expected the table wasmImports in pyodide.asm.mjs, got none");
const functions = [...script.slice(table).matchAll(/[,{]([A-Za-z_]\w*)(?=[,:}])/g)].map((found) => found[1]);
const known = new Set([...LINKAGE, ...WebAssembly.Module.exports(main).map((entry) => entry.name), ...functions]);

for (const file of process.argv.slice(2)) {
  const module = new WebAssembly.Module(fs.readFileSync(file));
  const own = new Set(WebAssembly.Module.exports(module).map((entry) => entry.name));
  const missing = WebAssembly.Module.imports(module).map((entry) => entry.name).filter((name) => !known.has(name) && !own.has(name));
  if (missing.length) {
    console.log(`${file}: ${missing.join(" ")}`);
    process.exitCode = 1;
  }
}

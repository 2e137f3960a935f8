// Python as it stands after its start, kept in the browser: the next start copies it into memory and executes nothing.

import {forget, keep, kept} from "./platform.js";

const ENVIRONMENT = {HOME: "/home/pyodide"};
const MODULES = ["argparse", "ctypes", "decimal", "difflib", "email", "fractions", "gettext", "hashlib", "html", "importlib.metadata", "pickle",
    "pkgutil", "platform", "queue", "runpy", "shlex", "statistics", "symtable", "sysconfig", "tomllib", "zipfile"]; // what kuiper will import

// No compiled library of a package may be loaded in a snapshot: it would be missing in the next start.
const BEFORE = `import ${MODULES.join(", ")}`;
// Two starts from one snapshot would draw the same numbers, and each start puts "" in front of the path.
const AFTER = `
import random, sys
random.seed()
del sys.path[0]
del random, sys
`;

/**
 * Pyodide, from the snapshot that an earlier start has left, else from the beginning; then a snapshot is kept for the next.
 * @param loadPyodide of pyodide.mjs
 * @param folder the address of Pyodide's folder, which changes with its content
 * @param options what loadPyodide gets besides
 */
export async function startPython(loadPyodide, folder, options) {
    const place = new URL(`snapshot.gz?${MODULES}`, folder); // what a snapshot holds is a part of its address
    try {
        const snapshot = await kept(place);
        if (snapshot) {
            const python = await loadPyodide({...options, env: ENVIRONMENT, _loadSnapshot: snapshot});
            python.runPython(AFTER);
            return python;
        }
    } catch (error) { // cut off, or of another build of Pyodide
        console.info(`Python starts from the beginning: ${error.message}`);
        await forget(place);
    }
    const python = await loadPyodide({...options, env: ENVIRONMENT, _makeSnapshot: true});
    python.runPython(BEFORE);
    keep(place, python.makeMemorySnapshot()).catch((error) => console.info(`the start of Python is not kept: ${error.message}`));
    return python;
}

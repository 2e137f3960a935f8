// Put bytecode beside the modules of wheels, so that no tab has to compile them: run by docs/site/live_bytecode.py.
//
//     node live/precompile.mjs MADE < JSON      {wheel, files: [...], keep: true}
//
// By the Python that the page runs. Bytecode is never compared with its source, which comes in the same wheel; without
// `keep` it takes the place of the source, as Python allows.
import fs from 'node:fs';
import { loadPyodide } from 'pyodide';

const PRECOMPILE = `
import importlib.util, io, marshal, zipfile

def precompiled(data, wanted, keep):
    made, wanted = io.BytesIO(), set(wanted)
    with zipfile.ZipFile(io.BytesIO(data)) as wheel, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as target:
        for entry in wheel.infolist():
            content = wheel.read(entry)
            if keep or entry.filename not in wanted:
                target.writestr(entry, content, zipfile.ZIP_DEFLATED, 9)
            if entry.filename in wanted:
                code = compile(content, entry.filename, "exec", dont_inherit=True, optimize=0)
                unchecked = (1).to_bytes(4, "little") + importlib.util.source_hash(content)
                name = importlib.util.cache_from_source(entry.filename) if keep else f"{entry.filename}c"
                data = importlib.util.MAGIC_NUMBER + unchecked + marshal.dumps(code)
                target.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED, 9)
    return made.getvalue()

precompiled
`;

const [target] = process.argv.slice(2);
const {wheel, files, keep} = JSON.parse(fs.readFileSync(0, 'utf8'));
const python = await loadPyodide();
const precompiled = python.runPython(PRECOMPILE);
fs.writeFileSync(target, precompiled(python.toPy(new Uint8Array(fs.readFileSync(wheel))), python.toPy(files), keep).toJs());

// clang and wasm-ld in this worker: C files and flags in, the bytes of a module of Python out. Loaded once, then plain calls.

import {fetchBytes} from "./platform.js";

// There are no threads; and where relaxed instructions are allowed, this clang makes one that may lose a NaN of `x < low ? low : x`.
const LEFT_OUT = /^-(?:fopenmp|mrelaxed-simd)/;
const HEADERS = "headers"; // the folder that clang sees them in

/** Load clang from a folder that packaging/wasm/clang_folder.py made; `onLoading({what, loaded, total})` is told of bytes. */
export async function loadClang(base, onLoading) {
    const fetched = (name) => fetchBytes(new URL(name, base), (loaded, total) => onLoading({what: "clang", loaded, total}));
    globalThis.fetchForClang = async (url) => decompressed(await fetched(url.pathname.split("/").pop() + ".gz"), url);
    const {commands} = await import(new URL("bundle.js", base).href);
    const target = JSON.parse(new TextDecoder().decode(await fetched("target.json")));
    const quiet = {stdout: () => {}, fetchProgress: () => {}};
    await commands.clang(["--version"], {}, quiet);
    let version = "";
    commands.clang(["--version"], {}, {synchronously: true, stdout: (bytes) => { version += text(bytes); }});
    return new Clang(commands, target, /clang version \S+/.exec(version)?.[0] ?? "clang");
}

function decompressed(bytes, url) {
    const type = url.pathname.endsWith(".wasm") ? "application/wasm" : "application/octet-stream";
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream, {headers: {"content-type": type}});
}

class Clang {
    constructor(commands, target, version) {
        this.commands = commands;
        this.target = target; // as Pyodide's own modules are made; what a build of kuiper adds (SIMD, optimisation) comes with a call
        this.version = `${version}, in WebAssembly`;
        this.search = target.folders.flatMap((folder) => ["-isystem", `/${HEADERS}/${folder}`]);
        this.tree = asTree(target.files);
    }

    /** The module `name` as a Uint8Array, or what the compiler says against it. `files` has texts by name. */
    compile(files, flags, name) {
        let said = "";
        const options = {synchronously: true, stdout: null, stderr: (bytes) => { said += text(bytes); }};
        try {
            const objects = {};
            for (const file of Object.keys(files).filter((each) => each.endsWith(".c"))) {
                const made = `${file}.o`;
                const words = [...this.target.compile, ...flags.filter((flag) => !LEFT_OUT.test(flag)), ...this.search, "-I/", "-c", `/${file}`, "-o", made];
                objects[made] = this.commands.clang(words, {...asTree(files), [HEADERS]: this.tree}, options)[made];
            }
            const exported = [`PyInit_${name}`, "kuiper_guarded"].map((each) => `--export-if-defined=${each}`);
            const words = [...this.target.link, ...exported, ...Object.keys(objects), "-o", "module.so"];
            return this.commands["wasm-ld"](words, objects, options)["module.so"];
        } catch (error) {
            return said || `clang: ${error.message ?? error}`;
        }
    }
}

function asTree(files) {
    const tree = {};
    for (const [path, content] of Object.entries(files)) {
        const parts = path.split("/");
        const folder = parts.slice(0, -1).reduce((above, part) => (above[part] ??= {}), tree);
        folder[parts.at(-1)] = content;
    }
    return tree;
}

function text(bytes) {
    return bytes ? new TextDecoder().decode(bytes) : "";
}

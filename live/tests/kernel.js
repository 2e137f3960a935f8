// A kernel in node: the worker of the page in a thread. Where the runtime lies is said by KUIPER_LIVE, a folder with
//   node_modules/pyodide, wheels/*.whl (kuiper's, NumPy's, Pillow's and the pure ones), and clang/ (packaging/wasm/clang_folder.py).

import {existsSync, readdirSync} from "node:fs";
import {resolve} from "node:path";
import {pathToFileURL} from "node:url";
import {Worker} from "node:worker_threads";
import {Kernel} from "../classroom.js";

export const HOME = process.env.KUIPER_LIVE ?? "";
export const SKIP = HOME && existsSync(resolve(HOME, "node_modules", "pyodide")) ? false : "KUIPER_LIVE names no folder with Pyodide";

const TESTS = ["pytest", "iniconfig", "pluggy", "packaging", "hypothesis", "sortedcontainers"];

export function settings() {
    const wheels = readdirSync(resolve(HOME, "wheels")).filter((name) => name.endsWith(".whl") && !name.startsWith("setuptools"));
    const stage = (name) => name.startsWith("cython-") ? "compile" : TESTS.includes(name.split("-")[0]) ? "tests" : "start";
    const found = {start: [], tests: [], compile: []};
    for (const name of wheels)
        found[stage(name)].push(`wheels/${name}`);
    return {pyodide: "node_modules/pyodide/", wheels: found, clang: "clang/", base: `${pathToFileURL(resolve(HOME)).href}/`};
}

/** A browser's Worker, as far as the page uses it. */
class ThreadWorker {
    constructor() {
        this.thread = new Worker(new URL("../worker.js", import.meta.url));
        this.thread.on("message", (data) => this.onmessage({data}));
        this.thread.on("error", (error) => this.onerror(error));
    }

    postMessage(message) { this.thread.postMessage(message); }
    terminate() { this.thread.terminate(); }
}

/** A kernel, and the files that a page would have kept. */
export function startedKernel(files = {}) {
    const kept = {...files}, ended = [];
    const onEvent = (event) => {
        if (event.event === "files") {
            Object.assign(kept, event.changed);
            event.removed.forEach((name) => delete kept[name]);
        } else {
            ended.push(event);
        }
    };
    const kernel = new Kernel(() => new ThreadWorker(), {settings: settings(), files: () => kept, onEvent});
    return {kernel, kept, ended};
}

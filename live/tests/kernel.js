// A kernel in node: the worker of the page in a thread. KUIPER_LIVE is the folder of the page, build/site/live of `make live` with
// SELF_HOSTED=--self-hosted: Python, wheels, models and clang are what the page gets.

import {readFileSync} from "node:fs";
import {resolve} from "node:path";
import {pathToFileURL} from "node:url";
import {Worker} from "node:worker_threads";
import {Kernel} from "../classroom.js";
import {tableOf} from "../page/language.js";

const PAGE = process.env.KUIPER_LIVE;
export const SKIP = PAGE ? false : "KUIPER_LIVE names no page of make live";

function settings(language) {
    const {runtime} = JSON.parse(readFileSync(resolve(PAGE, tableOf(language)), "utf8"));
    if (/^https?:/.test(runtime.pyodide))
        throw new Error(`KUIPER_LIVE: expected a page with its own Python (SELF_HOSTED=--self-hosted), got one that has it from ${runtime.pyodide}`);
    return {...runtime, language, base: `${pathToFileURL(resolve(PAGE)).href}/`};
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
export function startedKernel(files = {}, language = "en") {
    const kept = {...files}, ended = [];
    const onEvent = (event) => {
        if (event.event === "files") {
            Object.assign(kept, event.changed);
            event.removed.forEach((name) => delete kept[name]);
        } else {
            ended.push(event);
        }
    };
    const kernel = new Kernel(() => new ThreadWorker(), {settings: settings(language), files: () => kept, onEvent});
    return {kernel, kept, ended};
}

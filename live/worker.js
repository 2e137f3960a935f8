// A worker of the page: one Pyodide, one course folder. It answers what live/PROTOCOL.md lists, one request after the other.

import {loadClang} from "./clang.js";
import {fetchBytes, thisPort} from "./platform.js";
import {startPython} from "./snapshot.js";

const FOLDER = "/home/pyodide/course";
const MODELS = "/models"; // where Python sees those of node
const STAGES = ["start", "tests", "compile"];

const port = await thisPort();
let turn = Promise.resolve();
let kernel = null;

port.listen((message) => { turn = turn.then(() => answer(message)); });
port.post({event: "ready"});

async function answer({id, type, ...fields}) {
    const emit = (event) => port.post({id, ...event});
    try {
        if (type === "start")
            kernel = await Kernel.started(fields, emit);
        else if (kernel === null)
            throw new Error(`${type}: expected that "start" comes first`);
        emit({event: "done", value: type === "start" ? kernel.about() : await kernel.answer(type, fields, emit)});
    } catch (error) {
        emit({event: "failed", ...failure(error, type)});
    }
}

/** What went wrong, in one sentence; `kind` as in PROTOCOL.md. */
function failure(error, type) {
    const text = String(error?.message ?? error);
    if (type === "start")
        return {kind: "start", message: lastError(text)};
    if (error?.pyodide_fatal_error || error instanceof WebAssembly.RuntimeError || error instanceof RangeError || error?.name === "PyodideFatalError")
        return {kind: "crash", message: text.split("\n")[0]};
    return {kind: "failed", message: lastError(text)};
}

/** Of a traceback, what the error says; Pyodide adds advice for programmers below it. */
function lastError(text) {
    const found = [...text.matchAll(/^(?:\w+\.)*\w*(?:Error|Exception|Interrupt|Exit): (.*)$/gm)].at(-1);
    return found ? found[1] : text.trim().split("\n").at(-1);
}

class Kernel {
    constructor(python, settings) {
        this.python = python;
        this.settings = settings;
        this.emit = () => {};
        this.clang = null;
        this.drawing = [...(settings.drawing ?? [])];
        // What C code prints goes past sys.stdout.
        for (const stream of ["stdout", "stderr"]) {
            const batched = (text) => this.emit({event: "output", stream, text: `${text}\n`});
            python[stream === "stdout" ? "setStdout" : "setStderr"]({batched});
        }
        python.setStdin({stdin: () => null});
        this.packages = python.pyimport("sysconfig").get_path("purelib");
    }

    static async started({settings, files}, emit) {
        const at = (address) => new URL(address, settings.base);
        const {loadPyodide} = await import(new URL("pyodide.mjs", at(settings.pyodide)).href);
        const wheels = settings.wheels ?? [];
        const stages = Array.isArray(wheels) ? {start: [...wheels]} : {...wheels};
        const fetched = fetchedWheels(stages.start ?? [], settings.base, emit); // on their way while Python starts
        const [words] = fetchedWheels(settings.words ? [settings.words] : [], settings.base, emit);
        emit({event: "loading", what: "python", loaded: 0, total: 0});
        const lock = settings.lock ? {lockFileURL: at(settings.lock).href} : {};
        const models = settings.models ? at(settings.models) : null;
        const python = await startPython(loadPyodide, at(settings.pyodide), {indexURL: place(at(settings.pyodide)), ...lock});
        const isFile = models?.protocol === "file:"; // node has no request that could be waited for
        if (isFile)
            python.mountNodeFS(MODELS, place(models));
        if (models)
            python.pyimport("os").environ.set("KUIPER_MODELS", isFile ? MODELS : models.href);
        const made = new Kernel(python, settings);
        await made.fetchPackages(settings.packages ?? [], emit);
        made.wheels = {...stages, start: []};
        await made.unpack(fetched);
        if (words)
            python.unpackArchive(await words, "zip", {extractDir: made.packages});
        python.pyimport("os").environ.set("KUIPER_LANG", settings.language ?? "en");
        const Tab = python.pyimport("kuiper.tab.requests").Tab;
        made.tab = Tab(FOLDER, python.toPy(files ?? {}), (event) => made.emit(asObject(event)));
        return made;
    }

    about() {
        return taken(this.tab.about());
    }

    async answer(type, fields, emit) {
        const asked = this.python.toPy(fields);
        try {
            if (this.tab.tests(type, asked))
                await this.load("tests", emit);
            if (this.tab.draws(type, asked))
                await this.fetchPackages(this.drawing.splice(0), emit);
            if (this.settings.clang && this.tab.compiles(type, asked))
                await this.prepare(emit);
            this.emit = emit;
            return taken(this.tab.answer(type, asked));
        } finally {
            this.emit = () => {};
            asked.destroy();
        }
    }

    /** Load packages of Pyodide's own distribution. */
    async fetchPackages(names, emit) {
        if (!names.length)
            return;
        emit({event: "loading", what: names.join(", "), loaded: 0, total: 0});
        await this.python.loadPackage(names, {messageCallback: () => {}, errorCallback: () => {}});
    }

    /** Unpack the wheels of a stage, once. */
    async load(stage, emit) {
        const wheels = this.wheels[stage] ?? [];
        this.wheels[stage] = [];
        await this.unpack(fetchedWheels(wheels, this.settings.base, emit));
    }

    async unpack(wheels) {
        for (const wheel of wheels)
            this.python.unpackArchive(await wheel, "wheel", {extractDir: this.packages});
        if (wheels.length)
            this.python.pyimport("importlib").invalidate_caches();
    }

    /** Let Cython and clang stand ready: a compiler cannot be waited for in the middle of a call. */
    async prepare(emit) {
        for (const stage of STAGES)
            await this.load(stage, emit);
        if (this.clang !== null)
            return;
        this.clang = await loadClang(new URL(this.settings.clang, this.settings.base), (event) => emit({event: "loading", ...event}));
        const compile = (files, flags, name) => {
            const made = this.clang.compile(asObject(files), asObject(flags), name);
            return typeof made === "string" ? made : this.python.toPy(made).tobytes();
        };
        this.python.pyimport("kuiper.course.c_modules").use(this.clang.version, compile);
    }
}

/** Promises of the bytes of wheels. */
function fetchedWheels(addresses, base, emit) {
    return addresses.map((address) => {
        const url = new URL(address, base);
        const what = url.pathname.split("/").pop().split("-")[0];
        const bytes = fetchBytes(url, (loaded, total) => emit({event: "loading", what, loaded, total}));
        bytes.catch(() => {}); // reported where it is waited for
        return bytes;
    });
}

/** What Python hands to a function here, as something that can be posted. */
function asObject(value) {
    return value?.toJs ? value.toJs({dict_converter: Object.fromEntries, create_pyproxies: false}) : value;
}

/** The same for what a function of Python has returned, which nobody else lets go of. */
function taken(value) {
    const made = asObject(value);
    value?.destroy?.();
    return made;
}

/** A folder as Pyodide wants it: node knows no addresses. */
function place(url) {
    return url.protocol === "file:" ? decodeURIComponent(url.pathname) : url.href;
}

// The page's side of a worker: it starts one, asks it one thing after the other, ends it behind a time limit, and starts the next.

import {_} from "./page/language.js";

/** An error whose `message` is for the student; `kind` as in PROTOCOL.md. */
export class KernelError extends Error {
    constructor(kind, message) {
        super(message);
        this.name = "KernelError";
        this.kind = kind;
    }
}

export class Kernel {
    /**
     * @param makeWorker makes a new Worker
     * @param settings what the request "start" gets
     * @param files gives the student's files as they are now
     * @param onEvent gets what belongs to no single request: "files", and "ended" with its reason
     */
    constructor(makeWorker, {settings, files = () => ({}), onEvent = () => {}}) {
        Object.assign(this, {makeWorker, settings, files, onEvent});
        this.turn = Promise.resolve();
        this.worker = null;
        this.pending = null;
        this.number = 0;
        this.about = null;
    }

    /** What the worker answers to a request; `seconds` is how long it may take, the start and downloads apart. */
    ask(type, fields = {}, {seconds = Infinity, onEvent = () => {}} = {}) {
        const asked = this.turn.then(async () => {
            await this.start(onEvent);
            return this.send(type, fields, seconds, onEvent);
        });
        this.turn = asked.catch(() => {});
        return asked;
    }

    /** Start a worker if there is none; the value of "start". */
    async start(onEvent = () => {}) {
        if (this.worker === null) {
            const worker = this.worker = this.makeWorker();
            worker.onmessage = (event) => { if (worker === this.worker) this.receive(event.data); };
            worker.onerror = (event) => {
                event.preventDefault?.();
                const why = event.message ?? _("its script did not load");
                if (worker === this.worker)
                    this.stop("start", _("the worker could not go on: {why}", {why}));
            };
            this.about = await this.send("start", {settings: this.settings, files: await this.files()}, Infinity, onEvent);
        }
        return this.about;
    }

    /** End the worker; what is in flight is rejected. The next `ask` starts another one. */
    end(reason) {
        this.stop("ended", reason);
    }

    send(type, fields, seconds, onEvent) {
        const id = ++this.number;
        return new Promise((resolve, reject) => {
            this.pending = {id, type, fields, seconds, onEvent, resolve, reject, timer: null};
            this.watch(this.pending);
            this.worker.postMessage({id, type, ...fields});
        });
    }

    receive(message) {
        const pending = this.pending;
        if (pending === null || message.id !== pending.id)
            return;
        if (message.event === "loading")
            this.watch(pending); // a download is nobody's endless loop
        if (message.event === "done" || message.event === "failed") {
            clearTimeout(pending.timer);
            this.pending = null;
            if (message.event === "done")
                pending.resolve(message.value);
            else if (message.kind === "failed")
                pending.reject(new KernelError("failed", message.message));
            else
                this.stop(message.kind, message.kind === "crash" ? _("Python has crashed ({why})", {why: message.message}) : message.message, pending);
        } else if (message.event === "files") {
            this.onEvent(message);
        } else {
            pending.onEvent(message);
        }
    }

    watch(pending) {
        clearTimeout(pending.timer);
        if (pending.seconds === Infinity)
            return;
        const subject = () => SUBJECTS[pending.type]?.(pending.fields) ?? pending.type;
        const words = () => _("no answer within {seconds} seconds: {subject} may be in a loop that never ends",
            {seconds: pending.seconds, subject: subject()});
        pending.timer = setTimeout(() => this.stop("late", words()), pending.seconds * 1000);
    }

    stop(kind, reason, pending = this.pending) {
        const worker = this.worker;
        this.worker = this.pending = this.about = null;
        if (pending)
            clearTimeout(pending.timer);
        worker?.terminate();
        pending?.reject(new KernelError(kind, reason));
        if (worker)
            this.onEvent({event: "ended", kind, reason});
    }
}

const SUBJECTS = {
    check: ({exercise}) => _("exercise {exercise}", {exercise}),
    race: () => _("one of your layers"),
    cell: ({name}) => name ?? _("the cell"),
};

// What differs between a browser's worker and one of node, in which the tests run.

const IN_NODE = typeof process === "object" && process.release?.name === "node";
const CHUNK = 1 << 16;

/** The bytes behind an address; `onLoading(loaded, total)` is told of them as they come. */
export async function fetchBytes(url, onLoading = () => {}) {
    if (IN_NODE && url.protocol === "file:") {
        const {readFile} = await import("node:fs/promises");
        const bytes = new Uint8Array(await readFile(url));
        onLoading(bytes.length, bytes.length);
        return bytes;
    }
    const response = await fetch(url);
    if (!response.ok)
        throw new Error(`${url}: expected a file, got ${response.status} ${response.statusText}`);
    const total = Number(response.headers.get("content-length") ?? 0);
    const parts = [];
    let loaded = 0, told = 0;
    for (const reader = response.body.getReader(); ;) {
        const {done, value} = await reader.read();
        if (done)
            break;
        parts.push(value);
        loaded += value.length;
        if (loaded - told > CHUNK)
            onLoading(told = loaded, total);
    }
    onLoading(loaded, loaded);
    const bytes = new Uint8Array(loaded);
    let place = 0;
    for (const part of parts) {
        bytes.set(part, place);
        place += part.length;
    }
    return bytes;
}

/** Where this worker's messages come from and go to: {post(message), listen(callback)}. */
export async function thisPort() {
    if (IN_NODE) {
        const {parentPort} = await import("node:worker_threads");
        return {post: (message) => parentPort.postMessage(message), listen: (call) => parentPort.on("message", call)};
    }
    return {post: (message) => self.postMessage(message), listen: (call) => { self.onmessage = (event) => call(event.data); }};
}

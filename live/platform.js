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

/** What `keep` has kept under an address, or null: the browser's own store, or in node the folder KUIPER_LIVE_KEPT. */
export async function kept(url) {
    const stream = await (IN_NODE ? keptFile(url) : keptAnswer(url));
    return stream ? new Uint8Array(await new Response(stream.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer()) : null;
}

/** Keep bytes under an address; what is there for another query goes. Rejected where there is no room. */
export async function keep(url, bytes) {
    await forget(url);
    const packed = new Response(new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip")));
    if (!IN_NODE)
        return (await store())?.put(url.href, packed);
    const {rename, writeFile} = await import("node:fs/promises");
    const file = await fileOf(url);
    if (!file)
        return;
    await writeFile(`${file}.part`, new Uint8Array(await packed.arrayBuffer()));
    await rename(`${file}.part`, file); // whole, or not at all
}

/** Drop what is kept under an address, whatever its query. */
export async function forget(url) {
    if (!IN_NODE)
        return (await store())?.delete(url.href, {ignoreSearch: true});
    const file = await fileOf(url);
    if (file)
        await (await import("node:fs/promises")).rm(file, {force: true});
}

const KEPT = "kuiper-runtime"; // of service_worker.js, which drops what its version of the page does not name

/** A window that keeps nothing, or an address without https, has none. */
async function store() {
    try {
        return await globalThis.caches?.open(KEPT);
    } catch {
        return undefined;
    }
}

async function keptAnswer(url) {
    return (await (await store())?.match(url.href))?.body;
}

async function keptFile(url) {
    const {readFile} = await import("node:fs/promises");
    const file = await fileOf(url);
    return file && readFile(file).then((bytes) => new Blob([bytes]).stream(), () => null);
}

async function fileOf(url) {
    const {createHash} = await import("node:crypto");
    const folder = process.env.KUIPER_LIVE_KEPT;
    return folder ? `${folder}/${createHash("sha256").update(url.href).digest("hex").slice(0, 12)}.gz` : null;
}

/** Where this worker's messages come from and go to: {post(message), listen(callback)}. */
export async function thisPort() {
    if (IN_NODE) {
        const {parentPort} = await import("node:worker_threads");
        return {post: (message) => parentPort.postMessage(message), listen: (call) => parentPort.on("message", call)};
    }
    return {post: (message) => self.postMessage(message), listen: (call) => { self.onmessage = (event) => call(event.data); }};
}

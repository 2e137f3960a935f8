// Keeps what the page loads. The build writes the list of files, and a version that changes with any of them.
const { version, shell, rest, runtime } = __KEPT__;
const PAGE = `kuiper-page-${version}`;
const RUNTIME = 'kuiper-runtime'; // large files whose addresses change with their content: they outlive a version

const absolute = address => new URL(address, self.registration.scope).href;

self.addEventListener('install', event => {
  const fetched = caches.open(PAGE).then(cache => cache.addAll(shell.map(address => new Request(address, { cache: 'no-cache' }))));
  event.waitUntil(fetched.then(() => self.skipWaiting()));
});

self.addEventListener('activate', event => {
  event.waitUntil(forgetOld().then(() => self.clients.claim()));
});

/** Drop the pages of other versions, and large files that this version does not name. */
async function forgetOld() {
  for (const name of await caches.keys()) if (name.startsWith('kuiper-page-') && name !== PAGE) await caches.delete(name);
  const cache = await caches.open(RUNTIME);
  for (const request of await cache.keys()) if (!isRuntime(request.url)) await cache.delete(request);
}

const isRuntime = address => runtime.some(prefix => address.startsWith(absolute(prefix)));

self.addEventListener('fetch', event => {
  const { request } = event;
  if (request.method !== 'GET' || !/^https?:/.test(request.url) || request.headers.has('range')) return;
  event.respondWith(answer(request));
});

/** What is kept, else what the network has, which is then kept. */
async function answer(request) {
  const cache = await caches.open(isRuntime(request.url) ? RUNTIME : PAGE);
  const kept = await cache.match(request, { ignoreSearch: request.mode === 'navigate' });
  if (kept) return kept;
  const response = await fetch(request);
  if (response.status === 200) await cache.put(request, response.clone()).catch(() => {}); // full: then it is fetched again
  return response;
}

self.addEventListener('message', event => {
  if (event.data === 'keep all') event.waitUntil(keepAll(event.source));
});

async function keepAll(client) {
  const all = [...shell, ...rest];
  let kept = 0;
  for (const address of all) {
    try {
      const response = await answer(new Request(absolute(address)));
      if (!response.ok) throw new Error(`${address}: ${response.status}`);
    } catch (error) {
      return client.postMessage({ kept, all: all.length, problem: error.message });
    }
    client.postMessage({ kept: ++kept, all: all.length });
  }
}

// Keeps what the page loads. The build writes the list of files, and a version that changes with any of them.
const { version, shell, rest, runtime, languages } = __KEPT__; // languages: what each needs besides, {shell, rest}
const PAGE = `kuiper-page-${version}`;
const RUNTIME = 'kuiper-runtime'; // large files whose addresses change with their content: they outlive a version

const absolute = address => new URL(address, self.registration.scope).href;

self.addEventListener('install', event => {
  event.waitUntil(fetchShell().then(() => self.skipWaiting()));
});

/** Keep what each page needs, and each language that an earlier version of the page has kept. */
async function fetchShell() {
  const wanted = [...shell];
  for (const { shell: own } of Object.values(languages)) {
    const known = await Promise.all(own.map(address => caches.match(absolute(address))));
    if (known.every(Boolean)) wanted.push(...own.filter(address => !wanted.includes(address)));
  }
  const cache = await caches.open(PAGE);
  await cache.addAll(wanted.map(address => new Request(address, { cache: 'no-cache' })));
}

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
  if (event.data.keep) event.waitUntil(keepAll(event.source, languages[event.data.keep]));
});

async function keepAll(client, own) {
  const all = [...new Set([...shell, ...own.shell, ...rest, ...own.rest])];
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

// A static server as any host is: files of a folder, gzip for those that ask, and nothing else.
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import zlib from 'node:zlib';

const TYPES = {
  '.css': 'text/css', '.html': 'text/html', '.js': 'text/javascript', '.json': 'application/json', '.mjs': 'text/javascript',
  '.svg': 'image/svg+xml', '.txt': 'text/plain', '.wasm': 'application/wasm', '.jpg': 'image/jpeg', '.png': 'image/png',
};
const PACKED = new Set(['.css', '.html', '.js', '.json', '.mjs', '.svg', '.txt', '.wasm', '.tar']);

const SLICE = 0.02; // seconds of the line's time that one answer takes at once

/** A line that all answers share: bytes in order, at a pace. */
class Line {
  constructor(bytesPerSecond) {
    this.pace = bytesPerSecond;
    this.freeAt = 0;
  }

  async send(response, body) {
    const step = Math.ceil(this.pace * SLICE);
    for (let from = 0; from < body.length; from += step) {
      const piece = body.subarray(from, from + step);
      this.freeAt = Math.max(this.freeAt, performance.now()) + (1000 * piece.length) / this.pace;
      await new Promise(resolve => setTimeout(resolve, this.freeAt - performance.now()));
      if (!response.writable) return;
      response.write(piece);
    }
    response.end();
  }
}

/** Serve a folder on a free port: {address, sent, line, stop}; `sent` grows by [path, bytes] for each answer.
 *
 * `line.pace` is how many bytes a second go to the browser, Infinity at first.
 */
export async function serve(folder) {
  const sent = [];
  const line = new Line(Infinity);
  const packed = new Map();
  const server = http.createServer((request, response) => {
    let name = decodeURIComponent(new URL(request.url, 'http://localhost').pathname);
    if (name.endsWith('/')) name += 'index.html';
    const file = path.join(folder, path.normalize(name));
    if (!file.startsWith(folder) || !fs.existsSync(file) || !fs.statSync(file).isFile()) {
      response.writeHead(404).end();
      return;
    }
    const ending = path.extname(file);
    const headers = { 'Content-Type': TYPES[ending] ?? 'application/octet-stream' };
    let body = fs.readFileSync(file);
    if (PACKED.has(ending) && /gzip/.test(request.headers['accept-encoding'] ?? '')) {
      headers['Content-Encoding'] = 'gzip';
      const version = `${file} ${fs.statSync(file).mtimeMs}`;
      if (!packed.has(version)) packed.set(version, zlib.gzipSync(body, { level: 6 }));
      body = packed.get(version);
    }
    headers['Content-Length'] = body.length;
    sent.push([name, body.length]);
    response.writeHead(200, headers);
    if (line.pace === Infinity) response.end(body);
    else line.send(response, body);
  });
  const stop = () => {
    server.close();
    server.closeAllConnections();
  };
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
  return { address: `http://127.0.0.1:${server.address().port}/`, sent, line, stop };
}

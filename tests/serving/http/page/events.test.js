'use strict';
const assert = require('node:assert/strict');
const { test } = require('node:test');
require('./load.js');
const { Server, ServerError, Splitter } = kuiper.events;

/** An answer whose body comes in these pieces. */
function answer(pieces, status = 200) {
  return new Response(new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  }), { status });
}

async function all(stream) {
  const found = [];
  for await (const one of stream) found.push(one);
  return found;
}

test('a splitter gives the data of whole events, wherever they were cut', () => {
  const text = 'data: {"a":1}\n\n: still here\n\ndata: {"b":2}\n\ndata: half';
  for (let at = 0; at <= text.length; at++) {
    const splitter = new Splitter();
    assert.deepEqual([...splitter.push(text.slice(0, at)), ...splitter.push(text.slice(at))], ['{"a":1}', '{"b":2}']);
  }
});

test('a stream gives objects up to its end, also where a character was cut', async () => {
  const bytes = new TextEncoder().encode('data: {"text":"é"}\n\ndata: [DONE]\n\ndata: {"late":1}\n\n');
  const asked = [];
  globalThis.fetch = async (path, options) => {
    asked.push([path, options]);
    return answer([bytes.slice(0, 16), bytes.slice(16)]);
  };
  const server = new Server();
  server.key = 'k3y';
  assert.deepEqual(await all(server.stream('v1/completions', { body: { n: 1 } })), [{ text: 'é' }]);
  const [[path, options]] = asked;
  assert.deepEqual([path, options.method, options.body], ['v1/completions', 'POST', '{"n":1}']);
  assert.deepEqual(options.headers, { authorization: 'Bearer k3y', 'content-type': 'application/json' });
});

test('without a key and a body neither is sent', async () => {
  globalThis.fetch = async (path, options) => {
    assert.deepEqual([options.method, options.headers, options.body], ['GET', {}, undefined]);
    return answer([new TextEncoder().encode('[]')]);
  };
  assert.deepEqual(await (await new Server().ask('v1/models')).json(), []);
});

test('an error of the server is told, before the stream and in it', async () => {
  const encode = text => new TextEncoder().encode(text);
  globalThis.fetch = async () => answer([encode('{"error":{"message":"n: expected less"}}')], 400);
  await assert.rejects(all(new Server().stream('x', { body: {} })),
    error => error instanceof ServerError && error.status === 400 && error.message === 'n: expected less');
  globalThis.fetch = async () => answer([encode('<html>')], 502);
  await assert.rejects(new Server().ask('x'), /the server answers with 502/);
  globalThis.fetch = async () => answer([encode('data: {"error":{"message":"it has failed"}}\n\n')]);
  await assert.rejects(all(new Server().stream('x', { body: {} })), /it has failed/);
});

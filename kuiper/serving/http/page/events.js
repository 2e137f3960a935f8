'use strict';
// What the server says: JSON, and server-sent events with JSON in them, with the key in front of it all.
(kuiper => {
  const { _ } = kuiper.language;

  /** An answer that is an error; `status` is HTTP's. */
  class ServerError extends Error {
    constructor(message, status) {
      super(message);
      this.status = status;
    }
  }

  /** Takes pieces of a stream, and gives the data of the events that have become whole. */
  class Splitter {
    constructor() {
      this.rest = '';
    }

    push(text) {
      const parts = (this.rest + text).split('\n\n');
      this.rest = parts.pop();
      const lines = parts.flatMap(part => part.split('\n'));
      return lines.filter(line => line.startsWith('data: ')).map(line => line.slice('data: '.length));
    }
  }

  /** What an answer with an error says. */
  async function failure(response) {
    const body = await response.json().catch(() => null);
    const message = body?.error?.message ?? _('the server answers with {status}', { status: response.status });
    return new ServerError(message, response.status);
  }

  class Server {
    constructor() {
      this.key = '';
    }

    /** Ask for a path; a body is sent as JSON. */
    async ask(path, { body, signal } = {}) {
      const headers = {};
      if (this.key) headers.authorization = `Bearer ${this.key}`;
      if (body) headers['content-type'] = 'application/json';
      const response = await fetch(path, { method: body ? 'POST' : 'GET', headers, signal, cache: 'no-store',
        body: body ? JSON.stringify(body) : undefined });
      if (!response.ok) throw await failure(response);
      return response;
    }

    /** The objects of a stream, one by one. */
    async * stream(path, options) {
      const response = await this.ask(path, options);
      const splitter = new Splitter();
      const decoder = new TextDecoder();
      const reader = response.body.getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        for (const data of splitter.push(decoder.decode(value, { stream: true }))) {
          if (data === '[DONE]') return;
          const event = JSON.parse(data);
          if (event.error) throw new ServerError(event.error.message, 0);
          yield event;
        }
      }
    }
  }

  kuiper.events = { Server, ServerError, Splitter };
})((globalThis.kuiper ??= {}));

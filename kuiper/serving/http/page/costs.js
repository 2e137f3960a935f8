'use strict';
// What the model costs: the stream of its steps, as numbers and as a picture.
(kuiper => {
  const { find, tiles } = kuiper.dom;
  const { _, many } = kuiper.language;
  const { Rate, Steps, rate, words } = kuiper.steps;
  const AGAIN = 1000; // milliseconds until a broken stream is asked for again
  const MOST = 400; // steps that are kept for a tall picture

  class Costs {
    constructor(server) {
      this.server = server;
      this.steps = new Steps(MOST);
      this.watching = null;
      matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.draw());
      new ResizeObserver(() => this.draw()).observe(find('steps'));
      setInterval(() => this.show(), 500); // a rate falls while nothing comes
    }

    /** Watch this model, and no other one any more. */
    async watch(model) {
      this.watching?.abort();
      const watching = this.watching = new AbortController();
      this.model = model;
      this.steps = new Steps(MOST);
      this.rate = new Rate();
      this.state = null;
      this.show();
      this.draw();
      while (!watching.signal.aborted) {
        try {
          await this.read(model, watching.signal);
        } catch (error) {
          if (watching.signal.aborted) return;
        }
        this.rate = new Rate();
        await new Promise(resolve => setTimeout(resolve, AGAIN));
      }
    }

    async read(model, signal) {
      const path = `v1/kuiper/steps?model=${encodeURIComponent(model.id)}`;
      for await (const event of this.server.stream(path, { signal })) {
        this.state = event;
        this.rate.add(performance.now(), event.totals.tokens);
        this.steps.add(event.steps);
        this.show();
        if (event.steps.length) this.draw();
      }
    }

    show() {
      if (!this.model) return;
      const { pages } = this.model.kuiper;
      const { running = 0, waiting = 0, pages: used = 0, totals } = this.state ?? {};
      const read = (totals?.found ?? 0) + (totals?.prompt ?? 0);
      const now = this.rate.at(performance.now());
      find('tiles').replaceChildren(...tiles([
        [_('tokens per second'), rate(now)],
        [waiting ? _('under way, {n} waiting', { n: waiting }) : _('under way'),
          many(running, '{n} text', '{n} texts')],
        [_('of {n} pages in use', { n: pages }), String(used)],
        [many(read, 'of {n} prompt token found in pages', 'of {n} prompt tokens found in pages'),
          String(totals?.found ?? 0)],
      ]));
    }

    draw() {
      if (!this.model) return;
      kuiper.picture.paint(find('steps'), this.steps.list, this.model.kuiper.step_tokens);
      const text = this.steps.last ? words(this.steps.last) : _('Nothing has been asked yet.');
      const row = _('A full row is {n} tokens.', { n: this.model.kuiper.step_tokens });
      find('last').textContent = _('{step} {row}', { step: text, row });
      find('steps').setAttribute('aria-label', _('The last {n} steps', { n: this.steps.list.length }));
    }
  }

  kuiper.Costs = Costs;
})((globalThis.kuiper ??= {}));

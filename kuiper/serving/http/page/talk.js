'use strict';
// The text: a chat where the model has a template, else one text that goes on.
(kuiper => {
  const { find, html } = kuiper.dom;
  const { _, many } = kuiper.language;
  const { rate, time } = kuiper.steps;

  const EMPTY = {
    chat: _('Say something.'),
    text: _('Write the beginning of a text: the model goes on with it.'),
  };

  class Talk {
    constructor(server) {
      this.server = server;
      this.running = null;
      find('ask').addEventListener('submit', event => {
        event.preventDefault();
        if (!this.running) this.send();
      });
      find('words').addEventListener('keydown', event => {
        if (event.key !== 'Enter' || event.shiftKey || event.isComposing || !this.isChat) return;
        event.preventDefault();
        find('ask').requestSubmit();
      });
      find('stop').addEventListener('click', () => this.stop());
      find('anew').addEventListener('click', () => this.begin(this.model));
      document.addEventListener('keydown', event => {
        if (event.key === 'Escape') this.stop();
      });
    }

    get isChat() {
      return this.model.kuiper.has_template;
    }

    /** Begin anew with a model. */
    begin(model) {
      this.stop();
      this.model = model;
      this.messages = [];
      find('said').replaceChildren();
      find('said').dataset.empty = this.isChat ? EMPTY.chat : EMPTY.text;
      find('problem').textContent = '';
      find('send').textContent = this.isChat ? _('Send') : _('Write');
      find('words').focus();
    }

    stop() {
      this.running?.abort();
    }

    /** The body of a request, whatever the form. */
    body(words) {
      const numbers = { temperature: Number(find('temperature').value), max_tokens: Number(find('tokens').value),
        n: Number(find('readers').value) };
      const asked = { model: this.model.id, stream: true, stream_options: { include_usage: true }, ...numbers };
      return this.isChat ? { ...asked, messages: [...this.messages, { role: 'user', content: words }] }
        : { ...asked, prompt: words };
    }

    /** Ask, and show what comes, piece by piece. */
    async send() {
      const words = find('words').value;
      if (this.isChat && !words.trim()) return;
      const running = this.running = new AbortController();
      find('problem').textContent = '';
      this.switchTo(true);
      const turn = this.open(words);
      const answer = new Answer(turn);
      try {
        const path = this.isChat ? 'v1/chat/completions' : 'v1/completions';
        for await (const event of this.server.stream(path, { body: this.body(words), signal: running.signal })) {
          answer.take(event);
        }
      } catch (error) {
        if (running.signal.aborted) answer.note(_('stopped'));
        else find('problem').textContent = error.message;
      }
      turn.classList.remove('writing');
      this.running = null;
      this.switchTo(false);
      this.keep(words, answer);
    }

    switchTo(isRunning) {
      find('send').disabled = isRunning;
      find('stop').disabled = !isRunning;
      find('said').setAttribute('aria-busy', String(isRunning));
    }

    /** Places for what is asked and for the answer. */
    open(words) {
      const said = find('said');
      if (!this.isChat) {
        said.replaceChildren();
        const turn = html('div', { class: 'turn writing' }, html('p', { class: 'text' },
          html('span', { class: 'given' }, words), html('span', { class: 'answer' })));
        said.append(turn);
        return turn;
      }
      find('words').value = '';
      const turn = html('div', { class: 'turn writing' }, html('h3', {}, this.model.id),
        html('p', { class: 'text' }, html('span', { class: 'answer' })));
      const own = [html('h3', {}, _('you')), html('p', { class: 'text' }, words)];
      said.append(html('div', { class: 'turn user' }, own), turn);
      said.scrollTop = said.scrollHeight;
      return turn;
    }

    /** What the next request builds on. Without an answer it is as if nothing had been asked. */
    keep(words, answer) {
      if (this.isChat && answer.text) {
        this.messages.push({ role: 'user', content: words }, { role: 'assistant', content: answer.text });
      } else if (this.isChat) {
        find('words').value = words;
      }
    }
  }

  /** One answer on the page, and its times. */
  class Answer {
    constructor(turn) {
      this.turn = turn;
      this.began = performance.now();
      this.first = 0;
      this.text = '';
    }

    take(event) {
      if (event.usage) this.finish(event.usage);
      for (const choice of event.choices) {
        const piece = choice.text ?? choice.delta?.content ?? '';
        if (!this.first && piece) this.first = performance.now();
        if (choice.index === 0 && piece) this.add(piece);
      }
    }

    add(piece) {
      const said = find('said');
      const isAtEnd = said.scrollTop + said.clientHeight > said.scrollHeight - 24;
      this.text += piece;
      this.turn.querySelector('.answer').append(piece);
      if (isAtEnd) said.scrollTop = said.scrollHeight;
    }

    finish({ completion_tokens: tokens, prompt_tokens: prompt, prompt_tokens_details: details }) {
      const whole = (performance.now() - this.began) / 1000;
      const first = this.first ? (this.first - this.began) / 1000 : whole;
      const written = many(tokens, '{n} token', '{n} tokens');
      const found = details.cached_tokens;
      this.note([
        found ? _('{tokens} behind {prompt}, {found} of them found', { tokens: written, prompt, found })
          : _('{tokens} behind {prompt}', { tokens: written, prompt }),
        _('{time} to the first', { time: time(first) }),
        _('{rate} per second', { rate: rate(tokens / whole) }),
      ].join(' · '));
    }

    note(text) {
      this.turn.append(html('p', { class: 'note' }, text));
    }
  }

  kuiper.Talk = Talk;
})((globalThis.kuiper ??= {}));

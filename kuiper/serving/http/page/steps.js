'use strict';
// The numbers of steps: which of them are shown, how their rows lie, and how fast tokens come.
(kuiper => {
  const { _, many } = kuiper.language;
  const SPAN = 2000; // milliseconds over which a rate is taken

  /** The last steps, at most `most`. */
  class Steps {
    constructor(most) {
      this.most = most;
      this.list = [];
    }

    add(steps) {
      this.list = [...this.list, ...steps].slice(-this.most);
    }

    get last() {
      return this.list.at(-1);
    }
  }

  /** The stretches of a step's row: [kind, first, end] in rows of the batch; what is empty is left out. */
  function stretches({ prompt, drawn, guessed, right }) {
    const sizes = [['prompt', prompt], ['drawn', drawn], ['right', right], ['wrong', guessed - right]];
    let place = 0;
    const found = [];
    for (const [kind, size] of sizes) {
      if (size > 0) found.push([kind, place, place + size]);
      place += Math.max(0, size);
    }
    return found;
  }

  /** Of a sum that grows, how much it has grown per second in the last moments. */
  class Rate {
    constructor() {
      this.points = [];
    }

    add(time, total) {
      this.points.push([time, total]);
      while (this.points.length > 2 && this.points[1][0] < time - SPAN) this.points.shift();
    }

    /** At a time; 0 when nothing has come for a while. */
    at(time) {
      const [first, last] = [this.points[0], this.points.at(-1)];
      if (!first || time - last[0] > SPAN || last[0] === first[0]) return 0;
      return (1000 * (last[1] - first[1])) / (Math.max(time, last[0]) - first[0]);
    }
  }

  /** Numbers that are read at a glance. */
  const rate = value => (value >= 100 ? value.toFixed(0) : value.toFixed(1));
  const time = seconds => (seconds < 1 ? `${(1000 * seconds).toFixed(seconds < 0.01 ? 1 : 0)} ms`
    : `${seconds.toFixed(1)} s`);

  /** A step in words. */
  function words({ number, seconds, prompt, drawn, guessed, right, running, waiting }) {
    const tokens = guessed
      ? _('{prompt} of prompts, {drawn} drawn, {right} of {guessed} guesses right', { prompt, drawn, right, guessed })
      : _('{prompt} of prompts, {drawn} drawn', { prompt, drawn });
    return _('Step {number}, {time}: {tokens}; {texts} under way, {waiting} waiting.',
      { number, time: time(seconds), tokens, texts: many(running, '{n} text', '{n} texts'), waiting });
  }

  kuiper.steps = { Rate, Steps, rate, stretches, time, words };
})((globalThis.kuiper ??= {}));

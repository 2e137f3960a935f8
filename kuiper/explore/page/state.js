'use strict';
// What the reader looks at, as the part of the address behind "#": a copied link leads there again.
(kuiper => {
  const KEYS = ['operator', 'tab', 'stage', 'value', 'channel', 'pixel', 'from', 'run', 'against', 'step', 'score'];

  /** The state that an address's part behind "#" means; unknown keys and broken escapes are left out. */
  function parse(hash) {
    const pairs = [...new URLSearchParams(hash.replace(/^#/, ''))];
    return Object.fromEntries(pairs.filter(([key, text]) => KEYS.includes(key) && !text.includes('\ufffd')));
  }

  /** The reverse of parse; what is empty is left out. */
  function format(state) {
    const given = KEYS.filter(key => state[key] !== undefined && state[key] !== null && state[key] !== '');
    return String(new URLSearchParams(given.map(key => [key, String(state[key])])));
  }

  /** An integer of the state between 0 and most, or the fallback. */
  function whole(text, most, fallback = 0) {
    const value = Number(text);
    return text !== undefined && text !== '' && Number.isInteger(value) && value >= 0 && value <= most ? value
      : fallback;
  }

  kuiper.state = { format, parse, whole };
})((globalThis.kuiper ??= {}));

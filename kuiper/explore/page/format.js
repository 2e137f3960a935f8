'use strict';
// Numbers as text.
(kuiper => {
  const { _ } = kuiper.language;
  const MINUS = '\u2212';

  const signed = text => text.replace('-', MINUS);

  /** Four digits that count; very small and very large numbers with an exponent. */
  function number(value) {
    if (typeof value !== 'number' || Number.isNaN(value)) return 'NaN';
    if (!Number.isFinite(value)) return value > 0 ? '∞' : `${MINUS}∞`;
    if (value === 0) return '0';
    const size = Math.abs(value);
    if (size < 1e-3 || size >= 1e6) return signed(value.toExponential(2).replace('e+', 'e'));
    return signed(String(Number(value.toPrecision(4))));
  }

  /** A number on a small field: at most five characters. */
  function short(value) {
    if (!Number.isFinite(value)) return number(value);
    const size = Math.abs(value);
    if (size > 0 && (size < 0.005 || size >= 1000)) return signed(value.toExponential(0).replace('e+', 'e'));
    return signed(String(Number(value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2))));
  }

  function scaled(value, unit) {
    const steps = ['', 'k', 'M', 'G', 'T'];
    const place = steps.findLastIndex((_, i) => i === 0 || Math.abs(value) >= 1000 ** i);
    const size = value / 1000 ** place;
    return signed(`${Number(place ? size.toPrecision(3) : size.toFixed(0))} ${steps[place]}${unit}`.trim());
  }

  const count = value => scaled(value, '');
  const flops = value => scaled(value, 'FLOP');
  const bytes = value => scaled(value, 'B');

  /** A time of this many microseconds. */
  function time(microseconds) {
    if (!Number.isFinite(microseconds)) return '–';
    if (Math.abs(microseconds) >= 1e6) return `${Number((microseconds / 1e6).toFixed(2))} s`;
    if (Math.abs(microseconds) >= 1e3) return `${Number((microseconds / 1e3).toPrecision(3))} ms`;
    return `${Number(microseconds.toPrecision(microseconds < 1 ? 1 : 3))} µs`;
  }

  function percent(share) {
    if (share > 0 && share < 0.001) return '< 0.1 %';
    return `${Number((100 * share).toFixed(share < 0.1 ? 1 : 0))} %`;
  }

  /** A shape, given as a list or as text: "1 × 64 × 56 × 56". */
  function shape(sizes) {
    if (!sizes) return '';
    const list = Array.isArray(sizes) ? sizes : String(sizes).replace(/[()[\]\s]/g, '').split(',').filter(Boolean);
    return list.length ? list.join(' × ') : _('one number');
  }

  /** What stands behind the name of a value: its shape and type. */
  const describe = ({ shape: sizes, type }) => `: ${sizes ? `${shape(sizes)}, ` : ''}${type}`;

  /** Round numbers of a scale from low to high, about `wanted` of them. */
  function ticks(low, high, wanted = 5) {
    if (!(high > low)) return [low];
    const rough = (high - low) / wanted;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 5, 10].find(factor => factor * power >= rough * 0.999);
    const found = [];
    for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) found.push(i * step + 0);
    return found;
  }

  /** A name cut to this many letters in its middle, as names differ at their ends; nothing where that says too little. */
  function cut(text, letters) {
    if (text.length <= letters) return text;
    if (letters < 9) return '';
    const tail = Math.ceil((letters - 1) * 0.6);
    return `${text.slice(0, letters - 1 - tail)}…${text.slice(-tail)}`;
  }

  // The families of kuiper/explore/families.py; a test compares the names.
  const FAMILIES = {
    activation: _('activation'), attention: _('attention'), constant: _('constant'), convolution: _('convolution'),
    elementwise: _('elementwise'), input: _('input'), linear: _('linear'), norm: _('norm'), other: _('other'),
    output: _('output'), pooling: _('pooling'), shape: _('shape'),
  };
  const family = name => FAMILIES[name] ?? name;

  kuiper.format = { bytes, count, cut, describe, family, flops, number, percent, shape, short, ticks, time };
})((globalThis.kuiper ??= {}));

'use strict';
// One number of a map, as the window times the weights.
(kuiper => {
  const { bars, html, note, section } = kuiper.dom;
  const { _, parts } = kuiper.language;
  const { number, short } = kuiper.format;
  const { afterwards, terms } = kuiper.windows;
  const TERMS = 10; // of a sum that are listed
  const LARGEST = 7; // a kernel up to this size is written out in numbers

  const sign = text => html('span', { class: 'sign' }, text);

  /** A small table of numbers in the colours of a scale. */
  function matrix(name, numbers, width, scale) {
    const rows = [];
    for (let i = 0; i < numbers.length; i += width) {
      rows.push(html('tr', {}, numbers.slice(i, i + width).map(value => {
        if (value === null) return html('td', { class: 'outside', title: _('padding') }, '0');
        const color = scale.color(value);
        return html('td', { title: String(value),
          style: { background: kuiper.colors.css(color), color: kuiper.colors.inkOn(color) } }, short(value));
      })));
    }
    return html('figure', { class: 'matrix' }, html('table', { 'aria-label': name }, html('tbody', {}, rows)),
      html('figcaption', {}, name));
  }

  /** The input channels that give most to the sum; a click shows the window of one. */
  function contributions(inputs, chosen, choose) {
    const most = Math.abs(inputs[0].sum) || 1;
    const rows = inputs.slice(0, TERMS).map(part => ({
      label: _('input channel {channel}', part), text: number(part.sum),
      share: Math.abs(part.sum) / most, on: () => choose(part), strong: part === chosen,
      color: part.sum < 0 ? 'var(--f-convolution)' : 'var(--heat)' }));
    return bars(_('What each input channel gives'), rows);
  }

  /** The sum, with the branch that is added and the activation. `pixel`: {here, isExact, other}. */
  function result(total, spec, pixel) {
    const strong = value => html('strong', {}, number(value));
    let words = parts('sum {sum}', { sum: strong(total) });
    let value = total;
    if (spec.residual && pixel.other !== null) {
      value += pixel.other;
      words = parts('{sum} + {number} of {value} = {all}',
        { sum: words, number: number(pixel.other), value: spec.residual, all: strong(value) });
    } else if (spec.residual) {
      words = parts('{sum}, and a number of {value}, which the page does not hold',
        { sum: words, value: spec.residual });
    }
    if (spec.activation && (pixel.other !== null || !spec.residual)) {
      const end = afterwards(value, spec.activation);
      const activation = spec.activation.name.replaceAll('_', ' ');
      words = end === null ? parts('{sum}, {activation}', { sum: words, activation })
        : parts('{sum}, {activation}: {end}', { sum: words, activation, end: strong(end) });
    }
    const here = { number: number(pixel.here) };
    return html('p', { class: 'total' }, words, html('span', { class: 'muted' }, ' · ',
      pixel.isExact ? _('the network has {number}', here) : _('the network has about {number}', here)));
  }

  function windowed(spec, input, channel, outputs, y, x, pixel) {
    const found = terms(spec, input, channel, outputs, y, x);
    if (!found) {
      return note(_('The page has no room for the weights of channel {channel}; choose another channel.', { channel }));
    }
    const { rows, columns, total, bias } = found;
    const inputs = [...found.parts].sort((a, b) => Math.abs(b.sum) - Math.abs(a.sum));
    const isSmall = Math.max(rows.length, columns.length) <= LARGEST;
    const grid = (name, numbers, all = numbers) => matrix(name, numbers, columns.length,
      kuiper.colors.scale(...kuiper.arrays.range(all), kuiper.isDark()));
    const end = { number: number(total) };
    const ends = { max: _('the largest of the window: {number}', end),
      average: _('the mean of the window: {number}', end) };
    const host = html('div');
    const show = part => {
      const window = grid(_('window'), part.window, kuiper.arrays.decode(input));
      const sums = { channel: part.channel, sum: number(part.sum), n: inputs.length, bias: number(bias) };
      const sum = inputs.length > 1
        ? _('Input channel {channel}: the products add up to {sum}. All {n} input channels and the bias {bias}:', sums)
        : _('Input channel {channel}: the products add up to {sum}. With the bias {bias}:', sums);
      host.replaceChildren(html('div', { class: `equation${isSmall ? '' : ' dense'}` }, window, part.factors
        ? [sign('×'), grid(_('weights'), part.factors), sign('='), grid(_('products'), part.products)] : null),
        note(part.factors ? sum : ends[spec.kind]),
        inputs.length > 1 ? contributions(inputs, part, show) : '');
    };
    show(inputs[0]);
    return section(_('Where this number comes from'), host, result(total, spec, pixel));
  }

  /** How the pixel comes about, in numbers; or a sentence that says why the page cannot show it. */
  kuiper.sumView = (context, spec, value, channel, y, x, here) => {
    if (!spec || !['convolution', 'max', 'average', 'linear'].includes(spec.kind)) return null;
    const { values, operators } = context.network;
    const operator = operators[context.producer(context.valueName())];
    const name = operator.inputs[0];
    const input = values[name]?.exact;
    if (!input) {
      return note(_('The page has no room for the exact numbers of {name}, and so none for this sum.', { name }));
    }
    const isLinear = spec.kind === 'linear';
    if (!isLinear && (spec.kernel.length !== 2 || input.shape.length !== 4)) return null;
    if (spec.padding_mode && spec.padding_mode !== 'zeros') {
      return note(_('The border is padded by {mode}; the page shows sums of zero padding only.',
        { mode: spec.padding_mode }));
    }
    const residual = values[spec.residual]?.exact;
    const place = residual ? kuiper.arrays.plane(residual, channel) : null;
    const pixel = { here, isExact: Boolean(value.exact), other: place ? place.values[y * place.width + x] : null };
    const counted = { ...spec, countsPadding: operator.params.count_include_pad !== 'False' };
    return isLinear ? windowed(counted, input, x, value.shape.at(-1), y, 0, pixel)
      : windowed(counted, input, channel, value.shape[1], y, x, pixel);
  };
})((globalThis.kuiper ??= {}));

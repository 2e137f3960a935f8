'use strict';
// One number of a map, as the window times the weights.
(kuiper => {
  const { bars, html, note, section } = kuiper.dom;
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
        if (value === null) return html('td', { class: 'outside', title: 'padding' }, '0');
        const color = scale.color(value);
        return html('td', { title: String(value),
          style: { background: kuiper.colors.css(color), color: kuiper.colors.inkOn(color) } }, short(value));
      })));
    }
    return html('figure', { class: 'matrix' }, html('table', { 'aria-label': name }, html('tbody', {}, rows)),
      html('figcaption', {}, name));
  }

  /** The input channels that give most to the sum; a click shows the window of one. */
  function contributions(parts, chosen, choose) {
    const most = Math.abs(parts[0].sum) || 1;
    const rows = parts.slice(0, TERMS).map(part => ({ label: `input channel ${part.channel}`, text: number(part.sum),
      share: Math.abs(part.sum) / most, on: () => choose(part), strong: part === chosen,
      color: part.sum < 0 ? 'var(--f-convolution)' : 'var(--heat)' }));
    return bars('What each input channel gives', rows);
  }

  /** The sum, with the branch that is added and the activation. `pixel`: {here, isExact, other}. */
  function result(total, spec, pixel) {
    const strong = value => html('strong', {}, number(value));
    const words = ['sum ', strong(total)];
    let value = total;
    if (spec.residual) {
      if (pixel.other !== null) {
        value += pixel.other;
        words.push(` + ${number(pixel.other)} of ${spec.residual} = `, strong(value));
      } else words.push(`, and a number of ${spec.residual}, which the page does not hold`);
    }
    if (spec.activation && (pixel.other !== null || !spec.residual)) {
      const end = afterwards(value, spec.activation);
      words.push(`, ${spec.activation.name.replaceAll('_', ' ')}`, ...(end === null ? [] : [': ', strong(end)]));
    }
    return html('p', { class: 'total' }, words,
      html('span', { class: 'muted' }, ` · the network has ${pixel.isExact ? '' : 'about '}${number(pixel.here)}`));
  }

  function windowed(spec, input, channel, outputs, y, x, pixel) {
    const found = terms(spec, input, channel, outputs, y, x);
    if (!found) return note(`The page has no room for the weights of channel ${channel}; choose another channel.`);
    const { rows, columns, total, bias } = found;
    const parts = [...found.parts].sort((a, b) => Math.abs(b.sum) - Math.abs(a.sum));
    const isSmall = Math.max(rows.length, columns.length) <= LARGEST;
    const grid = (name, numbers, all = numbers) => matrix(name, numbers, columns.length,
      kuiper.colors.scale(...kuiper.arrays.range(all), kuiper.isDark()));
    const operations = { max: 'the largest of the window', average: 'the mean of the window' };
    const host = html('div');
    const show = part => {
      const window = grid('window', part.window, kuiper.arrays.decode(input));
      const sum = `Input channel ${part.channel}: the products add up to ${number(part.sum)}.`;
      const others = parts.length > 1 ? ` All ${parts.length} input channels and the bias ${number(bias)}:`
        : ` With the bias ${number(bias)}:`;
      host.replaceChildren(html('div', { class: `equation${isSmall ? '' : ' dense'}` }, window, part.factors
        ? [sign('×'), grid('weights', part.factors), sign('='), grid('products', part.products)] : null),
        note(part.factors ? sum + others : `${operations[spec.kind]}: ${number(total)}`),
        parts.length > 1 ? contributions(parts, part, show) : '');
    };
    show(parts[0]);
    return section('Where this number comes from', host, result(total, spec, pixel));
  }

  /** How the pixel comes about, in numbers; or a sentence that says why the page cannot show it. */
  kuiper.sumView = (context, spec, value, channel, y, x, here) => {
    if (!spec || !['convolution', 'max', 'average', 'linear'].includes(spec.kind)) return null;
    const { values, operators } = context.network;
    const operator = operators[context.producer(context.valueName())];
    const name = operator.inputs[0];
    const input = values[name]?.exact;
    if (!input) return note(`The page has no room for the exact numbers of ${name}, and so none for this sum.`);
    const isLinear = spec.kind === 'linear';
    if (!isLinear && (spec.kernel.length !== 2 || input.shape.length !== 4)) return null;
    if (spec.padding_mode && spec.padding_mode !== 'zeros') {
      return note(`The border is padded by ${spec.padding_mode}; the page shows sums of zero padding only.`);
    }
    const residual = values[spec.residual]?.exact;
    const place = residual ? kuiper.arrays.plane(residual, channel) : null;
    const pixel = { here, isExact: Boolean(value.exact), other: place ? place.values[y * place.width + x] : null };
    const counted = { ...spec, countsPadding: operator.params.count_include_pad !== 'False' };
    return isLinear ? windowed(counted, input, x, value.shape.at(-1), y, 0, pixel)
      : windowed(counted, input, channel, value.shape[1], y, x, pixel);
  };
})((globalThis.kuiper ??= {}));

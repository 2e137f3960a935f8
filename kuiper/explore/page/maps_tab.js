'use strict';
// What flows: feature maps with their scale, and where one of their numbers comes from.
(kuiper => {
  const { decode, plane, planes, range } = kuiper.arrays;
  const { scale: colorScale } = kuiper.colors;
  const { chart, choice, facts, html, mapCanvas, note, room, section, svg } = kuiper.dom;
  const { _, parts } = kuiper.language;
  const { describe, number, percent } = kuiper.format;
  const { whole } = kuiper.state;

  /** The colours of a scale from its low to its high end, with the numbers there. */
  function legend(scale) {
    const stops = [0, 51, 102, 153, 204, 255].map(i => kuiper.colors.css(scale.colors[i])).join(', ');
    return html('div', { class: 'legend', role: 'img',
      'aria-label': _('Colours from {low} to {high}', { low: number(scale.from), high: number(scale.to) }) },
      html('span', {}, number(scale.from)),
      html('span', { class: 'ramp', style: { background: `linear-gradient(to right, ${stops})` } }),
      html('span', {}, number(scale.to)));
  }

  /** Columns up or down from zero, each in its colour; numbers stand below the ends and the middle. */
  function columns(name, items, numbers) {
    const [width, height] = [room(), 140];
    const wide = width / items.length;
    const [low, high] = range(items.map(item => item.value));
    const [bottom, top] = [Math.min(0, low), Math.max(0, high) || 1];
    const y = value => 6 + ((top - value) / (top - bottom)) * (height - 26);
    const marks = items.map(({ value, color, text }, i) => {
      const end = y(Number.isFinite(value) ? value : 0);
      const tall = Math.abs(end - y(0));
      return svg('rect', { x: i * wide, y: Math.min(end, y(0)), width: Math.max(0.9 * wide, 0.6), class: 'column',
        height: tall && Math.max(1.5, tall), style: { fill: kuiper.colors.css(color) } }, svg('title', {}, text));
    });
    const label = (at, i) => svg('text',
      { x: (i * width) / 2, y: height - 5, 'text-anchor': ['start', 'middle', 'end'][i] }, number(at));
    return chart(width, height, name, marks,
      svg('line', { x1: 0, x2: width, y1: y(0), y2: y(0), class: 'axis' }), numbers.map(label));
  }

  function histogram({ low, high, counts }, scale) {
    const at = place => low + (place / counts.length) * (high - low);
    const items = counts.map((amount, i) => ({ value: Math.sqrt(amount), color: scale.color(at(i + 0.5)),
      text: _('{low} to {high}: {n}', { low: number(at(i)), high: number(at(i + 1)), n: amount }) }));
    const name = _('Histogram from {low} to {high}', { low: number(low), high: number(high) });
    return columns(name, items, [low, (low + high) / 2, high]);
  }

  /** A row of numbers, as with the output of a classifier. */
  function vector(array, scale) {
    const items = Array.from(decode(array), (value, i) =>
      ({ value, color: scale.color(value), text: `${i}: ${number(value)}` }));
    return columns(_('{n} numbers', { n: items.length }), items, []);
  }

  function flags(value) {
    const share = key => ({ share: percent(value[key]) });
    const kinds = [['bad', 'nan', _('{share} NaN', share('nan'))],
      ['bad', 'infinite', _('{share} infinite', share('infinite'))],
      ['warn', 'saturated', _('{share} saturated', share('saturated'))],
      ['', 'zeros', _('{share} zeros', share('zeros'))]].filter(([, key]) => value[key]);
    return html('p', { class: 'flags' }, kinds.map(([kind, , words]) => html('span', { class: kind }, words)));
  }

  const statistics = (value, scale) => section(_('Distribution'),
    value.histogram ? [histogram(value.histogram, scale),
      note(_('Heights are square roots of the counts, so that rare values are seen too.'))] : null,
    facts([[_('lowest'), number(value.low)], [_('highest'), number(value.high)], [_('mean'), number(value.mean)],
      [_('deviation'), number(value.std)]]));

  /** A frame that is seen on light and dark pictures. */
  const frame = name => svg('g', { class: name }, svg('rect', { class: 'halo' }), svg('rect', { class: 'cross' }));
  const put = (group, box) => [...group.children].forEach(part => Object.entries(box)
    .forEach(([name, at]) => part.setAttribute(name, at)));

  /** The map in the middle of the tab, and the pixel that is pointed at. */
  class Pointer {
    constructor(context, value, array, channel, scale) {
      Object.assign(this, { context, value, array, channel, scale });
      this.size = planes(array);
      this.step = value.maps.step ?? [1, 1];
      this.spec = context.network.windows?.[context.producer(context.valueName())];
      this.seen = context.network.fields?.[this.spec?.field];
      this.numbers = plane(array, channel).values;
      this.cross = frame('pointed');
      this.field = frame('field');
      this.text = html('p', { class: 'pixel', 'aria-live': 'polite' });
      this.sum = html('div');
      const [y, x] = (context.state.pixel ?? '').split(',').map(Number);
      const isInside = y >= 0 && x >= 0 && y < this.size.height && x < this.size.width;
      this.y = isInside ? Math.floor(y) : this.size.height >> 1;
      this.x = isInside ? Math.floor(x) : this.size.width >> 1;
    }

    /** The large map: a pointer shows a pixel, a click holds it, arrow keys move it. */
    picture() {
      const { height, width } = this.size;
      const overlay = svg('svg', { viewBox: `0 0 ${width} ${height}`, 'aria-hidden': 'true',
        preserveAspectRatio: 'none' }, this.cross);
      const name = _('Channel {channel}: arrow keys move to a pixel', this);
      const move = (event, isHeld) => {
        const box = host.getBoundingClientRect();
        this.go(Math.floor(((event.clientY - box.top) / box.height) * height),
          Math.floor(((event.clientX - box.left) / box.width) * width), isHeld);
      };
      const key = event => {
        const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
        if (!step) return;
        event.preventDefault();
        this.go(this.y + step[0], this.x + step[1], true);
      };
      const host = html('div', { class: 'map-frame', tabindex: 0, role: 'application', 'aria-label': name,
        'data-key': 'map', style: { '--ratio': `${width} / ${height}` },
        on: { pointermove: event => move(event, false), click: event => move(event, true), keydown: key } },
        mapCanvas(plane(this.array, this.channel), this.scale), overlay);
      return host;
    }

    /** The input picture with the receptive field of the pixel. */
    input() {
      const { input } = this.context.network;
      if (!input?.picture || !this.seen) return null;
      const [height, width] = input.size;
      return html('figure', {}, svg('svg',
        { viewBox: `0 0 ${width} ${height}`, class: 'photo', role: 'img',
        'aria-label': _('The input, with the part that this pixel can see') },
        svg('image', { href: input.picture, width, height }), this.field),
          html('figcaption', {}, _('input, and what this pixel sees of it')));
    }

    go(y, x, isHeld) {
      this.y = Math.min(this.size.height - 1, Math.max(0, y));
      this.x = Math.min(this.size.width - 1, Math.max(0, x));
      if (isHeld) this.context.keep({ pixel: `${this.y},${this.x}` });
      this.show();
    }

    show() {
      const { y, x, step, spec, seen } = this;
      put(this.cross, { x, y, width: 1, height: 1 });
      const channel = this.channel;
      const [row, column] = [y * step[0], x * step[1]];
      const size = this.context.network.input?.size;
      const box = seen && size ? kuiper.windows.receptiveField(seen, row, column, size) : null;
      if (box) put(this.field, { x: box.left, y: box.top, width: Math.max(0, box.right - box.left),
        height: Math.max(0, box.bottom - box.top) });
      const exact = this.value.exact ? plane(this.value.exact, channel) : null;
      const here = exact ? exact.values[row * exact.width + column] : this.numbers[y * this.size.width + x];
      const place = { channel, row, column, number: number(here) };
      const words = exact ? _('Channel {channel}, row {row}, column {column}: {number}', place)
        : _('Channel {channel}, row {row}, column {column}: about {number}', place);
      this.text.textContent = !box ? _('{pixel}.', { pixel: words })
        : box.isWhole ? _('{pixel}; it sees the whole input.', { pixel: words })
          : _('{pixel}; it sees {height} × {width} pixels of the input.',
            { pixel: words, height: box.bottom - box.top, width: box.right - box.left });
      this.sum.replaceChildren(kuiper.sumView(this.context, spec, this.value, channel, row, column, here) ?? '');
    }
  }

  function grid(context, array, scale, chosen) {
    const { count } = planes(array);
    const cell = i => html('button', {
      type: 'button', class: 'cell', 'aria-pressed': String(i === chosen), 'data-key': `map${i}`,
      'aria-label': _('Channel {channel}', { channel: i }), on: { click: () => context.go({ channel: i }) },
    }, mapCanvas(plane(array, i), scale), html('span', {}, String(i)));
    return html('div', { class: 'cells' }, Array.from({ length: count }, (_, i) => cell(i)));
  }

  /** The weights of a first layer: a filter of three channels is a colour picture. */
  function kernels(spec, total) {
    if (!spec?.weights || spec.kind !== 'convolution') return null;
    const [outputs, inputs, height, width] = spec.weights.shape;
    if (height * width < 4 || inputs > 4) return null;
    const scale = colorScale(...range(decode(spec.weights)), kuiper.isDark());
    const most = Math.max(Math.abs(scale.from), Math.abs(scale.to)) || 1;
    const values = (filter, channel) => plane(spec.weights, filter * inputs + channel).values;
    const coloured = filter => {
      const channels = [0, 1, 2].map(channel => values(filter, channel));
      const color = i => channels.map(weights => Math.round(127.5 + (127.5 * weights[i]) / most));
      return mapCanvas({ height, width, values: [...channels[0].keys()] }, { color });
    };
    const cells = [...Array(Math.min(outputs, 96)).keys()].map(i => html('span',
      { class: 'cell', title: _('filter {n}', { n: i }) },
      inputs === 3 ? coloured(i) : mapCanvas(plane(spec.weights, i * inputs), scale)));
    const sizes = { n: outputs, all: total, height, width };
    const words = outputs < total ? _('The first {n} of {all} filters of {height} × {width}', sizes)
      : _('{n} filters of {height} × {width}', sizes);
    return section(_('Kernels'), note(inputs === 3
      ? _('{filters}, red, green and blue as in a picture: grey is zero.', { filters: words })
      : _('{filters}.', { filters: words })), html('div', { class: 'cells small' }, cells));
  }

  function draw(context) {
    const { network, state } = context;
    if (!state.operator) return html('div', { class: 'empty' },
      note(_('Choose an operator in the graph to see what it makes.')));
    const name = context.valueName();
    const value = network.values[name];
    const { inputs = [], outputs = [] } = network.operators[state.operator] ?? {};
    const names = [...inputs.map(v => [v, _('in: {value}', { value: v })]),
      ...outputs.map(v => [v, _('out: {value}', { value: v })])];
    const change = text => context.go({ value: text, channel: null, pixel: null });
    const page = html('div', {}, html('header', { class: 'row' }, html('h2', {}, state.operator),
      names.length > 1 ? choice(_('value'), names, name, change, 'value') : null));
    const missing = _('The page has no values of this operator: it was not in the graph that ran.');
    const said = parts('value {name}', { name: html('code', {}, name) });
    if (value) page.append(html('p', { class: 'muted' }, said, describe(value)));
    if (value?.maps) drawMaps(context, value, page);
    else page.append(note(value ? (value.text ?? _('Its pictures were left out to keep the page small.')) : missing));
    return page;
  }

  function drawMaps(context, value, page) {
    const scale = colorScale(value.low ?? 0, value.high ?? 0, kuiper.isDark());
    const isWhole = value.exact?.shape.length === 4 && value.exact.shape[0] === 1 && Math.max(...value.maps.step) === 1;
    const array = isWhole ? value.exact : value.maps.array; // the exact numbers have all channels, and show what is NaN
    const { count, height } = planes(array);
    page.append(flags(value));
    if (height === 1 && count === 1) return page.append(vector(array, scale), legend(scale), statistics(value, scale));
    const channel = whole(context.state.channel, count - 1);
    const pointer = new Pointer(context, value, array, channel, scale);
    const caption = Math.max(...pointer.step) > 1
      ? _('channel {channel}, every {step}th pixel', { channel, step: pointer.step.join(' × ') })
      : _('channel {channel}', { channel });
    const all = value.shape.at(-3) ?? 1;
    const title = count < all ? _('The first {n} of {all} channels', { n: count, all })
      : _('All {n} channels', { n: count });
    page.append(
      html('div', { class: 'halves' },
        html('figure', {}, pointer.picture(), html('figcaption', {}, caption)),
        pointer.input() ?? ''),
      legend(scale), pointer.text, pointer.sum,
      count > 1 ? section(title, grid(context, array, scale, channel)) : '',
      statistics(value, scale), kernels(pointer.spec, all) ?? '');
    pointer.show();
  }

  const missing = network => (Object.keys(network.values).length ? ''
    : _('There are no feature maps, as the model was not run on an input.'));
  kuiper.legend = legend;
  kuiper.tabs.push({ id: 'maps', title: _('Maps'), missing, draw });
})((globalThis.kuiper ??= {}));

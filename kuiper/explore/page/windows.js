'use strict';
// Where a number comes from: the receptive field, and the window times the weights.
(kuiper => {
  const { decode } = kuiper.arrays;
  const WEIGHTED = ['convolution', 'linear'];
  const LINEAR = { kernel: [1, 1], stride: [1, 1], padding: [0, 0], dilation: [1, 1] };

  /** The part of the model's input that one place of a map can see: the first and the last row and column of it. */
  function receptiveField(field, y, x, size) {
    const axis = ([first, last], place) => {
      const at = Math.min(place, first.length - 1);
      return [first[at], last[at] + 1];
    };
    const [top, bottom] = axis(field.rows, y);
    const [left, right] = axis(field.columns, x);
    return { top, left, bottom, right, isWhole: bottom - top >= size[0] && right - left >= size[1] };
  }

  /** Rows and columns of the input under the kernel at one place of the output; those in the padding are outside. */
  function windowAt(spec, y, x) {
    const { kernel, stride, padding, dilation } = spec.kind === 'linear' ? LINEAR : spec;
    const axis = (place, i) => {
      const first = place * stride[i] - padding[i];
      return Array.from({ length: kernel[i] }, (_, k) => first + k * dilation[i]);
    };
    return { rows: axis(y, 0), columns: axis(x, 1) };
  }

  /** The input's channels, and the number at a place of one. Each input of a linear layer is a channel. */
  function picker(array, kind) {
    const [channels, height, width] = kind === 'linear' ? [array.shape.at(-1), Infinity, 1] : array.shape.slice(-3);
    const values = decode(array);
    const index = kind === 'linear' ? (c, y) => y * channels + c : (c, y, x) => (c * height + y) * width + x;
    const at = (c, y, x) => (y < 0 || x < 0 || y >= height || x >= width ? null : values[index(c, y, x)]);
    return { channels, at };
  }

  /** Which input channels a channel of the output sees. */
  function inputChannels(spec, channel, inputs, outputs) {
    if (!WEIGHTED.includes(spec.kind)) return [channel];
    const groups = spec.groups ?? 1;
    const each = inputs / groups;
    const first = Math.floor(channel / (outputs / groups)) * each;
    return Array.from({ length: each }, (_, i) => first + i);
  }

  /** One number of an output: for each input channel window, weights and sum; null where weights are missing. */
  function terms(spec, input, channel, outputs, y, x) {
    const { channels, at } = picker(input, spec.kind);
    const { rows, columns } = windowAt(spec, y, x);
    const held = spec.channels ? spec.channels.indexOf(channel) : channel;
    if (WEIGHTED.includes(spec.kind) && (!spec.weights || held < 0)) return null;
    const weights = spec.weights ? decode(spec.weights) : null;
    const area = rows.length * columns.length;
    const parts = inputChannels(spec, channel, channels, outputs).map((c, place, all) => {
      const window = rows.flatMap(row => columns.map(column => at(c, row, column)));
      const start = (held * all.length + place) * area;
      const factors = weights ? Array.from(weights.subarray(start, start + area)) : null;
      const products = factors ? factors.map((factor, i) => factor * (window[i] ?? 0)) : window;
      return { channel: c, window, factors, products, sum: products.reduce((a, b) => a + (b ?? 0), 0) };
    });
    const bias = spec.bias && held >= 0 ? decode(spec.bias)[held] : 0;
    const inside = parts[0].window.filter(value => value !== null);
    let total = parts.reduce((sum, part) => sum + part.sum, bias);
    if (spec.kind === 'max') total = Math.max(...inside);
    if (spec.kind === 'average') total = parts[0].sum / (spec.countsPadding === false ? inside.length : area);
    return { rows, columns, parts, bias, total };
  }

  const sigmoid = v => 1 / (1 + Math.exp(-v));
  const HASTINGS = [1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592]; // Abramowitz, Stegun, 7.1.26
  const erfc = (v, t = 1 / (1 + 0.3275911 * v)) => HASTINGS.reduce((sum, c) => (sum + c) * t, 0) * Math.exp(-v * v);

  // The rows of kuiper/simd/activations.h that passes put into other operators; a test compares the names.
  const ACTIVATIONS = {
    relu: v => Math.max(0, v), leaky_relu: (v, alpha) => (v < 0 ? alpha * v : v),
    clip: (v, alpha, beta) => Math.min(beta, Math.max(alpha, v)),
    elu: (v, alpha) => (v < 0 ? alpha * Math.expm1(v) : v),
    silu: v => v * sigmoid(v),
    hardswish: v => v * Math.min(1, Math.max(0, v / 6 + 0.5)),
    hardsigmoid: v => Math.min(1, Math.max(0, v / 6 + 0.5)),
    sigmoid, tanh: Math.tanh,
    gelu: v => Math.max(0, v) - (Math.abs(v) * erfc(Math.abs(v) * Math.SQRT1_2)) / 2,
    gelu_tanh: v => v * sigmoid(2 * Math.sqrt(2 / Math.PI) * (v + 0.044715 * v ** 3)),
    mish: v => v * Math.tanh(Math.log1p(Math.exp(v))),
  };

  /** What an activation {name, alpha, beta} makes of a sum; null if the page cannot say. */
  function afterwards(value, activation) {
    return activation ? ACTIVATIONS[activation.name]?.(value, activation.alpha, activation.beta) ?? null : value;
  }

  kuiper.windows = { afterwards, inputChannels, receptiveField, terms, windowAt };
})((globalThis.kuiper ??= {}));

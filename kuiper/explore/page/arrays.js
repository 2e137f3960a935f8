'use strict';
// Arrays of the data: base64 text becomes numbers, once.
(kuiper => {
  const decoded = new WeakMap();

  function numbersOf({ kind, data, low, high }) {
    const bytes = Uint8Array.from(atob(data), letter => letter.charCodeAt(0));
    if (kind === 'f32') return new Float32Array(bytes.buffer); // every browser's machine is little-endian, as the data
    return Float32Array.from(bytes, byte => low + ((high - low) * byte) / 255);
  }

  /** An array's numbers (Float32Array, row-major); equal objects are decoded only once. */
  function decode(array) {
    if (!decoded.has(array)) decoded.set(array, numbersOf(array));
    return decoded.get(array);
  }

  /** An array as pictures: how many, how high, how wide. Axes before the last two are counted through. */
  function planes(array) {
    const shape = [...array.shape];
    const width = shape.pop() ?? 1;
    const height = shape.pop() ?? 1;
    return { count: shape.reduce((a, b) => a * b, 1), height, width };
  }

  /** One picture of an array: {height, width, values}. */
  function plane(array, index) {
    const { height, width } = planes(array);
    const size = height * width;
    return { height, width, values: decode(array).subarray(index * size, (index + 1) * size) };
  }

  /** The smallest and the largest finite number; [0, 0] where there is none. */
  function range(values) {
    let low = Infinity;
    let high = -Infinity;
    for (const value of values) {
      if (!Number.isFinite(value)) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
    return low <= high ? [low, high] : [0, 0];
  }

  kuiper.arrays = { decode, plane, planes, range };
})((globalThis.kuiper ??= {}));

'use strict';
// The moving picture: a row for each step, the newest at the bottom. To the left its rows of the batch, to the right
// who waits.
(kuiper => {
  const ROW = 4; // pixels, with a gap of 1
  const WAITING = 0.16; // of the width
  const MOST_WAITING = 32;
  const KINDS = ['prompt', 'drawn', 'right', 'wrong', 'waiting', 'line-strong'];

  /** How many steps a picture of this height has room for. */
  const room = height => Math.floor(height / ROW);

  /** Paint steps on a canvas; `capacity` is how many rows a step can have. */
  function paint(canvas, steps, capacity) {
    const ratio = globalThis.devicePixelRatio || 1;
    const { clientWidth: width, clientHeight: height } = canvas;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    const style = getComputedStyle(canvas);
    const colors = Object.fromEntries(KINDS.map(kind => [kind, style.getPropertyValue(`--${kind}`).trim()]));
    const pen = canvas.getContext('2d');
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    const left = width * (1 - WAITING);
    const shown = steps.slice(-room(height));
    shown.forEach((step, i) => {
      const y = height - ROW * (shown.length - i);
      for (const [kind, first, end] of kuiper.steps.stretches(step)) {
        pen.fillStyle = colors[kind];
        pen.fillRect((left * first) / capacity, y, (left * (end - first)) / capacity, ROW - 1);
      }
      pen.fillStyle = colors.waiting;
      pen.fillRect(left + 4, y, ((width - left - 4) * Math.min(step.waiting, MOST_WAITING)) / MOST_WAITING, ROW - 1);
    });
    pen.fillStyle = colors['line-strong'];
    pen.fillRect(left + 1, 0, 1, height);
  }

  kuiper.picture = { paint, room };
})((globalThis.kuiper ??= {}));

'use strict';
// How the graph looks on its canvas. Colours are those of the style sheet.
(kuiper => {
  const { WIDTH, HEIGHT } = kuiper.layout;
  const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "PingFang SC", "Microsoft YaHei", '
    + '"Noto Sans CJK SC", "Source Han Sans SC", sans-serif';
  const CHANGES = { new: ['--good', '+'], changed: ['--warn', '~'], moved: ['--warn', '↕'] };

  /** Colours of the style sheet by name, read once for each theme. */
  function palette() {
    const style = getComputedStyle(document.documentElement);
    const known = new Map();
    return name => {
      if (!known.has(name)) known.set(name, style.getPropertyValue(name).trim());
      return known.get(name);
    };
  }

  const LETTER = 6.6; // pixels, about; a wider text is drawn narrower

  const write = (pen, text, x, y, room) => pen.fillText(kuiper.format.cut(text, Math.floor(room / LETTER)), x, y, room);

  /** An edge as a line that leaves and arrives upright. */
  function trace(path, points) {
    path.moveTo(...points[0]);
    for (let i = 1; i < points.length; i++) {
      const [x0, y0] = points[i - 1];
      const [x1, y1] = points[i];
      const middle = (y0 + y1) / 2;
      if (Math.abs(x0 - x1) < 0.5) path.lineTo(x1, y1);
      else path.bezierCurveTo(x0, middle, x1, middle, x1, y1);
    }
  }

  function arrow(path, [x, y]) {
    path.moveTo(x, y);
    path.lineTo(x - 3.5, y - 6);
    path.lineTo(x + 3.5, y - 6);
    path.closePath();
  }

  /** The lines of all edges and their arrows, made once for a layout. */
  function edgePaths(edges) {
    const [lines, arrows] = [new Path2D(), new Path2D()];
    for (const { points } of edges) {
      trace(lines, points);
      arrow(arrows, points.at(-1));
    }
    return { lines, arrows };
  }

  function boxPath(pen, x, y, width = WIDTH, height = HEIGHT, radius = 8) {
    pen.beginPath();
    pen.roundRect(x, y, width, height, radius);
  }

  /** One box at x, y. `look`: {title, line, family, change, isSelected, isGroup, share, error}. */
  function box(pen, color, x, y, look, isDetailed) {
    for (const shift of look.isGroup ? [6, 3] : []) {
      boxPath(pen, x + shift, y + shift);
      pen.fillStyle = color('--surface');
      pen.strokeStyle = color('--line-strong');
      pen.fill();
      pen.stroke();
    }
    const [changeColor, mark] = look.error ? ['--bad', '≠'] : (CHANGES[look.change] ?? []);
    const ring = look.isSelected ? '--accent' : changeColor;
    if (ring) {
      boxPath(pen, x - 3, y - 3, WIDTH + 6, HEIGHT + 6, 11);
      pen.fillStyle = color(ring);
      pen.globalAlpha = 0.2;
      pen.fill();
      pen.globalAlpha = 1;
    }
    boxPath(pen, x, y);
    pen.fillStyle = color('--surface');
    pen.fill();
    pen.save();
    pen.clip();
    pen.fillStyle = color(`--f-${look.family}`) || color('--f-other');
    pen.fillRect(x, y, isDetailed ? 5 : WIDTH, HEIGHT);
    if (look.share > 0) {
      pen.fillStyle = color('--heat');
      pen.fillRect(x + 5, y + HEIGHT - 4, (WIDTH - 5) * look.share, 4);
    }
    pen.restore();
    boxPath(pen, x, y);
    pen.lineWidth = ring ? 2 : 1;
    pen.strokeStyle = color(ring ?? '--line-strong');
    pen.stroke();
    pen.lineWidth = 1;
    if (isDetailed) letters(pen, color, x, y, look, mark, changeColor);
  }

  function letters(pen, color, x, y, look, mark, changeColor) {
    let room = WIDTH - 26;
    if (mark) {
      pen.font = `700 13px ${FONT}`;
      pen.fillStyle = color(changeColor);
      pen.textAlign = 'right';
      pen.fillText(mark, x + WIDTH - 10, y + 19);
      room -= 14;
    }
    pen.textAlign = 'left';
    pen.font = `600 13px ${FONT}`;
    pen.fillStyle = color('--ink');
    write(pen, look.title, x + 15, y + 19, room);
    pen.font = `11.5px ${FONT}`;
    pen.fillStyle = color('--muted');
    write(pen, look.line, x + 15, y + 35, WIDTH - 26);
  }

  /** The shape that flows, left of the start of an edge: edges that pass a box bend to the right of it. */
  function edgeLabel(pen, color, [x, y], text) {
    pen.font = `11px ${FONT}`;
    pen.textAlign = 'right';
    const width = pen.measureText(text).width + 4;
    pen.fillStyle = color('--ground');
    pen.fillRect(x - width - 5, y + 5, width, 15);
    pen.fillStyle = color('--muted');
    pen.fillText(text, x - 7, y + 16);
  }

  kuiper.paint = { box, edgeLabel, edgePaths, palette, trace };
})((globalThis.kuiper ??= {}));

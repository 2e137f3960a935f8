'use strict';
// Where boxes stand: the layered layout of Sugiyama, Tagawa and Toda (1981), as in kuiper/graph/layout.py.
(kuiper => {
  const WIDTH = 184;
  const HEIGHT = 46;
  const GAP = 28;
  const ROW = 84; // from the top of a row to the top of the next
  const BEND = 14; // width of an edge that passes a row, and its distance from what stands beside it
  const SWEEPS = 10;
  const BOX_WEIGHT = 64;
  const STRENGTHS = [4, 1, 8]; // of an edge between two boxes, of a long edge's end, of its middle: these are straight

  /** Rows by the longest path from the start. Circles, which only a group could close, end with the last row. */
  function ranks(keys, edges) {
    const row = new Map(keys.map(key => [key, 0]));
    const place = new Map(keys.map((key, i) => [key, i]));
    const inOrder = [...edges].sort((a, b) => place.get(a.from) - place.get(b.from));
    for (let isMoved = true; isMoved; ) {
      isMoved = false;
      for (const { from, to } of inOrder) {
        const below = Math.min(keys.length - 1, row.get(from) + 1);
        if (row.get(to) < below) isMoved = row.set(to, below) !== null;
      }
    }
    return row;
  }

  /** Inputs and constants stand right above what reads them. */
  function lowerSources(row, edges) {
    const sources = new Set(row.keys());
    for (const edge of edges) sources.delete(edge.to);
    for (const key of sources) {
      const readers = edges.filter(edge => edge.from === key).map(edge => row.get(edge.to));
      if (readers.length) row.set(key, Math.max(0, Math.min(...readers) - 1));
    }
  }

  /** The median place of a node's neighbours by strength: right below the strongest, or between two as strong. */
  function median(links, otherwise) {
    if (links.length < 2) return links.length ? links[0][0].x : otherwise;
    const sorted = [...links].sort((a, b) => a[0].x - b[0].x);
    const half = sorted.reduce((sum, [, strength]) => sum + strength, 0) / 2;
    let sum = 0;
    for (let i = 0; ; i++) {
      sum += sorted[i][1];
      if (sum === half) return (sorted[i][0].x + sorted[i + 1][0].x) / 2;
      if (sum > half) return sorted[i][0].x;
    }
  }

  const mean = (links, otherwise) =>
    (links.length ? links.reduce((sum, [node]) => sum + node.x, 0) / links.length : otherwise);

  const gap = (a, b) => (a.width === BEND || b.width === BEND ? BEND : GAP);

  /** Each node of a row gets its wish as far as order and gaps allow; blocks that collide share the mean wish. */
  function spread(row, wishes) {
    const offsets = [0];
    row.slice(1).forEach((node, i) => offsets.push(offsets[i] + (row[i].width + node.width) / 2 + gap(row[i], node)));
    const blocks = []; // [weight, sum of wishes for the row's first node, nodes]; an edge gives way to a box
    row.forEach((node, i) => {
      const weight = node.width === BEND ? 1 : BOX_WEIGHT;
      let block = [weight, weight * (wishes[i] - offsets[i]), 1];
      while (blocks.length && blocks.at(-1)[1] / blocks.at(-1)[0] > block[1] / block[0]) {
        const last = blocks.pop();
        block = block.map((number, part) => number + last[part]);
      }
      blocks.push(block);
    });
    let i = 0;
    for (const [weight, sum, count] of blocks) for (let n = 0; n < count; n++, i++) row[i].x =
      sum / weight + offsets[i];
  }

  function link(upper, lower, strength) {
    upper.below.push([lower, strength]);
    lower.above.push([upper, strength]);
  }

  /** Boxes (Map from key to {x, y, row}: the upper left corner) and ways of {nodes, edges}. */
  function layered(graph) {
    const keys = graph.nodes.map(node => node.key);
    const row = ranks(keys, graph.edges);
    lowerSources(row, graph.edges);
    const rows = Array.from({ length: Math.max(-1, ...row.values()) + 1 }, () => []);
    const place = (key, width, y) => {
      const node = { key, width, y, x: 0, above: [], below: [] };
      rows[y].push(node);
      return node;
    };
    const nodes = new Map(keys.map(key => [key, place(key, WIDTH, row.get(key))]));
    const routes = graph.edges.map(edge => {
      let [upper, lower] = [nodes.get(edge.from), nodes.get(edge.to)];
      const isBack = upper.y >= lower.y;
      if (isBack) [upper, lower] = [lower, upper];
      const route = [upper];
      for (let y = upper.y + 1; y < lower.y; y++) route.push(place(null, BEND, y));
      if (upper !== lower) route.push(lower);
      for (let i = 1; i < route.length; i++) {
        const bends = (route[i - 1].key === null) + (route[i].key === null);
        link(route[i - 1], route[i], STRENGTHS[bends]);
      }
      return isBack ? route.reverse() : route;
    });
    sortRows(rows);
    placeRows(rows);
    return finished(graph, rows, nodes, routes);
  }

  /** Rows from the top down by their neighbours above, then from the bottom up by those below, and so on. */
  function sweep(rows, times, middle, place) {
    for (let turn = 0; turn < times; turn++) {
      const side = turn % 2 ? 'below' : 'above';
      for (const line of turn % 2 ? [...rows].reverse() : rows) place(line, node => middle(node[side], node.x));
    }
  }

  function sortRows(rows) {
    const count = line => line.forEach((node, i) => (node.x = i));
    rows.forEach(count);
    sweep(rows, SWEEPS, mean, (line, wish) => {
      const wishes = new Map(line.map(node => [node, wish(node)]));
      line.sort((a, b) => wishes.get(a) - wishes.get(b));
      count(line);
    });
  }

  function placeRows(rows) {
    for (const line of rows) spread(line, line.map((_, i) => i));
    sweep(rows, 3 * SWEEPS, median, (line, wish) => spread(line, line.map(wish)));
  }

  function finished(graph, rows, nodes, routes) {
    const edges = rows.flat().map(node => node.x - node.width / 2);
    const left = edges.length ? edges.reduce((a, b) => Math.min(a, b)) : 0;
    const width = rows.flat().reduce((most, node) => Math.max(most, node.x + node.width / 2 - left), 0);
    const boxes = new Map();
    for (const [key, node] of nodes) {
      boxes.set(key, { x: node.x - left - WIDTH / 2, y: node.y * ROW, row: node.y });
    }
    const ways = graph.edges.map((edge, i) => {
      const points = [];
      for (const node of routes[i]) {
        const [x, top] = [node.x - left, node.y * ROW];
        if (node.key === null) points.push([x, top], [x, top + HEIGHT]);
        else points.push([x, points.length ? top : top + HEIGHT]);
      }
      return { ...edge, points };
    });
    return { boxes, edges: ways, width, height: rows.length ? (rows.length - 1) * ROW + HEIGHT : 0 };
  }

  kuiper.layout = { layered, ranks, spread, WIDTH, HEIGHT, GAP };
})((globalThis.kuiper ??= {}));

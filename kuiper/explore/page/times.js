'use strict';
// Runs: how long each operator took itself, who ran when, and two runs beside each other.
(kuiper => {
  /** The operator's name of a span. */
  const operatorOf = (span, network) => span.operator ?? network.plan?.steps[span.step]?.operator ?? '';

  /** Time of each operator (µs) over all threads: Map, longest first. */
  function selfTimes(run, network) {
    const times = new Map();
    for (const span of run.spans) {
      const name = operatorOf(span, network);
      times.set(name, (times.get(name) ?? 0) + span.time);
    }
    return new Map([...times].sort((a, b) => b[1] - a[1]));
  }

  /** Wall time of each operator (µs): from its first span's start to its last one's end. */
  function wallTimes(run, network) {
    const ends = new Map();
    for (const span of run.spans) {
      const name = operatorOf(span, network);
      const [start, end] = ends.get(name) ?? [Infinity, -Infinity];
      ends.set(name, [Math.min(start, span.start), Math.max(end, span.start + span.time)]);
    }
    return new Map([...ends].map(([name, [start, end]]) => [name, end - start]));
  }

  /** Sums of times by a key of their operator: [[key, time]], longest first. */
  function grouped(times, keyOf) {
    const sums = new Map();
    for (const [name, time] of times) sums.set(keyOf(name), (sums.get(keyOf(name)) ?? 0) + time);
    return [...sums].sort((a, b) => b[1] - a[1]);
  }

  /** Two runs beside each other: [{name, first, second}], the largest difference first. */
  function compared(first, second) {
    const names = new Set([...first.keys(), ...second.keys()]);
    const rows = [...names].map(name => ({ name, first: first.get(name), second: second.get(name) }));
    const gap = row => Math.abs((row.first ?? 0) - (row.second ?? 0));
    return rows.sort((a, b) => gap(b) - gap(a));
  }

  const threads = run => [...new Set(run.spans.map(span => span.thread ?? 0))].sort((a, b) => a - b);
  const duration = run => run.spans.reduce((end, span) => Math.max(end, span.start + span.time), 0);

  /** Work and speed of operators by their times (µs): flops per byte, and billions of flops per second. */
  function roofline(network, times) {
    const steps = network.plan?.steps ?? [];
    const sum = (name, key) => steps.filter(step => step.operator === name).reduce((all, step) => all + step[key], 0);
    const points = [...times].map(([operator, time]) => {
      const flops = sum(operator, 'flops');
      return { operator, time, intensity: flops / sum(operator, 'bytes'), speed: flops / time / 1e3 };
    });
    return points.filter(point => point.intensity > 0 && point.speed > 0 && Number.isFinite(point.speed));
  }

  /** What is alive at a step, largest first, and its sum. */
  function aliveAt(memory, step) {
    const alive = memory.rectangles.filter(r => r.first <= step && step <= r.last).sort((a, b) => b.bytes - a.bytes);
    return { alive, bytes: alive.reduce((sum, r) => sum + r.bytes, 0) };
  }

  kuiper.times = { aliveAt, compared, duration, grouped, operatorOf, roofline, selfTimes, threads, wallTimes };
})((globalThis.kuiper ??= {}));

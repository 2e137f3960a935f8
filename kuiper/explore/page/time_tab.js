'use strict';
// Time: the steps of a run on a line, who takes how long, two runs beside each other.
(kuiper => {
  const { bars, choice, familyColor, html, link, note, range, room, section, svg, table } = kuiper.dom;
  const { _, many } = kuiper.language;
  const { cut, family, percent, ticks, time } = kuiper.format;
  const { whole } = kuiper.state;
  const { times } = kuiper;
  const LANE = 30;
  const AXIS = 24;
  const MAX_ZOOM = 40;
  const SHOWN = 15; // operators in the lists

  /** A step on its thread, with its name where there is room. */
  function spanMarks(context, span, x, y) {
    const name = times.operatorOf(span, context.network);
    const left = x(span.start);
    const width = Math.max(0.75, x(span.start + span.time) - left - 0.75);
    const style = { fill: context.colorOf(name) };
    const box = svg('rect', { x: left, y: y + 2, width, height: LANE - 6, rx: Math.min(3, width / 3), style,
      class: name === context.state.operator ? 'span chosen' : 'span', on: context.opens(name) },
      svg('title', {}, _('{name}: {time} from {start} on, thread {thread}',
        { name, time: time(span.time), start: time(span.start), thread: span.thread ?? 0 })));
    return [box, svg('text', { x: left + 5, y: y + LANE / 2 + 3, class: 'on-span' },
      cut(name, Math.floor((width - 8) / 7.2)))];
  }

  /** A run on a line of this many pixels, one row for each thread. */
  function lanes(context, run, end, width) {
    const threads = times.threads(run);
    const x = at => (at / end) * width;
    const height = LANE * threads.length;
    const grid = ticks(0, end, width / 90).flatMap(at => [
      svg('line', { x1: x(at), x2: x(at), y1: 0, y2: height, class: 'grid' }),
      svg('text', { x: Math.min(x(at) + 3, width - 40), y: height + AXIS - 8 }, at === 0 ? '0' : time(at))]);
    const name = _('{run}: {steps} steps on {threads} threads',
      { run: run.name, steps: run.spans.length, threads: threads.length });
    return svg('svg', { class: 'timeline', width, height: height + AXIS, role: 'img', 'aria-label': name }, grid,
      run.spans.flatMap(span => spanMarks(context, span, x, LANE * threads.indexOf(span.thread ?? 0))));
  }

  /** Runs on one scale. A slider makes it longer; then it is scrolled like any other thing that is too wide. */
  function timeline(context, runs) {
    const end = Math.max(...runs.map(times.duration), 1e-6);
    const frame = html('div', { class: 'scroll timeline-frame', tabindex: 0, role: 'group', 'data-key': 'timeline',
      'aria-label': _('Runs on a line') });
    const draw = zoom => {
      const middle = (frame.scrollLeft + frame.clientWidth / 2) / (frame.scrollWidth || 1);
      const width = (room() - 26) * zoom;
      frame.replaceChildren(...runs.flatMap(run => [
        html('p', { class: 'lane' }, `${run.name} · ${time(run.total)}`), lanes(context, run, end, width)]));
      frame.scrollLeft = middle * frame.scrollWidth - frame.clientWidth / 2;
    };
    draw(1);
    return [frame, range(_('Zoom'), { min: 1, max: MAX_ZOOM, step: 0.5, value: 1 }, draw, 'zoom')];
  }

  const share = (part, total) => (total ? part / total : 0);

  /** How much of a run each family of operators takes. */
  function familyBars(context, run) {
    const sums = times.grouped(times.selfTimes(run, context.network), context.familyOf);
    const total = sums.reduce((sum, [, part]) => sum + part, 0);
    return bars(_('Time by kind of operator'), sums.map(([name, part]) => ({
      label: family(name), share: share(part, sums[0][1]),
      text: `${time(part)} · ${percent(share(part, total))}`, color: familyColor(name) })));
  }

  function single(context, run) {
    const own = [...times.selfTimes(run, context.network)];
    const sum = list => list.reduce((total, [, part]) => total + part, 0);
    const total = sum(own);
    const others = own.slice(SHOWN);
    const rows = own.slice(0, SHOWN).map(([name, part]) => ({
      label: name, share: share(part, own[0][1]), text: `${time(part)} · ${percent(share(part, total))}`,
      color: context.colorOf(name), on: () => context.choose(name), strong: name === context.state.operator,
    }));
    const rest = many(others.length, '{n} more takes {time}.', '{n} more take {time} together.',
      { time: time(sum(others)) });
    return html('div', { class: 'halves' },
      section(_('By operator'), bars(_('Time by operator'), rows),
        others.length ? note(rest) : null),
      section(_('By kind'), familyBars(context, run)));
  }

  function beside(context, first, second) {
    const { network } = context;
    const rows = times.compared(times.wallTimes(first, network), times.wallTimes(second, network));
    const most = Math.max(...rows.flatMap(row => [row.first ?? 0, row.second ?? 0]), 1e-9);
    const cell = (value, kind) => [
      html('span', { class: `pair ${kind}`, style: { '--share': `${share(value ?? 0, most) * 100}%` } }),
      value === undefined ? '–' : time(value)];
    const cells = rows.slice(0, 2 * SHOWN).map(row => [
      link(row.name, () => context.choose(row.name)), cell(row.first, 'first'), cell(row.second, 'second'),
      row.first && row.second ? `${Number((row.first / row.second).toPrecision(2))} ×` : '']);
    return section(_('The largest differences'),
      table([_('operator'), first.name, second.name, _('first ÷ second')], cells));
  }

  function draw(context) {
    const { runs } = context.network;
    const at = whole(context.state.run, runs.length - 1);
    const against = whole(context.state.against ?? '', runs.length - 1, -1);
    const options = runs.map((run, i) => [i, `${run.name} (${time(run.total)})`]);
    const shown = against >= 0 && against !== at ? [runs[at], runs[against]] : [runs[at]];
    return html('div', {},
      html('header', { class: 'row' }, html('h2', {}, _('Time')),
        choice(_('run'), options, at, value => context.go({ run: value }), 'run'),
        runs.length > 1 ? choice(_('beside'), [['', _('nothing')], ...options.filter(([i]) => i !== at)], against,
          value => context.go({ against: value }), 'against') : null),
      timeline(context, shown),
      note(_('A box is one step on one thread; a click chooses its operator.')),
      shown.length > 1 ? beside(context, ...shown) : single(context, runs[at]));
  }

  const missing = network => (network.runs?.length ? '' : _('There are no times, as the model was not run.'));
  kuiper.familyBars = familyBars;
  kuiper.tabs.push({ id: 'time', title: _('Time'), missing, draw });
})((globalThis.kuiper ??= {}));

'use strict';
// One operator: parameters, formula, sizes, the algorithm and why, and where it lies on the roofline.
(kuiper => {
  const { bars, chart, facts, html, link, note, room, section, svg, tiles } = kuiper.dom;
  const { _ } = kuiper.language;
  const { bytes, count, describe, family, flops, number, percent, ticks, time } = kuiper.format;
  const { roofline } = kuiper.times;

  const NO_STEP = _('The engine has no step for this operator: another step does its work, or there is nothing to do.');

  /** Values of an operator with their shapes; each leads to the operator at its other end. */
  function valueRows(names, context, end) {
    const { values } = context.network;
    const word = end === 'from' ? _('in') : _('out');
    return names.map(name => html('li', { 'data-end': word }, html('code', {}, name),
      html('span', { class: 'muted' }, values[name] ? describe(values[name]) : ''),
      context.ends(name)[end].flatMap(other =>
        [' ', link(`${end === 'from' ? '←' : '→'} ${other}`, () => context.choose(other))])));
  }

  /** A text in which `code` stands between two back-ticks. */
  const withCode = text => text.split('`').map((part, i) => (i % 2 ? html('code', {}, part) : part));

  function algorithms(steps) {
    return steps.map(step => {
      const chosen = { algorithm: step.algorithm, expected: step.expected, color: 'var(--accent)', note: _('chosen') };
      const known = [chosen, ...step.rejected].filter(row => row.expected).sort((a, b) => a.expected - b.expected);
      const times = [...known, { algorithm: _('measured'), expected: step.measured, color: 'var(--heat)' }];
      const most = Math.max(...times.map(row => row.expected), 1e-9);
      const rows = times.map(row => ({ label: row.algorithm, share: row.expected / most, text: time(row.expected),
        color: row.color ?? 'var(--line-strong)', note: row.note, strong: row === chosen }));
      return section(_('Algorithm: {name}', { name: step.algorithm }), html('p', {}, step.why),
        bars(known.length ? _('Expected time of each algorithm, and what it took') : _('What it took'), rows),
        facts([[_('tasks'), count(step.tasks)], [_('moves'), bytes(step.bytes)], [_('kernel'), step.source]]));
    });
  }

  function verdict(mine, bound, ridge) {
    const place = _('{speed} GFLOP/s, at {intensity} FLOP per byte',
      { speed: number(mine.speed), intensity: number(mine.intensity) });
    if (mine.speed > bound) {
      return _('{place}: above the roof, as caches hold its data, or as its algorithm needs fewer operations than are '
        + 'counted.', { place });
    }
    const share = percent(mine.speed / bound);
    return mine.intensity < ridge
      ? _('{place}: {share} of what is possible, where memory sets the limit.', { place, share })
      : _('{place}: {share} of what is possible, where arithmetic sets the limit.', { place, share });
  }

  /** All steps by work per byte and speed, under what the machine can do at most; one of them is marked. */
  function rooflineChart(context, chosen) {
    const { machine } = context.network; // its figures are those of one thread, as with the first run of a plan
    const points = roofline(context.network, context.wall);
    if (!points.length) return null;
    const { peak } = machine;
    const [width, height, left, bottom] = [room(), 320, 54, 40];
    const log = Math.log10;
    const xs = points.map(point => point.intensity).concat(peak / machine.bandwidth);
    const ys = points.map(point => point.speed).concat(peak);
    const [x0, x1] = [Math.floor(log(Math.min(...xs)) - 0.1), Math.ceil(log(Math.max(...xs)) + 0.1)];
    const [y0, y1] = [Math.floor(log(Math.min(...ys))), Math.ceil(log(Math.max(...ys)) + 0.05)];
    const x = value => left + ((log(value) - x0) / (x1 - x0)) * (width - left - 24);
    const y = value => height - bottom - ((log(value) - y0) / (y1 - y0)) * (height - bottom - 12);
    const ridge = peak / machine.bandwidth;
    const lowest = 10 ** Math.max(x0, y0 - log(machine.bandwidth));
    const roof = `M${x(lowest)},${y(lowest * machine.bandwidth)}L${x(ridge)},${y(peak)}L${x(10 ** x1)},${y(peak)}`;
    const powers = (low, high) => ticks(low, high, high - low).filter(Number.isInteger).map(power => 10 ** power);
    const line = (x1, x2, y1, y2) => svg('line', { x1, x2, y1, y2, class: 'grid' });
    const lines = [
      ...powers(x0, x1).flatMap(at => [line(x(at), x(at), 12, height - bottom),
        svg('text', { x: x(at), y: height - bottom + 16, 'text-anchor': 'middle' }, number(at))]),
      ...powers(y0, y1).flatMap(at => [line(left, width - 24, y(at), y(at)),
        svg('text', { x: left - 8, y: y(at) + 4, 'text-anchor': 'end' }, number(at))]),
    ];
    const dot = point => {
      const isChosen = point.operator === chosen;
      const text = _('{operator}: {speed} GFLOP/s, {intensity} FLOP per byte, {time}', { operator: point.operator,
        speed: number(point.speed), intensity: number(point.intensity), time: time(point.time) });
      return svg('circle', {
        cx: x(point.intensity), cy: y(point.speed), r: isChosen ? 8 : 4.5, class: isChosen ? 'dot chosen' : 'dot',
        style: { fill: context.colorOf(point.operator) }, on: context.opens(point.operator),
      }, svg('title', {}, text));
    };
    const mine = points.find(point => point.operator === chosen);
    const bound = mine ? Math.min(peak, mine.intensity * machine.bandwidth) : 0;
    return section(_('Roofline'), mine ? html('p', {}, verdict(mine, bound, ridge)) : null,
      chart(width, height, _('Speed of each step over its work per byte, and the limits of the machine'), lines,
        svg('path', { d: roof, class: 'roof' }),
        svg('text', { x: left + 6, y: 26, class: 'caption' }, _('GFLOP/s, at most {peak}', { peak: number(peak) })),
        svg('text', { x: width - 24, y: height - 6, 'text-anchor': 'end', class: 'caption' }, _('FLOP per byte')),
        points.filter(point => point !== mine).map(dot), mine ? dot(mine) : null));
  }

  function draw(context) {
    const { network, state } = context;
    if (!state.operator) return html('div', { class: 'empty' },
      note(_('Choose an operator: click on a box of the graph, or press / and type a part of its name.')));
    const operator = network.operators[state.operator];
    if (!operator) return note(_('This network has no operator {name}.', { name: state.operator }));
    const steps = operator.steps.map(i => network.plan.steps[i]).filter(Boolean);
    const measured = context.wall.get(state.operator);
    const total = [...context.wall.values()].reduce((sum, part) => sum + part, 0);
    const parameters = Object.entries({ ...operator.params, ...operator.weights });
    return html('div', {},
      html('header', { class: 'operator-head' }, html('h2', {}, state.operator),
        html('p', { class: 'kind', style: { '--color': context.colorOf(state.operator) } },
          html('code', {}, operator.type), html('span', {}, family(context.familyOf(state.operator))))),
      tiles([
        [_('parameters'), operator.parameters ? count(operator.parameters) : null],
        [_('work'), operator.flops ? flops(operator.flops) : null],
        [_('measured'), measured ? time(measured) : null],
        [_('share of all steps'), measured ? percent(measured / total) : null],
      ]),
      operator.formula ? html('p', { class: 'formula' }, withCode(operator.formula)) : null,
      section(_('What flows in and out'),
        html('ul', { class: 'values', 'aria-label': _('Inputs') }, valueRows(operator.inputs, context, 'from')),
        html('ul', { class: 'values out', 'aria-label': _('Outputs') }, valueRows(operator.outputs, context, 'to'))),
      parameters.length ? section(_('Settings and weights'), facts(parameters)) : null,
      algorithms(steps),
      !steps.length && network.plan.steps.length && context.isFinal(state.operator) ? note(NO_STEP) : null,
      rooflineChart(context, state.operator),
      operator.source ? section(_('Source'), html('p', {}, html('code', {}, operator.source))) : null);
  }

  const missing = network => (network.operators ? '' : _('Nothing is known of single operators.'));
  kuiper.tabs.push({ id: 'operator', title: _('Operator'), missing, draw });
})((globalThis.kuiper ??= {}));

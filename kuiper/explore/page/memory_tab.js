'use strict';
// Memory: the arena over the steps. Offsets go upwards, steps to the right, a rectangle is a tensor.
(kuiper => {
  const { bars, chart, html, note, range, room, svg } = kuiper.dom;
  const { _ } = kuiper.language;
  const { bytes, percent, ticks } = kuiper.format;
  const { aliveAt } = kuiper.times;
  const [HEIGHT, LEFT, BOTTOM, TOP] = [400, 66, 40, 10];

  function draw(context) {
    const { memory, plan } = context.network;
    const { rectangles, arena } = memory;
    const width = room();
    const last = rectangles.reduce((most, r) => Math.max(most, r.last), 0);
    const x = step => LEFT + (step / (last + 1)) * (width - LEFT - 6);
    const y = offset => HEIGHT - BOTTOM - (offset / (arena || 1)) * (HEIGHT - BOTTOM - TOP);
    const nameOf = step => plan?.steps[step]?.operator ?? '';
    const words = r => {
      const tensor = r.constant ? _('constants') : (r.value ?? _('a tensor'));
      const fields = { ...r, tensor, operator: r.operator ?? _('the plan'), bytes: bytes(r.bytes) };
      return _('{tensor} of {operator}: {bytes}, steps {first} to {last}', fields);
    };
    const boxes = rectangles.map(r => svg('rect', {
      x: x(r.first), y: y(r.offset + r.bytes), width: Math.max(0.8, x(r.last + 1) - x(r.first) - 0.6),
        height: Math.max(0.8, y(r.offset) - y(r.offset + r.bytes) - 0.6),
      class: r.operator && r.operator === context.state.operator ? 'tensor chosen' : 'tensor',
      style: { fill: context.colorOf(r.operator) }, on: context.opens(r.operator),
    }, svg('title', {}, words(r))));
    const names = rectangles.map(r => {
      if (y(r.offset) - y(r.offset + r.bytes) < 16) return null;
      const text = kuiper.format.cut(r.operator ?? '', Math.floor((x(r.last + 1) - x(r.first) - 8) / 7.2));
      return svg('text', { x: x(r.first) + 5, y: y(r.offset + r.bytes) + 14, class: 'on-span' }, text);
    });
    const mark = svg('rect', { y: TOP, height: HEIGHT - BOTTOM - TOP, class: 'now',
      width: Math.max(1.5, x(1) - x(0)) });
    const title = html('h3');
    const makeup = html('div');
    const show = step => {
      const { alive, bytes: sum } = aliveAt(memory, step);
      mark.setAttribute('x', x(step));
      const fields = { step, name: nameOf(step), bytes: bytes(sum) };
      title.textContent = step === memory.peak_step ? _('Step {step}, {name}: {bytes} alive, the peak', fields)
        : _('Step {step}, {name}: {bytes} alive', fields);
      const rows = alive.map(r => ({
        label: r.operator ?? _('no operator'), note: r.constant ? _('constant') : r.value,
        share: r.bytes / alive[0].bytes, text: bytes(r.bytes),
        color: context.colorOf(r.operator), on: context.opens(r.operator).click,
      }));
      makeup.replaceChildren(bars(_('Tensors alive at this step'), rows));
    };
    const first = kuiper.state.whole(context.state.step, last, memory.peak_step);
    const slider = range(_('Step'), { min: 0, max: last, step: 1, value: first }, step => {
      context.keep({ step });
      show(step);
    }, 'step');
    const picture = chart(width, HEIGHT,
      _('Memory over {steps} steps: {tensors} tensors share {bytes}',
        { steps: last + 1, tensors: rectangles.length, bytes: bytes(arena) }),
      ticks(0, arena, 5).map(at => svg('line', { x1: LEFT, x2: width - 6, y1: y(at), y2: y(at), class: 'grid' })),
      ticks(0, arena, 5).map(at => svg('text', { x: LEFT - 8, y: y(at) + 4, 'text-anchor': 'end' }, bytes(at))),
      ticks(0, last, 8).filter(Number.isInteger)
        .map(at => svg('text', { x: x(at + 0.5), y: HEIGHT - BOTTOM + 16, 'text-anchor': 'middle' }, String(at))),
      svg('text', { x: width - 6, y: HEIGHT - 5, 'text-anchor': 'end', class: 'caption' }, _('step')),
      boxes, names, mark);
    const most = Math.max(memory.unshared, arena);
    const size = (label, note, amount, color) => ({ label, note, share: amount / most, text: bytes(amount), color });
    show(first);
    return html('div', {}, html('header', { class: 'row' }, html('h2', {}, _('Memory'))),
      bars(_('Sizes'), [
        size(_('arena'), _('all tensors between the steps'), arena, 'var(--accent)'),
        size(_('least possible'), _('the most that is alive at once'), memory.bound, 'var(--muted)'),
        size(_('without sharing'), _('{share} saved', { share: percent(1 - arena / memory.unshared) }), memory.unshared,
          'var(--line-strong)'),
      ]),
      picture,
      slider,
      html('section', {}, title, makeup),
      note(_('Tensors that lie above each other are alive at the same time.')),
      note(_('A place is used again as soon as its tensor is not needed any more.')));
  }

  const missing = network => (network.memory?.rectangles?.length ? ''
    : _('There is no picture of the memory, as the engine has no plan for this model.'));
  kuiper.tabs.push({ id: 'memory', title: _('Memory'), missing, draw });
})((globalThis.kuiper ??= {}));

'use strict';
// The model as a whole: what it answered, how large it is, what the page does not hold.
(kuiper => {
  const { bars, facts, html, note, range, section, svg, tiles } = kuiper.dom;
  const { _, many } = kuiper.language;
  const { bytes, count, flops, number, percent, shape, time } = kuiper.format;

  function topAnswers(answers) {
    const isShare = answers.meaning !== 'output';
    const most = isShare ? 1 : Math.max(...answers.top.map(row => row.score));
    const rows = answers.top.slice(0, 5).map((row, i) => ({
      label: row.label.replace(/^\n$/, '↵').replace(/^ $/, '␣'), share: row.score / most, text: isShare
        ? percent(row.score) : number(row.score), strong: i === 0,
    }));
    return section(answers.meaning === 'next token' ? _('What comes next') : _('What the network answers'),
      bars(_('The most likely answers'), rows));
  }

  function boxMarks(boxes, size, isFinal) {
    const unit = Math.max(...size) / 100;
    return boxes.map(({ box, label, score }) => {
      const [x, y] = box;
      const [width, height] = [Math.max(0, box[2] - x), Math.max(0, box[3] - y)];
      const frame = svg('rect', { x, y, width, height, class: isFinal ? 'answer' : 'candidate' });
      if (!isFinal) return frame;
      const top = y < 5 * unit ? y + 4 * unit : y - unit;
      const text = boxes.length > 6 ? label : `${label} ${percent(score)}`;
      return svg('g', {}, frame, svg('text', { x: x + unit, y: top, 'font-size': 3.4 * unit }, text));
    });
  }

  /** Boxes on the photo: a slider for the score, and a switch for before and after suppression. */
  function boxAnswers(answers, context) {
    const { picture, size } = context.network.input;
    const before = answers.before ?? [];
    const drawing = svg('svg', { viewBox: `0 0 ${size[1]} ${size[0]}`, class: 'photo', role: 'img' });
    const text = html('p', { class: 'note', 'aria-live': 'polite' });
    const list = html('div');
    let least = Number(context.state.score ?? answers.confidence ?? 0.25);
    const raw = html('input', { type: 'checkbox', 'data-key': 'before' });
    raw.checked = context.state.from === 'before';
    const draw = () => {
      const shown = before.filter(box => box.score >= least);
      const kept = answers.after.filter(box => box.score >= least);
      const image = svg('image', { href: picture, width: size[1], height: size[0] });
      drawing.replaceChildren(image, ...(raw.checked ? boxMarks(shown, size, false) : []),
        ...boxMarks(kept, size, true));
      const found = many(kept.length, '{n} answer with a score of at least {least}',
        '{n} answers with a score of at least {least}', { least: least.toFixed(2) });
      const labels = kept.map(box => box.label).join(', ');
      drawing.setAttribute('aria-label', _('The photo with {answers}: {labels}', { answers: found, labels }));
      text.textContent = before.length
        ? _('{answers}; {shown} of {all} candidates before non-maximum suppression.',
          { answers: found, shown: shown.length, all: answers.candidates })
        : _('{answers}.', { answers: found });
      const rows = kept.slice(0, 12).map(box => ({ label: box.label, share: box.score, text: percent(box.score) }));
      list.replaceChildren(bars(_('Boxes'), rows));
      context.keep({ score: least, from: raw.checked ? 'before' : null });
    };
    raw.addEventListener('change', draw);
    draw();
    return section(_('What the network answers'),
      drawing,
      html('div', { class: 'row' },
        range(_('Least score'), { min: 0, max: 1, step: 0.01, value: least }, value => {
          least = value;
          draw();
        }, 'score'),
        before.length ? html('label', { class: 'choice' }, raw, html('span', {}, _('all boxes before suppression')))
          : null),
      text,
      list);
  }

  /** Colours of classes go around the wheel by the golden angle, so that neighbours differ. */
  const regionColor = id => kuiper.colors.screen(0.58 + 0.16 * (id % 2), 0.15, (id * 137.5 + 30) % 360);

  function segmentAnswers(answers, input) {
    const ids = kuiper.arrays.plane(answers.map, 0);
    const colors = new Map(answers.classes.map(row => [row.class_id, regionColor(row.class_id)]));
    const overlay = kuiper.dom.mapCanvas(ids, { color: id => colors.get(id) ?? [0, 0, 0] });
    overlay.classList.add('overlay');
    const rows = answers.classes.map(row => ({ label: row.label, share: row.share, text: percent(row.share),
      color: kuiper.colors.css(regionColor(row.class_id)) }));
    const photo = html('img', { src: input.picture, alt: _('The photo'), class: 'photo' });
    return section(_('What the network answers'), html('div', { class: 'stack' }, photo, overlay),
      bars(_('Share of the picture'), rows));
  }

  function answer(network, context) {
    const { answers } = network;
    if (answers?.kind === 'classes') return topAnswers(answers);
    if (answers?.kind === 'boxes' && network.input) return boxAnswers(answers, context);
    if (answers?.kind === 'segments' && network.input) return segmentAnswers(answers, network.input);
    return null;
  }

  function draw(context) {
    const { network } = context;
    const { model, machine, memory, runs } = network;
    const ends = list => (list ?? []).map(end => `${end.name}: ${shape(end.shape)}${end.type ? `, ${end.type}` : ''}`)
      .join('; ');
    const { input, answers } = network;
    const isAlone = input?.picture && !['boxes', 'segments'].includes(answers?.kind); // else answers are drawn on it
    const alt = _('The input of the network: {fit}', { fit: input?.fit ?? '' });
    const picture = isAlone ? html('img', { src: input.picture, alt, class: 'photo' }) : null;
    const missing = [...context.missing, network.plan?.refusal, ...(network.left_out ?? [])].filter(Boolean);
    return html('div', {}, html('h2', {}, model.name),
      tiles([
        [_('parameters'), model.parameters === undefined ? null : count(model.parameters)],
        [_('work'), model.flops === undefined || model.flops === null ? null : flops(model.flops)],
        [_('one run'), runs?.length ? time(runs[0].total) : null],
        [_('memory'), memory ? bytes(memory.arena) : null],
      ]),
      html('div', { class: 'halves' }, picture ? section(_('Input'), picture) : null, answer(network, context)),
      runs?.length ? section(_('Where the time goes'), kuiper.familyBars(context, runs[0])) : null,
      section(_('The model'), facts([
        [_('file'), model.file],
        [_('inputs'), ends(model.inputs)],
        [_('outputs'), ends(model.outputs)],
        [_('operators'), _('{n} in the file', { n: network.stages[0].nodes.length })],
        [_('after the passes'), _('{n} operators', { n: context.finalStage.nodes.length })],
        [_('steps of the plan'), network.plan?.steps.length || null],
        [_('input picture'), network.input?.fit],
        [_('run'), runs?.length ? runs[0].name : null],
        [_('machine'), machine?.cpu ? many(machine.cores, '{cpu}, {n} core', '{cpu}, {n} cores', machine) : null],
        [_('made by'), model.kuiper ? `kuiper ${model.kuiper}` : null],
      ])),
      missing.length ? section(_('Not on this page'),
        html('ul', { class: 'missing' }, missing.map(text => html('li', {}, text)))) : null,
      section(_('Keys'),
        note(_('In the graph: arrows go from operator to operator, + and − zoom, 0 shows everything.')),
        note(_('Enter opens a group, f folds it, / searches, [ and ] change the stage.'))));
  }

  kuiper.tabs = [{ id: 'overview', title: _('Overview'), missing: () => '', draw }];
})((globalThis.kuiper ??= {}));

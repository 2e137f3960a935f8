'use strict';
// Yours: the reader's own layers in the graph, and where they first differ from the reference.
(kuiper => {
  const { plane, planes, range } = kuiper.arrays;
  const { choice, html, mapCanvas, link, note, section, table } = kuiper.dom;
  const { _, many, parts } = kuiper.language;
  const { number, shape } = kuiper.format;
  const { whole } = kuiper.state;

  const errorText = error => (error === null ? _('infinite or NaN') : number(error));

  /** Yours, the reference and their difference; the first two in the same colours. */
  function maps(mine, channel) {
    const [yours, reference, difference] = ['yours', 'reference', 'difference'].map(name => plane(mine[name], channel));
    const dark = kuiper.isDark();
    const same = kuiper.colors.scale(...range([...range(yours.values), ...range(reference.values)]), dark);
    const end = Math.max(...range(difference.values).map(Math.abs), Number.MIN_VALUE);
    const signed = kuiper.colors.scale(-end, end, dark);
    const figure = (title, map, scale) =>
      html('figure', {}, mapCanvas(map, scale), html('figcaption', {}, title), kuiper.legend(scale));
    return html('div', { class: 'thirds' },
      figure(_('yours'), yours, same), figure(_('reference'), reference, same),
      figure(_('difference'), difference, signed));
  }

  /** The first difference leads: what it is, and whose code ran there. */
  function verdict(context, mine) {
    const first = mine.operators[mine.first];
    if (!first) {
      return html('p', { class: 'verdict good' }, many(Object.keys(mine.operators).length,
        'Your layers agree with the reference in all {n} operator.',
        'Your layers agree with the reference in all {n} operators.'));
    }
    const operator = html('strong', {}, link(mine.first, () => context.choose(mine.first, 0)));
    const { exercise } = first;
    const words = exercise
      ? parts('The first difference is in {operator}, which runs your exercise {exercise}.', { operator, exercise })
      : parts('The first difference is in {operator}.', { operator });
    return html('p', { class: 'verdict bad' }, words, ` ${mine.others}`);
  }

  function pictures(context, mine) {
    const title = _('Your output of {name} beside the reference', { name: mine.first });
    if (!mine.difference) {
      const [yours, reference] = (mine.shapes ?? []).map(shape);
      const words = _('Your shape is {yours}, expected is {reference}.', { yours, reference });
      return yours ? section(title, html('p', {}, words)) : null;
    }
    const { count } = planes(mine.difference);
    const channel = whole(context.state.channel, count - 1);
    const options = Array.from({ length: count }, (_, i) => [i, String(i)]);
    return section(title,
      count > 1 ? choice(_('channel'), options, channel, value => context.go({ channel: value }), 'channel') : null,
        maps(mine, channel));
  }

  function verdicts(context, entries) {
    const rows = entries.map(([name, entry]) => [
      link(name, () => context.choose(name, 0)),
      html('span', { class: entry.agrees ? 'good' : 'bad' }, entry.form || (entry.agrees ? _('agrees') : _('differs'))),
      entry.exercise, errorText(entry.error), entry.agrees || !entry.exercise ? '' : errorText(entry.alone)]);
    const titles = [_('operator'), '', _('exercise'), _('error'), _('on its own')];
    return html('div', { class: 'narrow' }, table(titles, rows));
  }

  function draw(context) {
    const { mine } = context.network;
    const entries = Object.entries(mine.operators).filter(([, entry]) => entry.exercise || !entry.agrees);
    const wrong = entries.filter(([, entry]) => !entry.agrees).length;
    const title = wrong
      ? _('Operators that ran your code, or differ: {wrong} of {all} differ', { wrong, all: entries.length })
      : _('Operators that ran your code, or differ');
    const failures = (mine.failures ?? []).map(text => html('li', {}, String(text)));
    return html('div', {}, html('h2', {}, _('Yours')), verdict(context, mine),
      mine.first ? pictures(context, mine) : null,
      failures.length ? section(_('Failed, and replaced by the reference'), html('ul', {}, failures)) : null,
      entries.length ? section(title, verdicts(context, entries)) : note(_('Nothing of yours is in this model yet.')),
      note(_('The error is the largest difference, divided by the largest number of the reference.')),
      note(_('On its own, an operator gets the inputs of the reference.')));
  }

  // Without --mine there is nothing to say about the reader's layers, so no sentence stands in for this tab.
  const missing = network => (network.mine ? '' : null);
  kuiper.tabs.push({ id: 'mine', title: _('Yours'), missing, draw });
})((globalThis.kuiper ??= {}));

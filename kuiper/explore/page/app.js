'use strict';
// The page: tabs, the stage switch, search, keys; its state stands in the address.
(kuiper => {
  const { html } = kuiper.dom;
  const { _, many } = kuiper.language;
  const { whole } = kuiper.state;
  const find = id => document.getElementById(id);
  const dark = matchMedia('(prefers-color-scheme: dark)');

  kuiper.isDark = () => dark.matches;
  const STAGES = { file: _('file'), plan: _('plan') }; // the others are called by their passes
  const CHANGES = { new: 'good', changed: 'warn', moved: 'warn', removed: 'bad' };
  const announce = text => (find('announcement').textContent = text);

  class Page {
    constructor(network) {
      this.network = network;
      this.state = kuiper.state.parse(location.hash);
      const { mine } = network;
      if (mine?.first && !location.hash) this.state =
        { tab: 'mine', operator: mine.first, stage: 0 }; // the first difference leads
      this.indexNetwork();
      const tell = { select: node => this.choose(node.operator, undefined, false), announce };
      this.graph = new kuiper.GraphView(find('graph'), network, tell, this.shareOf);
      this.head();
      this.controls();
      this.keys();
      dark.addEventListener('change', () => {
        this.graph.recolor();
        this.panel();
      });
      addEventListener('hashchange', () => this.follow());
      this.render(true);
      addEventListener('resize', () => this.panel()); // charts have the width of the panel
      if (this.state.operator) this.graph.select(this.state.operator);
    }

    /** Which operator makes a value, who reads it, and the family of each operator. */
    indexNetwork() {
      this.families = new Map();
      for (const { nodes } of this.network.stages) for (const node of nodes) {
        this.families.set(node.operator, node.family);
      }
      const operators = Object.entries(this.network.operators);
      const having = (value, side) => operators.filter(([, each]) => each[side].includes(value)).map(([name]) => name);
      this.sourcesOf = value => having(value, 'outputs');
      this.readersOf = value => having(value, 'inputs');
      this.missing = kuiper.tabs.map(tab => tab.missing(this.network)).filter(Boolean);
      const run = this.network.runs?.[0];
      this.wall = run ? kuiper.times.wallTimes(run, this.network) : new Map();
      this.longest = Math.max(...this.wall.values(), 0);
    }

    // What the graph and the tabs ask for.
    shareOf = name => (this.longest ? (this.wall.get(name) ?? 0) / this.longest : 0);
    familyOf = name => this.families.get(name) ?? 'other';
    colorOf = name => kuiper.dom.familyColor(this.familyOf(name));
    opens = name => (name ? { click: () => this.choose(name) } : {});
    isFinal = operator => this.finalStage.nodes.some(node => node.operator === operator);

    producer(value) {
      const makers = this.sourcesOf(value);
      return makers.includes(this.state.operator) ? this.state.operator : makers[0];
    }

    /** Who makes and who reads a value, of the operators of the stage that is shown if any of them does. */
    ends(value) {
      const shown = new Set(this.network.stages[this.stage].nodes.map(node => node.operator));
      const here = names => (names.some(name => shown.has(name)) ? names.filter(name => shown.has(name)) : names);
      return { from: here(this.sourcesOf(value)), to: here(this.readersOf(value)) };
    }

    get stage() {
      return whole(this.state.stage, this.network.stages.length - 1, this.network.stages.indexOf(this.finalStage));
    }

    /** The last stage that has operators, not steps. */
    get finalStage() {
      return this.network.stages.findLast(stage => stage.name !== 'plan');
    }

    /** The value that the maps show: what the address says, or the first output of the operator that is known. */
    valueName() {
      const { inputs = [], outputs = [] } = this.network.operators[this.state.operator] ?? {};
      const names = [...outputs, ...inputs];
      return names.includes(this.state.value) ? this.state.value : (names[0] ?? null);
    }

    choose(operator, stage, isMoved = true) {
      const isNew = operator !== this.state.operator;
      const changes = isNew ? { operator, value: null, channel: null, pixel: null } : { operator };
      if (stage !== undefined) changes.stage = stage;
      if (!this.state.tab || this.state.tab === 'overview') changes.tab = 'operator';
      this.go(changes);
      this.graph.select(operator, isMoved);
      const node = this.network.stages[this.stage].nodes.find(each => each.operator === operator);
      announce(node ? `${node.name}, ${node.type}, ${kuiper.format.family(node.family)}` : operator);
    }

    /** Change the state and show what it means. */
    go(changes) {
      this.keep(changes);
      this.render();
    }

    /** Change the state; the page shows it already. */
    keep(changes) {
      this.state = { ...this.state, ...changes };
      try {
        history.replaceState(null, '', `#${kuiper.state.format(this.state)}`);
      } catch {
        // A page inside a notebook may have no address of its own; only its state is lost on reload.
      }
    }

    follow() {
      this.state = kuiper.state.parse(location.hash);
      this.render();
      if (this.state.operator) this.graph.select(this.state.operator);
    }

    head() {
      const { model } = this.network;
      document.title = `${model.name} · kuiper explore`;
      find('model').textContent = kuiper.format.cut(model.name, 60);
      this.tabs = kuiper.tabs.filter(tab => tab.missing(this.network) === '');
      const select = tab => this.go({ tab });
      const buttons = this.tabs.map(tab =>
        html('button', { type: 'button', role: 'tab', id: `tab-${tab.id}`, 'aria-controls': 'panel',
        on: { click: () => select(tab.id) } }, tab.title));
      find('tabs').replaceChildren(...buttons);
      find('tabs').addEventListener('keydown', event => {
        const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
        if (!step) return;
        event.preventDefault();
        const at = (this.tabs.findIndex(tab => tab.id === this.tab.id) + step + this.tabs.length) % this.tabs.length;
        select(this.tabs[at].id);
        buttons[at].focus();
      });
    }

    controls() {
      const { stages } = this.network;
      const slider = find('stage');
      slider.max = stages.length - 1;
      slider.addEventListener('input', () => this.go({ stage: slider.value }));
      for (const [id, action] of Object.entries({
        closer: () => this.graph.zoom(1.25),
        farther: () => this.graph.zoom(0.8),
        whole: () => this.graph.fit(),
        'fold-all': () => this.graph.foldAll(true),
        'unfold-all': () => this.graph.foldAll(false),
      })) find(id).addEventListener('click', action);
      find('skip').addEventListener('click', () => find('panel').focus());
      this.search();
    }

    moveStage(by) {
      this.go({ stage: Math.min(this.network.stages.length - 1, Math.max(0, this.stage + by)) });
    }

    /** The search field: the browser lists the operators; Enter takes the best match. */
    search() {
      const field = find('search');
      const nodes = () => this.network.stages[this.stage].nodes;
      const take = node => {
        if (!node) return announce(_('no operator has these letters'));
        field.value = '';
        this.choose(node.operator);
        find('graph').focus();
      };
      field.addEventListener('focus', () => {
        const items = nodes().map(node => html('option', { value: node.name }, kuiper.titleOf(node.type)));
        find('found').replaceChildren(...items);
      });
      field.addEventListener('keydown', event => {
        if (event.key === 'Enter' && field.value) take(kuiper.folding.search({ nodes: nodes() }, field.value)[0]);
      });
    }

    keys() {
      document.addEventListener('keydown', event => {
        const isTyping = event.target.matches('input, select, textarea');
        if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
        if (event.key === '/') find('search').focus();
        else if (event.key === '[') this.moveStage(-1);
        else if (event.key === ']') this.moveStage(1);
        else if (event.key === 'Escape') find('graph').focus();
        else return;
        event.preventDefault();
      });
    }

    render(isFirst = false) {
      if (isFirst || this.stage !== this.shown) {
        this.graph.show(this.stage, this.state.stage !== undefined);
        if (this.state.operator && !isFirst) this.graph.select(this.state.operator, false);
        this.shown = this.stage;
        this.stageLine();
      }
      this.panel();
    }

    stageLine() {
      const stage = this.network.stages[this.stage];
      const slider = find('stage');
      slider.value = this.stage;
      const name = STAGES[stage.name] ?? stage.name.replaceAll('_', ' ');
      slider.setAttribute('aria-valuetext', name);
      const place = _('{n} of {all}', { n: this.stage + 1, all: this.network.stages.length });
      find('stage-name').textContent = `${place} · ${name}`;
      const counts = kuiper.folding.changes(stage);
      const words = { new: _('{n} new', { n: counts.new }), changed: _('{n} changed', { n: counts.changed }),
        moved: _('{n} moved', { n: counts.moved }), removed: _('{n} removed', { n: counts.removed }) };
      const changes = Object.keys(words).filter(change => counts[change]);
      find('changes').replaceChildren(
        html('span', {}, many(stage.nodes.length, '{n} operator', '{n} operators')),
        ...changes.map(change => html('span', { class: CHANGES[change] }, words[change])));
      const before = this.network.stages[this.stage - 1]?.nodes ?? [];
      const gone = stage.removed.map(id => before.find(node => node.id === id)?.name);
      const names = kuiper.format.cut(gone.join(', '), 120);
      find('stage-title').textContent = gone.length ? _('{title} Removed: {names}.', { title: stage.title, names })
        : stage.title;
    }

    /** The open tab; what had the focus has it afterwards. */
    panel() {
      const key = document.activeElement?.dataset?.key;
      this.tab = this.tabs.find(tab => tab.id === this.state.tab) ?? this.tabs[0];
      for (const tab of this.tabs) {
        const button = find(`tab-${tab.id}`);
        button.setAttribute('aria-selected', String(tab === this.tab));
        button.tabIndex = tab === this.tab ? 0 : -1;
      }
      const panel = find('panel');
      const shown = `${this.tab.id} ${this.state.operator}`;
      const place = this.drawn === shown ? panel.scrollTop : 0;
      this.drawn = shown;
      panel.setAttribute('aria-labelledby', `tab-${this.tab.id}`);
      panel.replaceChildren(this.tab.draw(this));
      panel.scrollTop = place;
      if (key) panel.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus({ preventScroll: true });
    }
  }

  kuiper.page = new Page(JSON.parse(find('network').textContent));
})((globalThis.kuiper ??= {}));

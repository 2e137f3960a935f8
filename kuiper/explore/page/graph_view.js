'use strict';
// The graph: zoom, pan, folding, and what a stage changed.
(kuiper => {
  const { fold, groupsOf, neighbour } = kuiper.folding;
  const { layered, HEIGHT, WIDTH } = kuiper.layout;
  const { _ } = kuiper.language;
  const { box, edgeLabel, edgePaths, palette, trace } = kuiper.paint;
  const LEAST = 0.04;
  const MOST = 3;
  const DETAIL = 0.38; // below this scale letters are too small to be read, and are not drawn
  const FOLDED_FROM = 60; // operators of a stage from which its groups are folded at first

  const titleOf = type => type.replace(/^(nn|F|torch|Tensor|pnnx|kuiper)\./, '');

  class GraphView {
    /** `tell`: {select(node), announce(text)}; `shareOf(operator)`: the bar under a box, 0 to 1. */
    constructor(canvas, network, tell, shareOf) {
      Object.assign(this, { canvas, network, tell, shareOf, pen: canvas.getContext('2d') });
      this.camera = { x: 0, y: 0, scale: 1 };
      this.color = palette();
      new ResizeObserver(() => this.resize()).observe(canvas);
      this.listen();
    }

    /** The colours of another theme. */
    recolor() {
      this.color = palette();
      this.draw();
    }

    /** Show a stage, and mark what it changed. */
    show(index, isMarked) {
      const stage = this.network.stages[index];
      this.stage = stage;
      this.isMarked = isMarked;
      this.folded ??= new Set(stage.nodes.length > FOLDED_FROM ? groupsOf(stage).keys() : []);
      this.place();
      this.draw();
    }

    place() {
      this.graph = fold(this.stage, this.folded);
      for (const edge of this.graph.edges) edge.shape = this.network.values?.[edge.value]?.shape ?? edge.shape;
      this.layout = layered(this.graph);
      this.byKey = new Map(this.graph.nodes.map(node => [node.key, node]));
      this.paths = edgePaths(this.layout.edges);
      const seen = new Set();
      this.labels = this.layout.edges.filter(edge => edge.shape && !seen.has(edge.value) && seen.add(edge.value));
      this.looks = new Map(this.graph.nodes.map(entry => [entry.key, this.lookOf(entry)]));
    }

    lookOf({ node, group, members = [node] }) {
      const change = this.isMarked && members.map(member => member.change).find(kind => kind !== 'same');
      const error = members.some(member => this.network.mine?.operators[member.operator]?.agrees === false);
      const share = Math.min(1, members.reduce((sum, member) => sum + this.shareOf(member.operator), 0));
      const look = { family: members[0].family, change, error, share };
      if (!group) return { ...look, title: titleOf(node.type), line: node.name };
      return { ...look, title: group, line: _('{n} operators', { n: members.length }), isGroup: true };
    }

    resize() {
      const { clientWidth, clientHeight } = this.canvas;
      const density = devicePixelRatio || 1;
      this.canvas.width = Math.round(clientWidth * density);
      this.canvas.height = Math.round(clientHeight * density);
      if (!this.isFitted && clientWidth && this.layout) this.start();
      this.paint();
    }

    /** The first look: all of it if its letters can be read then, else its beginning. */
    start() {
      this.isFitted = true;
      this.fit();
      if (this.camera.scale >= 0.6) return;
      this.camera.scale = Math.max(0.6, Math.min(1, (this.canvas.clientWidth - 40) / this.layout.width));
      this.centre(this.layout.boxes.values().next().value);
      this.camera.y = 24;
      if (this.current) this.reveal(this.current);
    }

    /** Bring a box into the middle. */
    centre({ x, y }) {
      this.camera.x = this.canvas.clientWidth / 2 - (x + WIDTH / 2) * this.camera.scale;
      this.camera.y = this.canvas.clientHeight / 2 - (y + HEIGHT / 2) * this.camera.scale;
    }

    fit() {
      const { clientWidth, clientHeight } = this.canvas;
      const { width, height } = this.layout;
      const scale = Math.min((clientWidth - 40) / (width + 12), (clientHeight - 40) / (height + 12), 1.15);
      this.camera.scale = Math.max(LEAST, scale);
      this.camera.x = (clientWidth - width * this.camera.scale) / 2;
      this.camera.y = (clientHeight - height * this.camera.scale) / 2;
      this.draw();
    }

    pan(dx, dy) {
      this.camera.x += dx;
      this.camera.y += dy;
      this.draw();
    }

    zoom(factor, x = this.canvas.clientWidth / 2, y = this.canvas.clientHeight / 2) {
      const scale = Math.min(MOST, Math.max(LEAST, this.camera.scale * factor));
      const ratio = scale / this.camera.scale;
      this.camera = { x: x - (x - this.camera.x) * ratio, y: y - (y - this.camera.y) * ratio, scale };
      this.draw();
    }

    /** Mark an operator and bring it into sight, out of its folded group if it must be. */
    select(operator, isMoved = true) {
      const nodes = this.stage.nodes.filter(each => each.operator === operator);
      const node = nodes.find(each => this.graph.keys.get(each.id) === this.current)
        ?? nodes.find(each => each.type !== 'import') ?? nodes[0];
      this.selected = operator;
      if (node && this.folded.has(node.group)
        && this.graph.keys.get(node.id).startsWith('group:')) this.toggle(node.group);
      this.current = node ? this.graph.keys.get(node.id) : this.current;
      if (node && isMoved) this.reveal(this.current);
      this.draw();
    }

    reveal(key) {
      const place = this.layout.boxes.get(key);
      const { clientWidth, clientHeight } = this.canvas;
      if (!place || !clientWidth) return;
      const { scale, x, y } = this.camera;
      const [left, top] = [place.x * scale + x, place.y * scale + y];
      const isSeen = left > 8 && top > 8 && left + WIDTH * scale < clientWidth - 8
        && top + HEIGHT * scale < clientHeight - 8;
      if (isSeen && scale >= 0.5) return;
      if (scale < 0.5) this.camera.scale = 0.8;
      this.centre(place);
    }

    /** Fold a group or open it; its first operator stays where it is on the screen. */
    toggle(group) {
      const { id } = this.stage.nodes.find(node => node.group === group);
      const placeOf = () => this.layout.boxes.get(this.graph.keys.get(id));
      const before = placeOf();
      if (!this.folded.delete(group)) this.folded.add(group);
      this.place();
      const after = placeOf();
      this.pan((before.x - after.x) * this.camera.scale, (before.y - after.y) * this.camera.scale);
      this.current = this.graph.keys.get(id);
    }

    foldAll(isFolded) {
      this.folded = new Set(isFolded ? groupsOf(this.stage).keys() : []);
      this.place();
      this.fit();
    }

    /** The key of the box under the pointer. */
    at({ offsetX, offsetY }) {
      const x = (offsetX - this.camera.x) / this.camera.scale;
      const y = (offsetY - this.camera.y) / this.camera.scale;
      const isAround = place => x >= place.x && x <= place.x + WIDTH && y >= place.y && y <= place.y + HEIGHT;
      return [...this.layout.boxes.keys()].find(key => isAround(this.layout.boxes.get(key)));
    }

    /** What a click on a box does: open a group, choose an operator. */
    enter(key) {
      const entry = this.byKey.get(key);
      if (!entry) return;
      this.current = key;
      if (entry.members) {
        this.toggle(entry.group);
        this.tell.announce(_('{group}: {n} operators, unfolded', { group: entry.group, n: entry.members.length }));
      } else this.tell.select(entry.node);
    }

    listen() {
      const { canvas } = this;
      canvas.addEventListener('pointerdown', event => {
        if (!event.isPrimary) return;
        canvas.setPointerCapture(event.pointerId);
        this.last = [event.offsetX, event.offsetY];
        this.moved = 0;
      });
      canvas.addEventListener('pointermove', event => this.move(event));
      canvas.addEventListener('pointercancel', () => (this.last = null));
      canvas.addEventListener('pointerup', event => {
        if (this.last && this.moved < 5) this.enter(this.at(event));
        this.last = null;
      });
      canvas.addEventListener('wheel', event => {
        event.preventDefault();
        this.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0016)), event.offsetX, event.offsetY);
      }, { passive: false });
      canvas.addEventListener('keydown', event => this.key(event));
    }

    move(event) {
      if (!this.last) this.canvas.style.cursor = this.at(event) ? 'pointer' : 'grab';
      if (!this.last || !event.isPrimary) return;
      const [dx, dy] = [event.offsetX - this.last[0], event.offsetY - this.last[1]];
      this.last = [event.offsetX, event.offsetY];
      this.moved += Math.abs(dx) + Math.abs(dy);
      this.pan(dx, dy);
    }

    key(event) {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const arrow = { ArrowUp: 'up', ArrowDown: 'down', ArrowLeft: 'left', ArrowRight: 'right' }[event.key];
      const actions = {
        '+': () => this.zoom(1.25),
        '-': () => this.zoom(0.8),
        0: () => this.fit(),
        Enter: () => this.enter(this.current),
        f: () => this.fold(),
      };
      if (arrow && event.shiftKey) this.pan({ left: 60, right: -60 }[arrow] ?? 0, { up: 60, down: -60 }[arrow] ?? 0);
      else if (arrow) this.step(neighbour(this.layout, this.current, arrow));
      else if (actions[event.key]) actions[event.key]();
      else return;
      event.preventDefault();
    }

    /** Go to a box by the keyboard. */
    step(key) {
      if (key === undefined) return;
      this.current = key;
      this.reveal(key);
      const entry = this.byKey.get(key);
      if (entry.members) {
        const { group, members } = entry;
        this.tell.announce(_('{group}: {n} operators, folded; Enter unfolds', { group, n: members.length }));
      } else this.tell.select(entry.node, true);
      this.draw();
    }

    /** Fold the group around the box that is looked at. */
    fold() {
      const group = this.byKey.get(this.current)?.node?.group;
      if (group && groupsOf(this.stage).has(group)) this.toggle(group);
    }

    draw() {
      this.asked ??= requestAnimationFrame(() => {
        this.asked = null;
        this.paint();
      });
    }

    paint() {
      const { pen, canvas, camera, color } = this;
      if (!this.layout || !canvas.width) return;
      const density = canvas.width / canvas.clientWidth;
      pen.setTransform(1, 0, 0, 1, 0, 0);
      pen.clearRect(0, 0, canvas.width, canvas.height);
      pen.setTransform(camera.scale * density, 0, 0, camera.scale * density, camera.x * density, camera.y * density);
      const view = {
        left: -camera.x / camera.scale - WIDTH,
        right: (canvas.clientWidth - camera.x) / camera.scale,
        top: -camera.y / camera.scale - HEIGHT,
        bottom: (canvas.clientHeight - camera.y) / camera.scale,
      };
      this.paintEdges(view);
      const isDetailed = camera.scale >= DETAIL;
      for (const [key, { x, y }] of this.layout.boxes) {
        if (x > view.right || x < view.left || y > view.bottom || y < view.top) continue;
        const look = this.looks.get(key);
        look.isSelected = key === this.current;
        box(pen, color, x, y, look, isDetailed);
      }
    }

    paintEdges(view) {
      const { pen, color, camera } = this;
      pen.strokeStyle = color('--edge');
      pen.lineWidth = 1.5;
      pen.stroke(this.paths.lines);
      pen.fillStyle = color('--edge');
      if (camera.scale > 0.25) pen.fill(this.paths.arrows);
      const own = new Path2D();
      for (const edge of this.layout.edges) {
        if (edge.from === this.current || edge.to === this.current) trace(own, edge.points);
      }
      pen.strokeStyle = color('--accent');
      pen.lineWidth = 2;
      pen.stroke(own);
      if (camera.scale < 0.6) return;
      for (const edge of this.labels) {
        const [x, y] = edge.points[0];
        const isSeen = x > view.left && x < view.right && y > view.top && y < view.bottom;
        if (isSeen) edgeLabel(pen, color, [x, y], kuiper.format.shape(edge.shape));
      }
    }
  }

  kuiper.GraphView = GraphView;
  kuiper.titleOf = titleOf;
})((globalThis.kuiper ??= {}));

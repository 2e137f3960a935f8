'use strict';
// Which boxes of a stage are shown: groups that are folded stand as one box. Search and steps from box to box.
(kuiper => {
  /** The groups of a stage with at least two operators, in the order of the file: Map from name to nodes. */
  function groupsOf(stage) {
    const groups = new Map();
    for (const node of stage.nodes) if (node.group) groups.set(node.group, [...(groups.get(node.group) ?? []), node]);
    return new Map([...groups].filter(([, nodes]) => nodes.length > 1));
  }

  /** Nodes and edges that are left when the groups in the set `folded` are one box each. Ids are texts here. */
  function fold(stage, folded) {
    const groups = groupsOf(stage);
    const keys = new Map();
    const nodes = [];
    for (const node of stage.nodes) {
      const members = folded.has(node.group) ? groups.get(node.group) : undefined;
      const key = members ? `group:${node.group}` : String(node.id);
      keys.set(node.id, key);
      if (!members) nodes.push({ key, node });
      else if (members[0] === node) nodes.push({ key, group: node.group, members });
    }
    const edges = new Map();
    for (const edge of stage.edges) {
      const [from, to] = [keys.get(edge.from), keys.get(edge.to)];
      if (from === undefined || to === undefined || from === to) continue;
      edges.set(`${from} ${to} ${edge.value}`, { ...edge, from, to });
    }
    return { nodes, edges: [...edges.values()], keys };
  }

  /** Nodes whose name, type or group has all words of a text; names that begin with it come first. */
  function search(stage, text) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const rank = node => (words.length && node.name.toLowerCase().startsWith(words[0]) ? 0 : 1);
    const matches = node => {
      const { name, type, family, group } = node;
      const hay = `${name} ${type} ${family} ${kuiper.format.family(family)} ${group}`.toLowerCase();
      return words.every(word => hay.includes(word));
    };
    return stage.nodes.filter(matches).sort((a, b) => rank(a) - rank(b));
  }

  /** The box that an arrow key leads to: along the edges up and down, to the nearest box of the row left and right. */
  function neighbour(layout, key, direction) {
    const here = layout.boxes.get(key);
    if (!here) return layout.boxes.keys().next().value;
    const ends = { down: ['from', 'to'], up: ['to', 'from'] }[direction];
    const keys = ends
      ? layout.edges.filter(edge => edge[ends[0]] === key).map(edge => edge[ends[1]])
      : [...layout.boxes.keys()].filter(other => {
          const box = layout.boxes.get(other);
          return box.row === here.row && (direction === 'left' ? box.x < here.x : box.x > here.x);
        });
    const distance = other => Math.abs(layout.boxes.get(other).x - here.x);
    return keys.sort((a, b) => distance(a) - distance(b))[0];
  }

  /** What a stage did to the one before, counted. */
  function changes(stage) {
    const count = change => stage.nodes.filter(node => node.change === change).length;
    return { new: count('new'), changed: count('changed'), moved: count('moved'), removed: stage.removed.length };
  }

  kuiper.folding = { changes, fold, groupsOf, neighbour, search };
})((globalThis.kuiper ??= {}));

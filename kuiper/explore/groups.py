"""Which operators of a graph belong together, so that a page can fold them: blocks that repeat, or share a name.

    names       layer1.0.conv1, layer1.0.relu            group "layer1.0", if several operators begin so
    structure   x -> conv -> relu -> conv -> add -> ...   where all flows through one value the graph can be cut;
                     '------------------------'           a part with branches is a block

Names come first: a graph whose operators have kept those of the modules in PyTorch says itself what a block is. pnnx
gives many operators names of its own; they join the block of what stands around them.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from kuiper.language import _

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    Edges = Sequence[tuple[Hashable, Hashable]]
    Part = tuple[str, int, Hashable | None]
    """The name of a group and a level; a node without a group is a part of its own, without a name."""

_LEAST, _MOST = 2, 40  # operators of a group
_LONGEST = 60  # characters of a group's name
_ENOUGH = 0.6  # of all operators must have names that say where they belong

_MADE_UP = re.compile(r"(torch|Tensor|F|nn|prim|aten|pnnx)[._]")
_NUMBER = re.compile(r"(^|[._])\d+$")


def find_groups(names: Mapping[Hashable, str], edges: Edges) -> dict[Hashable, str]:
    """The group of each node that has one.

    Parameters
    ----------
    names : the name of each node; the nodes in topological order
    edges : pairs of source and target

    Returns
    -------
    The name of a group for nodes that belong to one; no node outside of a group stands on a way between two within.

    Examples
    --------
    >>> names = dict(enumerate(["x", "a.0.conv", "a.0.relu", "a.1.conv", "a.1.relu", "y"]))
    >>> find_groups(names, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)])
    {1: 'a.0', 2: 'a.0', 3: 'a.1', 4: 'a.1'}
    """
    order = list(names)
    known = _with_names(names, edges)
    wanted = _by_name(known)
    if len(wanted) < _ENOUGH * len(order):
        wanted = _by_structure(order, edges, known)
    return _convex(order, edges, wanted)


def _with_names(names: Mapping[Hashable, str], edges: Edges) -> dict[Hashable, str]:
    """The names, where those that pnnx has made up are their only reader's: of a convolution that of its activation."""
    readers: dict[Hashable, list[Hashable]] = {node: [] for node in names}
    for source, target in edges:
        readers[source].append(target)
    inner = {target for _, target in edges}
    known = {node: "" if _MADE_UP.match(name) else name.split("+")[0] for node, name in names.items()}
    for node in reversed(known):
        if "." not in known[node] and len(readers[node]) == 1 and node in inner:
            known[node] = known[readers[node][0]]
    return known


def _by_name(names: Mapping[Hashable, str]) -> dict[Hashable, str]:
    """The shortest beginning of a name that ends in a number and that not too many share; else the shortest of all."""
    parts = {node: name.split(".") for node, name in names.items()}
    count = Counter(".".join(words[:end]) for words in parts.values() for end in range(1, len(words)))
    found = {}
    for node, words in parts.items():
        prefixes = [".".join(words[:end]) for end in range(1, len(words))]
        fitting = [prefix for prefix in prefixes if _LEAST <= count[prefix] <= _MOST and len(prefix) <= _LONGEST]
        if fitting:
            found[node] = next((prefix for prefix in fitting if _NUMBER.search(prefix)), fitting[0])
    return found


def _by_structure(order: list[Hashable], edges: Edges, names: Mapping[Hashable, str]) -> dict[Hashable, str]:
    """Parts between two operators through whose outputs all flows, if several read the first: residual blocks.

    A part is called what its operators' names begin with, or block 1, block 2 ...
    """
    place = {node: index for index, node in enumerate(order)}
    last = list(range(len(order)))  # the last operator that reads what is made here
    inner = {target for _, target in edges}
    for source, target in edges:
        if source in inner:  # what reads nothing, an input or a constant, may go anywhere
            last[place[source]] = max(last[place[source]], place[target])
    blocks: list[list[Hashable]] = [[]]
    reach = 0  # the last operator that reads anything that was made before
    closed = 0  # where the branches of the newest block have come together
    for index, node in enumerate(order):
        if node not in inner:
            continue
        blocks[-1].append(node)
        if last[index] > index + 1:
            closed = last[index]
            if reach <= index:
                blocks.append([])
        reach = max(reach, last[index])
    blocks[-1] = [node for node in blocks[-1] if place[node] <= closed + 1]
    found: dict[Hashable, str] = {}
    for number, block in enumerate(blocks[1:], 1):
        if _LEAST < len(block) <= _MOST:
            name = _common_beginning([names[node] for node in block if "." in names[node]])
            taken = not name or len(name) > _LONGEST or name in found.values()
            found |= dict.fromkeys(block, _("block {number}").format(number=number) if taken else name)
    return found


def _common_beginning(names: Sequence[str]) -> str:
    """The words that all these names begin with, without the last word of a name.

    >>> _common_beginning(["layer1.0.conv1", "layer1.0.relu"])
    'layer1.0'
    """
    parts = [name.split(".")[:-1] for name in names]
    common = []
    for words in zip(*parts, strict=False):
        if len(set(words)) > 1:
            break
        common.append(words[0])
    return ".".join(common)


def _convex(order: list[Hashable], edges: Edges, wanted: Mapping[Hashable, str]) -> dict[Hashable, str]:
    """The groups, cut where folding would make a circle: where a way from one operator to another leads outside.

    Each node gets a level: that of its sources in the same group, one more than that of any other source. A part is
    what has one group and one level. An edge between two parts leads to a higher level, so there can be no circle.
    """
    inputs: dict[Hashable, list[Hashable]] = {node: [] for node in order}
    for source, target in edges:
        inputs[target].append(source)
    level: dict[Hashable, int] = {}
    for node in order:
        own = wanted.get(node)
        steps = (level[source] + (own is None or wanted.get(source) != own) for source in inputs[node])
        level[node] = max(steps, default=0)
    part: dict[Hashable, Part] = {node: (wanted.get(node, ""), level[node], node) for node in order}
    part |= {node: (wanted[node], level[node], None) for node in order if node in wanted}
    _join(part, edges)
    sizes = Counter(part.values())
    numbers: dict[str, list[Part]] = {}
    for node in order:
        if node in wanted and sizes[part[node]] >= _LEAST and part[node] not in numbers.setdefault(wanted[node], []):
            numbers[wanted[node]].append(part[node])
    found = {}
    for node, name in wanted.items():
        if sizes[part[node]] >= _LEAST:
            pieces = numbers[name]
            found[node] = name if len(pieces) == 1 else f"{name} ({pieces.index(part[node]) + 1})"
    return {node: found[node] for node in order if node in found}


def _join(part: dict[Hashable, Part], edges: Edges) -> None:
    """Make one of two parts of a group where no way from one to the other leads through a third part."""
    groups: dict[str, list[Part]] = {}
    for own in dict.fromkeys(part.values()):
        if own[0]:
            groups.setdefault(own[0], []).append(own)
    for parts in groups.values():
        kept = parts[0]
        for other in parts[1:]:
            if _is_way_around(kept, other, part, edges) or _is_way_around(other, kept, part, edges):
                kept = other
            else:
                part.update({node: kept for node, own in part.items() if own == other})


def _is_way_around(start: Part, end: Part, part: Mapping[Hashable, Part], edges: Edges) -> bool:
    """Whether a way from one part to another leads through a third one."""
    below: dict[Part, set[Part]] = {}
    for source, target in edges:
        if part[source] != part[target]:
            below.setdefault(part[source], set()).add(part[target])
    waiting = [own for own in below.get(start, ()) if own != end]
    seen = set(waiting)
    while waiting:
        for own in below.get(waiting.pop(), ()):
            if own == end:
                return True
            if own not in seen:
                seen.add(own)
                waiting.append(own)
    return False

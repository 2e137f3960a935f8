"""The graph as it stands in the file, after each pass that changes something, and as the steps of the plan.

A pass makes new operators and rewires those that it is given, so each stage is noted down before the next pass runs.
Where an operator comes from is found afterwards:

    the same object                       the same operator
    an operator of its name and type      that one, changed or moved
    what has made its outputs, and what   taken in by it
    has led there from its inputs
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kuiper.graph.schedule import depth_first_order

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kuiper.graph.pnnx.ir import DataType
    from kuiper.graph.runtime_operator import RuntimeOperand, RuntimeOperator
    from kuiper.graph.summary import Shape


@dataclass(eq=False)
class Carried:
    """A value on its way: its name, its declared shape, and the key under which the page has what flowed there."""

    operand: RuntimeOperand
    name: str
    shape: Shape | None
    type: DataType


@dataclass(eq=False)
class StageNode:
    """An operator of a stage. ``sources`` are the nodes of the stage before that it is or has taken in.

    ``names`` are those of the operators of the file that it comes from.
    """

    op: RuntimeOperator
    name: str
    type: str
    inputs: tuple[Carried, ...]
    outputs: tuple[Carried, ...]
    change: str = "same"
    sources: list[int] = field(default_factory=list)
    names: frozenset[str] = frozenset()


@dataclass(eq=False)
class Stage:
    """All operators after a pass, in topological order, and the places of those of the stage before that are gone."""

    name: str
    nodes: list[StageNode]
    removed: list[int] = field(default_factory=list)

    def edges(self) -> Iterator[tuple[int, int, Carried]]:
        """Source, target and what is carried, in the order of the nodes."""
        makers = {
            carried.operand: (index, carried) for index, node in enumerate(self.nodes) for carried in node.outputs
        }
        for index, node in enumerate(self.nodes):
            for carried in dict.fromkeys(carried.operand for carried in node.inputs):
                if carried in makers:
                    source, made = makers[carried]
                    yield source, index, made


def read_stages(turns: Iterable[tuple[str, Sequence[RuntimeOperator]]]) -> list[Stage]:
    """The stages that differ from the one before, as ``RuntimeGraph.stages`` gives them, and always the first.

    Examples
    --------
    >>> import kuiper
    >>> from kuiper.models import bundled
    >>> stages = read_stages(kuiper.load(bundled("cifar_resnet20")).stages())
    >>> [(stage.name, len(stage.nodes)) for stage in stages]
    [('file', 54), ('fuse_add_into_conv', 45), ('fuse_activation_into_conv', 26)]
    """
    stages: list[Stage] = []
    for name, operators in turns:
        stage = Stage(name, [_node(op) for op in depth_first_order(operators)])
        if not stages:
            for node in stage.nodes:
                node.change, node.names = "same", frozenset([node.name])
            stages.append(stage)
        elif _compare(stages[-1], stage):
            stages.append(stage)
    return stages


def _node(op: RuntimeOperator) -> StageNode:
    carried = {
        operand: Carried(operand, operand.name, operand.shape, operand.type) for operand in (*op.inputs, *op.outputs)
    }
    return StageNode(
        op, op.name, op.type, tuple(carried[one] for one in op.inputs), tuple(carried[one] for one in op.outputs)
    )


def _compare(before: Stage, after: Stage) -> bool:
    """Note where each node comes from; whether there is any difference."""
    place = {node.op: index for index, node in enumerate(before.nodes)}
    now = {node.op for node in after.nodes}
    gone = {index for index, node in enumerate(before.nodes) if node.op not in now}
    by_name = {(before.nodes[index].name, before.nodes[index].type): index for index in gone}
    makers = {carried.operand: index for index, node in enumerate(before.nodes) for carried in node.outputs}
    renewed = {by_name[node.name, node.type] for node in after.nodes if (node.name, node.type) in by_name}
    used: set[int] = set()
    for node in after.nodes:
        if node.op in place:
            node.sources = [place[node.op]]
            node.change = "same"
        else:
            own = by_name.get((node.name, node.type))
            taken_in = _taken_in(node, before, makers, gone - renewed | ({own} if own is not None else set()))
            node.sources = sorted(taken_in | ({own} if own is not None else set()))
            node.change = _change(node, before.nodes[own] if own is not None and len(node.sources) == 1 else None)
        used.update(node.sources)
        node.names = frozenset(name for index in node.sources for name in before.nodes[index].names)
    after.removed = sorted(index for index in range(len(before.nodes)) if index not in used)
    return bool(after.removed) or any(node.change != "same" for node in after.nodes)


def _taken_in(node: StageNode, before: Stage, makers: dict[RuntimeOperand, int], gone: set[int]) -> set[int]:
    """The operators that are gone on all ways from this node's inputs to its outputs."""
    ends = {carried.operand for carried in node.inputs}
    found: set[int] = set()
    waiting = [makers[carried.operand] for carried in node.outputs if carried.operand in makers]
    while waiting:
        index = waiting.pop()
        if index in found or index not in gone:
            continue
        found.add(index)
        read = [carried.operand for carried in before.nodes[index].inputs if carried.operand not in ends]
        waiting += [makers[operand] for operand in read if operand in makers]
    return found


def _change(node: StageNode, own: StageNode | None) -> str:
    if own is None:
        return "new"
    wires = [[carried.operand for carried in each] for each in (node.inputs, node.outputs, own.inputs, own.outputs)]
    return "changed" if wires[:2] == wires[2:] else "moved"

"""Under which key the page has each operator and each value: names, told apart where two things share one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.explore.stages import Stage, StageNode
    from kuiper.graph.runtime_operator import RuntimeOperator

AFTER = " (after passes)"


class ValueKey(NamedTuple):
    """A value: its operand's index, and whether passes have put another value there than the file has."""

    operand: int
    moved: bool


class Keys:
    """The keys of all operators and values of some stages.

    ``operators`` has one dictionary for each stage, from the place of a node to the key of its operator; ``shown`` the
    operator of each key; ``values`` the key of each value.
    """

    def __init__(self, stages: Sequence[Stage]) -> None:
        self.operators: list[dict[int, str]] = []
        self.shown: dict[str, RuntimeOperator] = {}
        self.values: dict[ValueKey, str] = {}
        self._moved: dict[tuple[int, int], bool] = {}
        self._taken: set[str] = set()
        for stage in stages:
            before = self.operators[-1] if self.operators else {}
            keys: dict[int, str] = {}
            for place, node in enumerate(stage.nodes):
                is_same = node.change == "same" and before
                keys[place] = before[node.sources[0]] if is_same else self._new_key(node.name, stage.name)
                self.shown.setdefault(keys[place], node.op)
            self.operators.append(keys)
        self._find_moved(stages)
        names: dict[str, ValueKey] = {}
        for stage in stages:
            for node in stage.nodes:
                for carried in node.outputs:
                    key = self.value_key(node, carried.operand.index)
                    name = carried.name + (AFTER if key.moved else "")
                    if names.setdefault(name, key) != key:
                        name = f"{name} #{key.operand}"
                    self.values.setdefault(key, name)

    def value_key(self, maker: StageNode, index: int) -> ValueKey:
        """Which value an operand has in the stage of the node that makes it."""
        return ValueKey(index, self._moved.get((id(maker), index), False))

    def _find_moved(self, stages: Sequence[Stage]) -> None:
        """Note which operands have another value than in the file: one that other operators have led to.

        Operators that passes have taken out do not count: they made no difference.
        """
        original: dict[int, set[str]] = {}
        gone: set[str] = set()
        before: Stage | None = None
        for stage in stages:
            if before is not None:
                gone.update(name for index in stage.removed for name in before.nodes[index].names)
            above: dict[int, set[str]] = {}
            for node in stage.nodes:
                led = set(node.names).union(*(above.get(carried.operand.index, ()) for carried in node.inputs))
                for carried in node.outputs:
                    index = carried.operand.index
                    above[index] = led
                    wanted = original.setdefault(index, led)
                    self._moved[id(node), index] = not (led <= wanted and wanted - led <= gone)
            before = stage

    def _new_key(self, name: str, stage: str) -> str:
        key, count = name, 1
        while key in self._taken:
            count += 1
            key = f"{name} ({stage})" if count == 2 else f"{name} ({stage}, {count})"
        self._taken.add(key)
        return key

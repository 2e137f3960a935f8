"""What was seen of a graph: how it stands in the file and after the passes, a run of both, and the page's keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kuiper.errors import GraphStateError
from kuiper.explore.keys import Keys, ValueKey
from kuiper.explore.observed import Observed
from kuiper.explore.stages import Stage, read_stages
from kuiper.language import _

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.explore.values import ValueRecord
    from kuiper.graph.runtime_graph import RuntimeGraph
    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.layers.layer import Array

SLOW = 1.5
"""Seconds of a run by layers from which on there is only one."""


class Seen:
    """One graph and one set of inputs: all is known once it is made, and nothing changes later.

        plain, observed     the graph as it stands in the file, and its run
        graph, final        the graph after the passes, and its run
        stages, keys        the graph after each pass, and the page's keys of all operators and values
        records             what is known of each value, by its key
        first, last         the keys of the operators in the file, and of those after the passes
        by_name             the key of each operator of the last stage, by its name
        final_names         the key of each value of the last stage, by its operand's index
        left_out            sentences: what there was no time or no way to see

    Examples
    --------
    >>> import kuiper, numpy as np
    >>> from kuiper.models import bundled
    >>> seen = Seen(kuiper.load(bundled("cifar_resnet20")), [np.zeros((1, 3, 32, 32), np.float32)])
    >>> [stage.name for stage in seen.stages], len(seen.first) > len(seen.by_name)
    (['file', 'fuse_add_into_conv', 'fuse_activation_into_conv'], True)
    """

    def __init__(self, graph: RuntimeGraph, inputs: list[Array]) -> None:
        self.graph, self.inputs = graph, inputs
        self.left_out: list[str] = []
        self.plain, self.stages = self._stages()
        self.keys = Keys(self.stages)
        self.first, self.last = (set(self.keys.operators[place].values()) for place in (0, -1))
        last = self.stages[-1]
        self.by_name = {node.name: self.keys.operators[-1][place] for place, node in enumerate(last.nodes)}
        self._final_keys = {
            carried.operand.index: self.keys.value_key(node, carried.operand.index)
            for node in last.nodes
            for carried in node.outputs
        }
        self.final_names = {index: self.keys.values[key] for index, key in self._final_keys.items()}
        self.observed = Observed(self.plain, inputs)
        self.final = self._final_run()
        self.records: dict[str, ValueRecord] = {}
        for key, name in self.keys.values.items():
            record = (self.final if key.moved else self.observed).records.get(key.operand)
            if record is not None:
                self.records[name] = record

    def _stages(self) -> tuple[RuntimeGraph, list[Stage]]:
        """The graph as it stands in the file, and all stages; of a copy, which does not know its file, the last one."""
        try:
            return self.graph.as_in_file(), read_stages(self.graph.stages())
        except GraphStateError as error:
            self.left_out.append(_("the graph before the passes: {error}").format(error=error))
            return self.graph, read_stages([("file", self.graph.operators)])

    def _final_run(self) -> Observed:
        """A run after the passes, with records of the values that only they made."""
        if self.plain is self.graph:
            return self.observed
        if self.observed.seconds > SLOW:
            words = _("times of the layers after the passes: one run of the layers takes {seconds:.1f} s")
            self.left_out.append(words.format(seconds=self.observed.seconds))
            return self.observed.like(self.graph, self.inputs)
        moved = {key.operand for key in self._final_keys.values() if key.moved}
        return Observed(self.graph, self.inputs, only=moved)

    def shapes_around(self, key: str, op: RuntimeOperator) -> dict[int, Any]:
        """The shapes of what the operator of this key reads and makes, by operand; None where it was not seen."""
        known: dict[int, Any] = {**self.observed.shapes}
        if key in self.last - self.first:
            known |= self.final.shapes
        return {operand.index: known.get(operand.index) for operand in (*op.inputs, *op.outputs)}

    def names_of(self, operands: Sequence[Any], key: str) -> list[str]:
        """The keys of values that an operator reads or makes, as they are in the last stage, if they were seen."""
        is_final = key in self.last
        names = []
        for operand in operands:
            value = self._final_keys.get(operand.index) if is_final else None
            value = value or ValueKey(operand.index, moved=False)
            names.append(self.keys.values.get(value, operand.name))
        return [name for name in names if name in self.records]

    def values_in(self, stage: Stage) -> dict[Any, str | None]:
        """The key of each value of a stage, by its operand; None for one that only stands between two passes."""
        names = {
            carried.operand: self.keys.values[self.keys.value_key(node, carried.operand.index)]
            for node in stage.nodes
            for carried in node.outputs
        }
        return {operand: name if name in self.records else None for operand, name in names.items()}

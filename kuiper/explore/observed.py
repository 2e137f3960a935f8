"""One run of a graph by its layers, with a record of every value that flows."""

from __future__ import annotations

import heapq
from copy import copy
from typing import TYPE_CHECKING, Any

from kuiper.explore.budget import EXACT_BYTES
from kuiper.explore.values import ValueRecord, describe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.graph.runtime_graph import RuntimeGraph
    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.layers.layer import Array

_KEPT = EXACT_BYTES * 3 // 4  # bytes of arrays that are kept whole: what base64 makes the page's budget of


class Observed:
    """The values of one run, by the index of their operand; ``spans`` has the seconds of each operator.

    Parameters
    ----------
    graph : a graph that has been built
    inputs : an array for each input
    only : the indices of operands that are wanted; None: all

    Examples
    --------
    >>> import kuiper, numpy as np
    >>> from kuiper.models import bundled
    >>> run = Observed(kuiper.load(bundled("cifar_resnet20")), [np.zeros((1, 3, 32, 32), np.float32)])
    >>> run.shapes[0], len(run.outputs)
    ((1, 3, 32, 32), 1)
    """

    def __init__(self, graph: RuntimeGraph, inputs: Sequence[Array], only: set[int] | None = None) -> None:
        self.records: dict[int, ValueRecord] = {}
        self.shapes: dict[int, tuple[int, ...] | None] = {}
        self._kept: list[tuple[int, int]] = []  # a heap: bytes, negative, and the operand
        self._bytes = 0
        self._only = only
        self.spans: list[tuple[str, float]] = []
        for op, value in zip(graph.input_operators, inputs, strict=True):
            self._note(op, (value,))

        def observe(op: RuntimeOperator, outputs: tuple[Any, ...], seconds: float) -> None:
            self.spans.append((op.name, seconds))
            self._note(op, outputs)

        results = graph.forward(*inputs, observer=observe)
        self.outputs: tuple[Any, ...] = results if isinstance(results, tuple) else (results,)

    @property
    def seconds(self) -> float:
        """How long all operators took."""
        return sum(seconds for _, seconds in self.spans)

    def like(self, graph: RuntimeGraph, inputs: Sequence[Array]) -> Observed:
        """What is known of another graph for the same values without a second slow run: shapes, and its outputs.

        Where passes have put another value into an operand than the file has, its declared shape counts.
        """
        other = copy(self)
        other.records, other.spans = {}, []
        declared = {operand.index: operand.shape for op in graph.operators for operand in op.outputs}
        other.shapes = {**self.shapes}
        for index, shape in declared.items():
            sizes = tuple(size for size in shape or (None,) if isinstance(size, int))
            if len(sizes) == len(shape or (None,)):
                other.shapes[index] = sizes
        results = graph.forward(*inputs)
        other.outputs = results if isinstance(results, tuple) else (results,)
        return other

    def _note(self, op: RuntimeOperator, outputs: tuple[Any, ...]) -> None:
        for operand, value in zip(op.outputs, outputs, strict=True):
            self.shapes[operand.index] = getattr(value, "shape", None)
            if self._only is None or operand.index in self._only:
                self._keep(operand.index, describe(value, op, _KEPT))

    def _keep(self, index: int, record: ValueRecord) -> None:
        """Keep the record; of arrays that are whole, the largest go when there are too many."""
        self.records[index] = record
        if record.whole is None:
            return
        heapq.heappush(self._kept, (-record.whole.nbytes, index))
        self._bytes += record.whole.nbytes
        while self._bytes > _KEPT:
            size, largest = heapq.heappop(self._kept)
            self._bytes += size
            self.records[largest].whole = None

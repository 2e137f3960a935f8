"""Those rows whose outputs somebody wants, where the tokens of many texts go through a graph together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.engine.kernels.positions import Positions
from kuiper.engine.lowering.pick import picked
from kuiper.engine.values import Value

if TYPE_CHECKING:
    from kuiper.engine.builder import Builder
    from kuiper.engine.values import AnyValue
    from kuiper.graph.protocols import WiredGraph
    from kuiper.graph.runtime_operator import RuntimeOperator


def row_wise_end(graph: WiredGraph) -> RuntimeOperator | None:
    """What makes the one output of a graph, each row from the same row of its input; None if there is no such end."""
    returned = [operand for op in graph.output_operators for operand in op.inputs]
    end = returned[0].producer if len(returned) == 1 else None
    return end if end is not None and getattr(end.layer, "is_rowwise", False) else None


def integers_of_rows(builder: Builder, name: str, count: int) -> Value:
    """The first ``count`` of the state's integers of this name, on the arena."""
    out = builder.typed((count,), np.dtype(np.int64))
    source = builder.session_integers(name)

    def make() -> Positions:
        return Positions({"source": source[0], "out": out.byte_offset, "count": count, "counts_on": False})

    builder.emit(name, make, writes=[out], bindings=[source])
    return out


def chosen_rows(builder: Builder, value: AnyValue) -> Value:
    """The rows (1, m, d) of ``value`` (1, s, d) that the step asks for."""
    assert builder.paging is not None
    x = builder.on_arena(value)
    rows = integers_of_rows(builder, "chosen", builder.paging.chosen)
    index = Value(rows.buffer, rows.view[:, None])
    return picked(builder, x, 1, x.view[:, :1], index, (x.shape[0], len(rows.view), x.shape[2]))

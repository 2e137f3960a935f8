"""Tensor.slice: x[a:b:c], on one axis or on several at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.errors import ParameterError
from kuiper.layers.axes import axes
from kuiper.layers.layer import Array, Layer
from kuiper.layers.operators.select import position
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator

NOT_SELECTED = (2**31 - 1, 2**63 - 1)
"""The entries of ``selects`` that mean: this axis is cut, not indexed."""

Cut = int | slice


@register("Tensor.slice")
class Slice(Layer):
    """Cut each axis of ``dims`` to ``start:end:step``, or pick one index of it; always a view.

    PNNX has two spellings: ``dim start end step`` for one axis, and lists ``dims starts ends steps selects`` for a
    whole ``x[:, 1, ::2]``. There an entry of ``selects`` that is not the largest int32 picks an index, and the axis is
    gone; ``dims`` counts the axes of the input all the same. As in Python, bounds may lie beyond the ends.

    Source: torch.Tensor indexing.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        several = op.has_param("dims")
        self.dims = op.ints_param("dims") if several else (op.int_param("dim", 0),)
        self.cuts = several_cuts(op, len(self.dims)) if several else (single_cut(op),)
        for cut in self.cuts:
            if isinstance(cut, slice) and cut.step < 1:
                raise ParameterError(op.where, "step >= 1", cut.step)

    def forward(self, x: Array) -> Array:
        index: list[Cut] = [slice(None)] * x.ndim
        self.expect(x.ndim > 0, "input with axes", x.shape)
        for dim, cut in zip(axes(self.dims, x.ndim, self.op.where), self.cuts, strict=True):
            index[dim] = cut if isinstance(cut, slice) else position(cut, x.shape[dim], self.op.where)
        return x[tuple(index)][...]


def single_cut(op: RuntimeOperator) -> slice:
    """What ``start end step`` say; absent or None is Python's empty place in ``[::]``."""
    return slice(op.int_param("start", None), op.int_param("end", None), op.int_param("step", 1))


def several_cuts(op: RuntimeOperator, count: int) -> tuple[Cut, ...]:
    """What ``starts ends steps selects`` say, one entry for each of ``count`` axes.

    Raises
    ------
    ParameterError
        If a list has another length.
    """
    defaults = {"starts": 0, "ends": NOT_SELECTED[0], "steps": 1, "selects": NOT_SELECTED[0]}
    columns = []
    for key, default in defaults.items():
        column = op.ints_param(key, (default,) * count)
        if len(column) != count:
            raise ParameterError(op.where, f"{key} with {count} entries, as dims has", column)
        columns.append(column)
    return tuple(
        slice(start, end, step) if select in NOT_SELECTED else select
        for start, end, step, select in zip(*columns, strict=True)
    )

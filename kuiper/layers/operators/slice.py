"""Tensor.slice: x[a:b:c], on one axis or on several at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.errors import ParameterError, ShapeError
from kuiper.layers.axes import axes
from kuiper.layers.layer import Array, Layer
from kuiper.layers.operators.select import position
from kuiper.layers.registry import register
from kuiper.layers.static_batch import declared_shape
from kuiper.layers.static_sizes import refuse_baked_end

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator

NOT_SELECTED = (2**31 - 1, 2**63 - 1)
"""The entries of ``selects`` that mean: this axis is cut, not indexed."""

Cut = int | slice


@register("Tensor.slice")
class Slice(Layer):
    """Cut each axis of ``dims`` to ``start:end:step``, or pick one index of it; always a view.

    PNNX has two spellings: ``dim start end step select`` for one axis, and lists ``dims starts ends steps selects`` for
    a whole ``x[:, 1, ::2]``. A ``select`` that is given and not the largest int32 picks an index, and the axis is gone;
    ``dims`` counts the axes of the input all the same. As in Python, bounds may lie beyond the ends. An axis of another
    size than the file declares must not be cut just where the declared one ends: see ``refuse_baked_end``.

    Source: torch.Tensor indexing.
    """

    is_part = True

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.dims, self.cuts = read_cuts(op)
        self.declared = declared_shape(op)

    def forward(self, x: Array) -> Array:
        if self.declared is not None and x.shape != self.declared and x.ndim == len(self.declared):
            for dim, cut in zip(axes(self.dims, x.ndim, self.op.where), self.cuts, strict=True):
                if isinstance(cut, slice):
                    refuse_baked_end(cut.stop, self.declared[dim], x.shape[dim], self.op.where)
        return part_of(x, self.dims, self.cuts, self.op.where)


def part_of(x: Array, dims: tuple[int, ...], cuts: tuple[Cut, ...], where: str = "slice") -> Array:
    """A view of ``x`` with each axis of ``dims`` cut, or indexed and gone.

    >>> import numpy as np
    >>> part_of(np.array([[1, 2, 3], [4, 5, 6]]), (0, -1), (1, slice(0, None, 2)))
    array([4, 6])

    Raises
    ------
    ShapeError
        If ``x`` lacks one of the axes, or one comes twice.
    TensorIndexError
        If an axis lacks an index.
    """
    if x.ndim == 0:
        raise ShapeError(where, "input with axes", x.shape)
    index: list[Cut] = [slice(None)] * x.ndim
    for dim, cut in zip(axes(dims, x.ndim, where), cuts, strict=True):
        index[dim] = cut if isinstance(cut, slice) else position(cut, x.shape[dim], where)
    return x[tuple(index)][...]


def read_cuts(op: RuntimeOperator) -> tuple[tuple[int, ...], tuple[Cut, ...]]:
    """The axes that an operator cuts, and how.

    Raises
    ------
    ParameterError
        If a step does not go forward, or a list has another length than ``dims``.
    """
    several = op.has_param("dims")
    dims = op.ints_param("dims") if several else (op.int_param("dim", 0),)
    cuts = several_cuts(op, len(dims)) if several else (single_cut(op),)
    for cut in cuts:
        if isinstance(cut, slice) and cut.step < 1:
            raise ParameterError(op.where, "step >= 1", cut.step)
    return dims, cuts


def single_cut(op: RuntimeOperator) -> Cut:
    """What ``start end step select`` say; absent or None is Python's empty place in ``[::]``."""
    select = op.int_param("select", NOT_SELECTED[0])
    if select not in NOT_SELECTED:
        return select
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

"""Matrix products of what is computed while the model runs; stored weights are packed ahead.

    stored right factor   (..., m, k) (k, n)         one 1x1 convolution; see projection.py
    one right factor      (..., m, k) (k, n)         one product of b * m rows, if they follow each other evenly
    stacks                (..., m, k) (..., k, n)    one step for all of them; an axis that broadcasts has stride 0

Vectors are matrices of one row or one column.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from kuiper.engine.cost import panel_widths
from kuiper.engine.declined import common_shape, decline_if
from kuiper.engine.kernels.convolution import LANES, TILE_ROWS
from kuiper.engine.kernels.matrix_product import MatrixProduct
from kuiper.engine.lowering.placement import has_row_capacity, view_of
from kuiper.engine.lowering.projection import emit_projection, stored
from kuiper.engine.lowering.registry import lowers
from kuiper.engine.step import MAX_NDIM
from kuiper.engine.transfers import copy_into
from kuiper.engine.values import AnyValue, Value, whole_vectors
from kuiper.layers.operators.matmul import Matmul
from kuiper.layers.operators.permute import Permute
from kuiper.layers.operators.transpose import Transpose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.builder import Builder
    from kuiper.engine.step import Step
    from kuiper.layers.layer import Array
    from kuiper.machine import Machine

_PANEL = len(TILE_ROWS) * LANES  # columns that are done at a time


@lowers(Matmul)
def lower_matmul(layer: Matmul, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """torch.matmul, torch.mm and torch.bmm: a vector on the left is a row, one on the right a column."""
    shapes = [value.shape for value in inputs]
    ranks = [len(shape) for shape in shapes]
    decline_if(layer.rank is not None and (ranks != [layer.rank] * 2 or shapes[0][:-2] != shapes[1][:-2]))
    a, weight = builder.on_arena(inputs[0]), stored(builder, 1)
    decline_if(not 0 < min(ranks) <= max(ranks) <= MAX_NDIM)
    left = a if ranks[0] > 1 else Value(a.buffer, a.view[None, :])
    if weight is not None and ranks[1] == 2:
        out = _times_weight(builder, left, np.ascontiguousarray(weight.data.T))
    else:
        b = builder.on_arena(inputs[1])
        right = b if ranks[1] > 1 else Value(b.buffer, b.view[:, None])
        out = memory_of_product(builder, product_shape(left.shape, right.shape))
        emit_product(builder, left, right, out)
    kept = (..., *(slice(None) if rank > 1 else 0 for rank in ranks))
    return [Value(out.buffer, out.view[kept])]


def _times_weight(builder: Builder, a: Value, weight: Array) -> Value:
    decline_if(a.shape[-1] != weight.shape[1])
    out = builder.rows((*a.shape[:-1], len(weight)))
    emit_projection(builder, a, out, weight)
    return out


def product_shape(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of the product of two stacks of matrices of these shapes; declines if they do not fit.

    >>> product_shape((3, 1, 4, 5), (2, 5, 7))
    (3, 2, 4, 7)
    """
    decline_if(a[-1] != b[-2])
    return (*common_shape(a[:-2], b[:-2]), a[-2], b[-1])


def memory_of_product(builder: Builder, shape: tuple[int, ...]) -> Value:
    """Memory for a stack of matrices, by rows.

    Where the next step makes (n, l, heads, d) of (n, heads, l, d), the numbers lie in that order from the start: what
    follows, a reshape to (n, l, heads * d), is then a view.
    """
    if len(shape) == 4 and _is_turned(builder):
        n, heads, length, d = shape
        joined = builder.rows((n, length, heads * d), fixed=True)
        return Value(joined.buffer, joined.view.reshape(n, length, heads, d).swapaxes(1, 2))
    return builder.rows(shape)


def _is_turned(builder: Builder) -> bool:
    """Whether all that becomes of the current operator's output is to have its axes 1 and 2 swapped."""
    assert builder.op is not None
    readers = builder.op.outputs[0].consumers
    if len(readers) != 1:
        return False
    layer = readers[0].layer
    if type(layer) is Permute:
        return tuple(dim % 4 for dim in layer.dims) == (0, 2, 1, 3)
    return type(layer) is Transpose and {layer.dim0 % 4, layer.dim1 % 4} == {1, 2}


def emit_product(builder: Builder, a: Value, b: Value, out: Value, scale: float = 1.0) -> None:
    """Add ``out = scale * a @ b``: (..., m, k) (..., k, n) -> (..., m, n); ``out`` has all axes that broadcast."""
    if b.view.ndim == 2 and out.view.ndim > 2:
        a, out = _as_one_matrix(a, out)
    a = _with_rows(builder, a, b.shape[-1])
    (rows, depth), columns, stack = a.shape[-2:], b.shape[-1], out.shape[:-2]
    factors = [Value(x.buffer, np.broadcast_to(x.view, (*stack, *x.shape[-2:]))) for x in (a, b)]

    def make() -> Step:
        left, right = factors
        numbers = {
            "rows": rows, "depth": depth, "columns": columns, "scale": scale, "whole_vectors": has_row_capacity(out),
            "a": left.offset, "a_row": left.strides[-2], "a_depth": left.strides[-1] if depth > 1 else 1,
            "b": right.offset, "b_depth": right.strides[-2], "b_column": right.strides[-1] if columns > 1 else 1,
            "out": out.offset, "out_row": out.strides[-2],
            "panel_vectors": panel_vectors(builder.machine, rows, depth, columns),
        }  # fmt: skip
        return MatrixProduct(numbers, stack, out.strides[:-2], left.strides[:-2], right.strides[:-2])

    count = math.prod(stack)
    builder.emit(
        f"product {count}x{rows}x{depth}x{columns}",
        make,
        reads=[a, b],
        writes=[out],
        flops=2 * count * rows * depth * columns,
        relocatable=True,
    )


def panel_vectors(machine: Machine, rows: int, depth: int, columns: int) -> int:
    """How many vectors a panel has: as many as suit the tile, and so that several tiles of rows find it near.

    That is half of the first-level cache; rows of the left factor and of the product go through the other one.
    """
    widest = panel_widths(machine, whole_vectors(columns) // LANES, rows, depth)[0]
    fitting = machine.l1 // 2 // (4 * LANES * depth) if rows > max(TILE_ROWS) else widest
    return min(widest, max(1, fitting))


def _as_one_matrix(a: Value, out: Value) -> tuple[Value, Value]:
    """The matrices of a stack below each other, if both ``a`` and ``out`` can be seen that way."""
    tall_a, tall_out = (view_of(value, value.view.reshape(-1, value.shape[-1])) for value in (a, out))
    if tall_a is None or tall_out is None or len(tall_a.view) != len(tall_out.view):
        return a, out
    return tall_a, tall_out


def _with_rows(builder: Builder, a: Value, columns: int) -> Value:
    """``a`` with the numbers of each row side by side, if it is read more often than once."""
    if a.shape[-1] == 1 or a.strides[-1] == 1 or columns <= _PANEL:
        return a
    copied = builder.rows(a.shape, fixed=True)
    copy_into(builder, a, copied)
    return copied

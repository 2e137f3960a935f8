"""Products of vectors and matrices for which pnnx has no name, by the matrix product of ``matmul.py``.

The sum over one axis of x * y is a product of x * y with a column of ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.engine.declined import axis_of, common_shape, decline_if
from kuiper.engine.expression_code import Code, Instruction
from kuiper.engine.lowering.aten_functions import float_tensors, lowers_function, settings_of
from kuiper.engine.lowering.elementwise import emit_elementwise
from kuiper.engine.lowering.matmul import emit_product
from kuiper.engine.lowering.placement import memory_by_rows
from kuiper.engine.values import AnyValue, Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.builder import Builder
    from kuiper.engine.lowering.aten_functions import Arguments


@lowers_function("aten::dot", "aten::linalg_vecdot")
def lower_vecdot(builder: Builder, arguments: Arguments) -> Sequence[AnyValue]:
    """torch.dot and torch.linalg.vecdot."""
    found, dim = float_tensors(builder, arguments[:2]), arguments[2] if len(arguments) > 2 else -1
    return [_dots(builder, *_as_pair(found, dim))]


@lowers_function("aten::inner")
def lower_inner(builder: Builder, arguments: Arguments) -> Sequence[AnyValue]:
    """torch.inner of rows and matrices: each row of the one times each row of the other."""
    x, y = float_tensors(builder, arguments)
    decline_if(not {x.view.ndim, y.view.ndim} <= {1, 2} or x.shape[-1] != y.shape[-1])
    rows, columns = x.view.reshape(-1, x.shape[-1]), y.view.reshape(-1, y.shape[-1]).T
    out = memory_by_rows(builder, (len(rows), columns.shape[1]), fixed=True)
    emit_product(builder, Value(x.buffer, rows), Value(y.buffer, columns), out)
    return [Value(out.buffer, out.view.reshape((*x.shape[:-1], *y.shape[:-1])))]


@lowers_function("aten::addmv")
def lower_addmv(builder: Builder, arguments: Arguments) -> Sequence[AnyValue]:
    """torch.addmv: beta x + alpha (matrix @ vector)."""
    (x, matrix, vector), scales = float_tensors(builder, arguments[:3], 1, 2, 1), settings_of(arguments[3:], (1, 1))
    decline_if(not all(isinstance(one, (int, float)) for one in scales) or matrix.shape != (*x.shape, *vector.shape))
    beta, alpha = scales
    product = memory_by_rows(builder, x.shape, fixed=True)
    column, target = Value(vector.buffer, vector.view[:, None]), Value(product.buffer, product.view[:, None])
    emit_product(builder, matrix, column, target)
    out = memory_by_rows(builder, x.shape)
    program: list[Instruction] = [
        ("load", 0, 0), ("constant", beta, 0), ("mul", 0, 0),
        ("load", 1, 0), ("constant", alpha, 0), ("mul", 0, 0), ("add", 0, 0),
    ]  # fmt: skip
    emit_elementwise(builder, Code(tuple(program), (0, 1)), [x, product], out)
    return [out]


@lowers_function("aten::cosine_similarity")
def lower_cosine_similarity(builder: Builder, arguments: Arguments) -> Sequence[AnyValue]:
    """F.cosine_similarity: x y / (|x| |y|), no length below eps."""
    found = float_tensors(builder, arguments[:2])
    dim, eps = settings_of(arguments[2:], (1, 1e-8))
    decline_if(not isinstance(eps, (int, float)))
    x, y = _as_pair(found, dim)
    operands = [_dots(builder, x, y), _dots(builder, x, x), _dots(builder, y, y)]
    lengths: list[Instruction] = []
    for i in (1, 2):
        lengths += [("load", i, 0), ("sqrt", 0, 0), ("constant", eps, 0), ("max", 0, 0)]
    program: list[Instruction] = [("load", 0, 0), *lengths[:4], ("div", 0, 0), *lengths[4:], ("div", 0, 0)]
    out = memory_by_rows(builder, operands[0].shape)
    emit_elementwise(builder, Code(tuple(program), (0, 1, 2)), operands, out)
    return [out]


def _as_pair(found: list[Value], dim: Any) -> tuple[Value, Value]:
    """Both tensors with the axis ``dim`` of what they broadcast to as the last one; declines if they do not fit."""
    decline_if(not isinstance(dim, int))
    rank = len(common_shape(*(value.shape for value in found)))
    axis_of(dim, rank)
    wide = [value.view[(None,) * (rank - value.view.ndim)] for value in found]
    x, y = (Value(value.buffer, np.moveaxis(view, dim, -1)) for value, view in zip(found, wide, strict=True))
    decline_if(x.shape[-1] != y.shape[-1])
    return x, y


def _dots(builder: Builder, x: Value, y: Value) -> Value:
    """The sum of x * y (..., k) over the last axis."""
    shape = np.broadcast_shapes(x.shape, y.shape, (1, 1))  # a row for each sum
    products = builder.rows(shape, fixed=True)
    emit_elementwise(builder, Code((("load", 0, 0), ("load", 1, 0), ("mul", 0, 0)), (0, 1)), [x, y], products)
    sums = memory_by_rows(builder, shape[:-1], fixed=True)
    ones = builder.constant(np.ones((shape[-1], 1), np.float32))
    emit_product(builder, products, ones, Value(sums.buffer, sums.view[..., None]))
    return Value(sums.buffer, sums.view.reshape(shape[:-1] if max(x.view.ndim, y.view.ndim) > 1 else ()))

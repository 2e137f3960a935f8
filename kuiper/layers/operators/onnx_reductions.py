"""Reductions in ONNX's spelling: of any element type, which stays, over axes that may be computed or none."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.layers.axes import axes, axis
from kuiper.layers.layer import Array, Layer
from kuiper.layers.operators.argmax import arg_extreme
from kuiper.layers.operators.onnx_shapes import integers
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from collections.abc import Callable

    from kuiper.graph.runtime_operator import RuntimeOperator

    Reduce = Callable[[Array, tuple[int, ...]], Array]


def _wide(x: Array) -> np.dtype:
    """What floats are added up in; integers stay in their type, and go round at its end."""
    return np.dtype(np.float64) if x.dtype.kind == "f" else x.dtype


def _sum(x: Array, dims: tuple[int, ...]) -> Array:
    return np.asarray(np.sum(x, axis=dims, dtype=_wide(x), keepdims=True))


def _mean(x: Array, dims: tuple[int, ...]) -> Array:
    count = math.prod(x.shape[dim] for dim in dims)
    return np.asarray(_sum(x, dims) / np.float64(count))


def _max(x: Array, dims: tuple[int, ...]) -> Array:
    return np.asarray(np.max(x, axis=dims, keepdims=True, initial=_limits(x.dtype)[0]))


def _min(x: Array, dims: tuple[int, ...]) -> Array:
    return np.asarray(np.min(x, axis=dims, keepdims=True, initial=_limits(x.dtype)[1]))


def _prod(x: Array, dims: tuple[int, ...]) -> Array:
    return np.asarray(np.prod(x, axis=dims, dtype=_wide(x), keepdims=True))


def _sum_of_squares(x: Array, dims: tuple[int, ...]) -> Array:
    numbers = x.astype(_wide(x))
    return np.asarray(np.sum(numbers * numbers, axis=dims, dtype=numbers.dtype, keepdims=True))


def _log_sum_exp(x: Array, dims: tuple[int, ...]) -> Array:
    numbers = x.astype(np.float64)
    top = np.max(numbers, axis=dims, keepdims=True, initial=-np.inf)
    top = np.where(np.isfinite(top), top, 0)  # inf - inf would be NaN
    return np.asarray(np.log(np.sum(np.exp(numbers - top), axis=dims, keepdims=True)) + top)


def _limits(dtype: np.dtype) -> tuple[Any, Any]:
    """The numbers of a type that any other is larger, and smaller, than."""
    if dtype.kind == "f":
        return -np.inf, np.inf
    return (False, True) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)


_REDUCTIONS: dict[str, Reduce] = {
    "ReduceSum": _sum,
    "ReduceMean": _mean,
    "ReduceMax": _max,
    "ReduceMin": _min,
    "ReduceProd": _prod,
    "ReduceL1": lambda x, dims: _sum(np.abs(x), dims),
    "ReduceL2": lambda x, dims: np.sqrt(_sum_of_squares(x, dims)),
    "ReduceLogSum": lambda x, dims: np.log(_sum(x, dims)),
    "ReduceLogSumExp": _log_sum_exp,
    "ReduceSumSquare": _sum_of_squares,
}
"""With the reduced axes kept; what comes out is cast to the type of the input."""


@register(*_REDUCTIONS)
class OnnxReduction(Layer):
    """One number for all entries along ``axes``, which a second input may name instead: all, if none are named.

    ``keepdims`` keeps them with size one. With ``noop_with_empty_axes`` no axes means none.

    Source: ONNX, ReduceSum and its like.
    """

    data_inputs = None

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.reduce = _REDUCTIONS[op.type]
        self.axes = op.ints_param("axes", ())
        self.keepdims = op.bool_param("keepdims", True)
        self.none_is_none = op.bool_param("noop_with_empty_axes", False)

    def forward(self, x: Array, named: Any = None) -> Array:
        given = self.axes if named is None else integers(named)
        dims = axes(given, x.ndim, self.op.where) if given and x.ndim else ()
        if not given and not self.none_is_none:
            dims = tuple(range(x.ndim))
        with np.errstate(all="ignore"):
            result = self.reduce(x, dims).astype(x.dtype)
        return result if self.keepdims else np.squeeze(result, dims)

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return math.prod(inputs[0])


class LastArgMax(Layer):
    """Where along ``axis`` the largest, or smallest, entry is, int64; the last place of equals.

    Source: ONNX, ArgMax with select_last_index.
    """

    data_inputs = None

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.axis = op.int_param("axis", 0)
        self.keepdims = op.bool_param("keepdims", True)

    def forward(self, x: Array) -> Array:
        self.expect(x.ndim > 0, "input with axes", x.shape)
        dim = axis(self.axis, x.ndim, self.op.where)
        found = arg_extreme(np.flip(x, dim), dim, self.op.type == "ArgMax", self.keepdims, self.op.where)
        return np.asarray(x.shape[dim] - 1 - found)


@register("CumSum", "CumProd")
class OnnxCumSum(Layer):
    """Running totals, or products, along the axis that the second input names.

    ``exclusive`` leaves each entry out of its own total, ``reverse`` begins at the end.

    Source: ONNX, CumSum, CumProd.
    """

    data_inputs = None

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.accumulate = np.cumprod if op.type == "CumProd" else np.cumsum
        self.neutral = 1 if op.type == "CumProd" else 0
        self.exclusive, self.reverse = op.bool_param("exclusive", False), op.bool_param("reverse", False)

    def forward(self, x: Array, along: Any) -> Array:
        named = integers(along)
        self.expect(x.ndim > 0 and len(named) == 1, "an input with axes, and one of them", (x.shape, named))
        dim = axis(named[0], x.ndim, self.op.where)
        rows = np.moveaxis(x, dim, -1)
        rows = np.flip(rows, -1) if self.reverse else rows
        if self.exclusive and rows.shape[-1]:
            first = np.full((*rows.shape[:-1], 1), self.neutral, x.dtype)
            rows = np.concatenate([first, rows[..., :-1]], axis=-1)
        with np.errstate(all="ignore"):
            totals = self.accumulate(rows, -1, dtype=_wide(x)).astype(x.dtype)
        return np.moveaxis(np.flip(totals, -1) if self.reverse else totals, -1, dim)

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return math.prod(inputs[0])

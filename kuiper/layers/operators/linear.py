"""nn.Linear and F.linear: each output is a weighted sum of the last axis."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import DataTypeError, ShapeError
from kuiper.layers.convolution import check_bias
from kuiper.layers.gemm import PackedRight, matmul, pack_right
from kuiper.layers.layer import Array, Layer
from kuiper.layers.promotion import promoted
from kuiper.layers.registry import register
from kuiper.layers.weight_layer import ParamLayer

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("nn.Linear")
class Linear(ParamLayer):
    """The last axis, ``in_features`` long, times the weight (out_features, in_features), plus the bias.

    Source: torch.nn.Linear.
    """

    is_rowwise = True

    def __init__(self, op: RuntimeOperator) -> None:
        out_features = op.int_param("out_features")
        super().__init__(op, (out_features, op.int_param("in_features")))
        check_bias(self.bias, out_features, op.where)

    @cached_property
    def columns(self) -> PackedRight:
        """The packed weight, made by the first forward pass (or by two threads that are first: either will do)."""
        return pack_right(np.ascontiguousarray(self.weight.T))

    def forward(self, x: Array) -> Array:
        return linear(x, self.columns, self.bias, self.op.where)

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return linear_flops(outputs[0], self.weight_shape, self.bias is not None)


@register("F.linear")
class FunctionalLinear(Layer):
    """A linear layer whose weight, and bias if any, are operands.

    PNNX also writes ``x @ weight.T + y`` this way: then the bias is whatever can be added, a plain number or a tensor
    that broadcasts with the product. A weight (in_features,) drops the last axis, and takes no bias.

    Source: torch.nn.functional.linear.
    """

    data_inputs = ("input", "weight", "bias")
    number_inputs = ("bias",)
    is_rowwise = True

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.number = op.float_param("bias") if op.has_param("bias") else None

    def forward(self, x: Array, weight: Array, bias: Array | float | None = None) -> Array:
        bias = self.number if bias is None else bias
        self.expect(weight.ndim in (1, 2), "weight (out_features, in_features) or (in_features,)", weight.shape)
        if weight.ndim == 1:
            self.expect(bias is None, "no bias with a weight (in_features,)", "one")
            return linear(x, np.ascontiguousarray(weight[:, None]), None, self.op.where)[..., 0]
        out = linear(x, np.ascontiguousarray(weight.T), None, self.op.where)
        if bias is None:
            return out
        shape = np.shape(bias)
        if len(shape) == 1 and shape != (1,):
            check_bias(np.asarray(bias), len(weight), self.op.where)
        try:
            np.broadcast_shapes(out.shape, shape)
        except ValueError:
            raise ShapeError(self.op.where, f"a bias that broadcasts with {out.shape}", shape) from None
        total: Array = np.add(out, bias, dtype=promoted([out, bias]))
        return total

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return linear_flops(outputs[0], inputs[1], len(inputs) == 3 or self.number is not None)


def linear(x: Array, columns: Array | PackedRight, bias: Array | None, where: str = "linear") -> Array:
    """``x`` (..., in_features) @ ``columns`` (in_features, out_features) + ``bias``, for any number of leading axes.

    >>> import numpy as np
    >>> x, weight = np.float32([1, 2, 3]), np.float32([[1, 1, 1], [1, 0, -1]])
    >>> linear(x, np.ascontiguousarray(weight.T), np.float32([10, 0]))
    array([16., -2.], dtype=float32)

    Raises
    ------
    ShapeError
        If the last axis is not in_features long.
    DataTypeError
        If ``x`` is not float32.
    """
    in_features, out_features = columns.shape
    if x.ndim == 0 or x.shape[-1] != in_features:
        raise ShapeError(where, f"input (..., {in_features})", x.shape)
    if x.dtype != np.float32:
        raise DataTypeError(where, "float32 input", x.dtype)
    rows = np.ascontiguousarray(x).reshape(math.prod(x.shape[:-1]), in_features)
    out = matmul(rows, columns)
    if bias is not None:
        out += bias
    return out.reshape(*x.shape[:-1], out_features)


def linear_flops(outputs: tuple[int, ...], weight: tuple[int, ...], has_bias: bool) -> int:
    """Two for each weight that an output meets, one for the bias."""
    return math.prod(outputs) * (2 * weight[-1] + has_bias)

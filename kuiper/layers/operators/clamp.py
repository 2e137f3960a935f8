"""torch.clamp: entries kept between two bounds."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.errors import ParameterError
from kuiper.layers.activation import Activation
from kuiper.layers.layer import Array, Layer
from kuiper.layers.promotion import as_array, promoted
from kuiper.layers.registry import create, register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator

Number = Array | float

_ENDS = (-math.inf, math.inf)  # where a bound is absent


@register("torch.clamp", "torch.clip", "Tensor.clamp")
class Clamp(Layer):
    """min(max(x, ``min``), ``max``); a bound may be absent, a number, or a tensor.

    An ``input`` that pnnx has found to be a constant number is a parameter.

    Source: torch.clamp.
    """

    is_pixelwise = True
    is_activation = True
    data_inputs = ("input", "self", "min", "max")

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.numbers = {key: number_param(op, key) for key in ("min", "max")}
        self.constant = number_param(op, "input")
        low, high = (float(x) if x is not None else end for x, end in zip(self.numbers.values(), _ENDS, strict=True))
        if self.constant is None and not math.isnan(low) and not math.isnan(high):
            self.function = Activation("clip", low, high)
        if not any(op.has_param(key) or key in op.input_names for key in ("min", "max")):
            raise ParameterError(op.where, "a bound, min or max", "none")

    def forward(self, *tensors: Any) -> Array:
        x, *bounds = tensors if self.constant is None else (self.constant, *tensors)
        names = self.op.input_names[len(tensors) - len(bounds) :]
        limits = {**self.numbers, **dict(zip(names, bounds, strict=False))}
        return clamp(as_array(x), limits["min"], limits["max"])

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return math.prod(outputs[0])


@register("aten::clamp_min", "aten::clamp_max", "torch.clamp_min", "torch.clamp_max")
def clamp_of_operands(op: RuntimeOperator) -> Layer:
    """The same with one bound, an operand that need not have a name."""
    return create(replace(op, type="torch.clamp", input_names=["input", op.type.rpartition("clamp_")[2]]))


def clamp(x: Array, lower: Number | None = None, upper: Number | None = None) -> Array:
    """min(max(x, lower), upper), in the element type that torch promotes them to; NaN stays NaN.

    Where ``lower`` is above ``upper`` the result is ``upper``.

    >>> clamp(np.array([-2, 0, 5]), -1, 3)
    array([-1,  0,  3])
    """
    dtype = promoted([x, *(bound for bound in (lower, upper) if bound is not None)])
    x = x.astype(dtype, copy=False)
    if lower is not None:
        x = np.maximum(x, np.asarray(lower, dtype))
    return np.asarray(x if upper is None else np.minimum(x, np.asarray(upper, dtype)))


def number_param(op: RuntimeOperator, key: str) -> int | float | None:
    """A number, whole or not as the file spells it, which matters for promotion; None where it gives none."""
    number = op.float_param(key, None)
    return op.int_param(key) if number is not None and isinstance(op.params[key].value, int) else number

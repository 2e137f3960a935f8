"""torch.where and Tensor.masked_fill: entries chosen by a mask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.errors import DataTypeError
from kuiper.layers.layer import Array, Layer
from kuiper.layers.operators.clamp import Number, number_param
from kuiper.layers.promotion import promoted
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("torch.where")
class Where(Layer):
    """``input`` where ``condition`` is True, ``other`` elsewhere; each of the two is a tensor or a number.

    A condition that pnnx has found to be constant is a parameter, not an input.

    Source: torch.where.
    """

    is_pixelwise = True
    data_inputs = ("condition", "input", "self", "other")

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.numbers = {key: number_param(op, key) for key in ("input", "other")}
        self.condition = np.asarray(op.bool_param("condition")) if op.has_param("condition") else None

    def forward(self, *tensors: Any) -> Array:
        condition, *others = tensors if self.condition is None else (self.condition, *tensors)
        names = self.op.input_names[-len(others) :]
        chosen = {**self.numbers, **dict(zip(names, others, strict=False))}
        return where(condition, chosen["input"], chosen["other"], self.op.where)


@register("Tensor.masked_fill", "torch.masked_fill")
class MaskedFill(Layer):
    """``value`` where ``mask`` is True, the input elsewhere, in the input's element type.

    Source: torch.Tensor.masked_fill.
    """

    data_inputs = ("input", "self", "mask", "value")

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.value = number_param(op, "value")

    def forward(self, x: Array, mask: Array, value: Any = None) -> Array:
        filling = np.asarray(self.value if value is None else value, x.dtype)
        return where(mask, filling, x, self.op.where)


def where(condition: Array, chosen: Number, other: Number, place: str = "where") -> Array:
    """``chosen`` where ``condition`` is True, ``other`` elsewhere, in the element type that torch promotes them to.

    >>> where(np.array([True, False]), np.array([1, 2]), 0.5)
    array([1. , 0.5], dtype=float32)

    Raises
    ------
    DataTypeError
        If the condition holds no bools.
    """
    if condition.dtype != np.bool_:
        raise DataTypeError(place, "a condition of bools", condition.dtype)
    dtype = promoted([chosen, other])
    return np.where(condition, np.asarray(chosen, dtype), np.asarray(other, dtype))

"""torch.full, zeros, ones and their kin: tensors of one value."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ParameterError
from kuiper.layers.element_type import dtype_param
from kuiper.layers.layer import Array, Layer
from kuiper.layers.operators.clamp import number_param
from kuiper.layers.promotion import promoted
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


def value_of(op: RuntimeOperator) -> float:
    """What the tensor is filled with: 0 or 1 by the operator's name, else ``fill_value``."""
    word = op.type.split(".")[-1].removeprefix("new_").removesuffix("_like")
    if word in ("zeros", "empty"):  # an empty tensor holds anything, so zeros will do
        return 0.0
    value = 1.0 if word == "ones" else number_param(op, "fill_value")
    if value is None:
        raise ParameterError(op.where, "a number fill_value", "none")
    return value


@register("torch.full", "torch.zeros", "torch.ones", "torch.empty")
class Full(Layer):
    """A tensor of shape ``size`` filled with one value. No inputs.

    Source: torch.full.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        size, value = op.ints_param("size", ()), value_of(op)
        if any(n < 0 for n in size):
            raise ParameterError(op.where, "size >= 0", size)
        self.tensor = np.full(size, value, dtype_param(op) or promoted([value]))

    def forward(self) -> Array:
        return self.tensor


@register("torch.full_like", "torch.zeros_like", "torch.ones_like", "torch.empty_like")
class FullLike(Layer):
    """A tensor of the input's shape, filled with one value, in the input's element type unless ``dtype`` names another.

    Source: torch.full_like.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.value, self.dtype = value_of(op), dtype_param(op)

    def forward(self, x: Array) -> Array:
        return np.full(x.shape, self.value, self.dtype or x.dtype)


@register("Tensor.new_full", "Tensor.new_zeros", "Tensor.new_ones", "Tensor.new_empty")
class NewFull(Layer):
    """A tensor of shape ``size``, filled with one value, in the input's element type unless ``dtype`` names another.

    Source: torch.Tensor.new_full.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.size, self.value, self.dtype = op.ints_param("size", ()), value_of(op), dtype_param(op)
        if any(n < 0 for n in self.size):
            raise ParameterError(op.where, "size >= 0", self.size)

    def forward(self, x: Array) -> Array:
        return np.full(self.size, self.value, self.dtype or x.dtype)

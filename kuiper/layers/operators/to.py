"""Tensor.to and Tensor.type_as: the same numbers in another element type."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.layers.element_type import dtype_param
from kuiper.layers.layer import Array, Layer
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("Tensor.to")
class To(Layer):
    """The input as ``dtype``; the input itself where the file names none (it only moves to another device).

    Source: torch.Tensor.to.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.dtype = dtype_param(op)

    def forward(self, x: Array | float) -> Array:
        array = np.asarray(x)  # at a low optlevel torch.tensor(0.5) is a plain number
        return array if self.dtype is None else cast(array, self.dtype)


@register("Tensor.type_as")
class TypeAs(Layer):
    """The first input in the element type of the second.

    Source: torch.Tensor.type_as.
    """

    data_inputs = ("input", "self", "other")

    def forward(self, x: Array, other: Array) -> Array:
        return cast(x, other.dtype)


def cast(x: Array, dtype: np.dtype) -> Array:
    """``x`` in another element type; floats lose their fraction on the way to whole numbers.

    >>> cast(np.array([-1.7, 2.7], np.float32), np.dtype(np.int64))
    array([-1,  2])
    """
    with np.errstate(all="ignore"):  # NaN has no whole number, and as in torch no complaint
        return x.astype(dtype, copy=False)

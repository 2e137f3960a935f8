"""Tensor.to and Tensor.type_as: the same numbers in another element type."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.layers.element_type import dtype_param
from kuiper.layers.layer import Array, Layer
from kuiper.layers.promotion import as_array
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("Tensor.to")
class To(Layer):
    """The input as ``dtype``; the input itself where the file names none (it only moves to another device).

    NumPy has no bfloat16: its numbers stay float32, rounded to the upper half of their bits.

    Source: torch.Tensor.to.
    """

    is_pixelwise = True

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.is_bfloat16 = op.has_param("dtype") and op.params["dtype"].value == "torch.bfloat16"
        self.dtype = None if self.is_bfloat16 else dtype_param(op)

    def forward(self, x: Array | float) -> Array:
        array = as_array(x)  # at a low optlevel torch.tensor(0.5) is a plain number
        if self.is_bfloat16:
            return rounded_to_bfloat16(cast(array, np.dtype(np.float32)))
        return array if self.dtype is None else cast(array, self.dtype)


@register("Tensor.type_as")
class TypeAs(Layer):
    """The first input in the element type of the second.

    Source: torch.Tensor.type_as.
    """

    is_pixelwise = True
    data_inputs = ("input", "self", "other")

    def forward(self, x: Array, other: Array) -> Array:
        return cast(x, other.dtype)


def cast(x: Array, dtype: np.dtype) -> Array:
    """``x`` in another element type; floats lose their fraction on the way to integers.

    >>> cast(np.array([-1.7, 2.7], np.float32), np.dtype(np.int64))
    array([-1,  2])
    """
    with np.errstate(all="ignore"):  # NaN has no integer, and as in torch no complaint
        return x.astype(dtype, copy=False)


def rounded_to_bfloat16(x: Array) -> Array:
    """The nearest numbers that bfloat16 has, as float32; of two as near, the one whose last bit is 0.

    >>> rounded_to_bfloat16(np.float32([1 / 3, 1.00390625, np.nan]))
    array([0.33398438, 1.        ,        nan], dtype=float32)
    """
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32)
    rounded = (bits + (0x7FFF + (bits >> 16 & 1))) & np.uint32(0xFFFF0000)  # may carry into the exponent, as it should
    result: Array = np.where(np.isnan(x), x, rounded.astype(np.uint32).view(np.float32)).astype(np.float32)
    return result

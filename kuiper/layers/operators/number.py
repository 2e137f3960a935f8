"""aten::Int, aten::ScalarImplicit, prim::NumToTensor and their kin: from tensors of one number to numbers, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from kuiper.layers.layer import Array, Layer
from kuiper.layers.promotion import as_array
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@register("aten::Int", "aten::Float", "aten::ScalarImplicit", "aten::IntImplicit", "aten::FloatImplicit")
class ToNumber(Layer):
    """The one number of a tensor, or a plain number, as a plain number: an int for Int, a float for Float.

    Source: torch.Tensor.item, and int and float of Python.
    """

    converters: ClassVar[Mapping[str, Callable[[Any], Any]]] = {"aten::Int": int, "aten::Float": float}

    def forward(self, x: Any) -> Any:
        array = np.asarray(x)
        self.expect(array.size == 1, "a tensor of one number", array.shape)
        number = array.item()
        convert = self.converters.get(self.op.type)
        return convert(number) if convert else number


@register("prim::NumToTensor")
class NumberToTensor(Layer):
    """A plain number as a tensor without axes: int64, float64 or bool, by its kind.

    Source: torch.scalar_tensor.
    """

    def forward(self, number: Any) -> Array:
        return as_array(number)

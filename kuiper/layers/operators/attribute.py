"""pnnx.Attribute: a constant that is stored with the weights."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ParameterError
from kuiper.graph.runtime_attribute import RuntimeAttribute
from kuiper.layers.layer import Array, Layer
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("pnnx.Attribute")
class Attribute(Layer):
    """The stored tensor, in its own element type. No inputs.

    Raises
    ------
    ParameterError
        If the file stores no tensor under the key ``data``.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        if "data" not in op.attrs:
            raise ParameterError(op.where, "a weight 'data'", ", ".join(op.attrs) or "none")
        self.quantized = op.quantized("data")
        attr = op.attrs["data"]
        self.stored = attr.stored if isinstance(attr, RuntimeAttribute) else None

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the tensor, wherever it lies."""
        return self.op.attrs["data"].shape if self.stored is None else self.stored.shape

    @property
    def dtype(self) -> np.dtype:
        """Of the tensor, wherever it lies; of one that is quantised, float32."""
        return np.dtype(np.float32) if self.stored is None else self.stored.dtype

    @property
    def data(self) -> Array:
        """The tensor; one that is quantised is unpacked when somebody asks for it."""
        return self._unpacked if self.stored is None else self.stored.get()

    @cached_property
    def _unpacked(self) -> Array:
        return self.op.attrs["data"].data

    def forward(self) -> Array:
        return self.data

    def returns_ownership(self, result: Array) -> bool:
        return False

"""Layers with weights, which may be stored in fewer bits than they are computed with."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from kuiper.graph.runtime_attribute import RuntimeAttribute
from kuiper.layers.layer import Array, Layer

if TYPE_CHECKING:
    from kuiper.graph.quantized_weight import QuantizedWeight
    from kuiper.graph.runtime_operator import RuntimeOperator


class WeightLayer(Layer):
    """A layer with a ``weight``, which may be quantised.

    Parameters
    ----------
    op : the operator, with the weight as an attribute
    weight_shape : the shape that it must have

    Raises
    ------
    ShapeError
        If it has another shape.
    ParameterError
        If the operator has no attribute ``weight``.

    Examples
    --------
    >>> from kuiper.graph.runtime_attribute import RuntimeAttribute
    >>> from kuiper.graph.runtime_operator import RuntimeOperator
    >>> weight = RuntimeAttribute("float32", (2, 3), np.ones((2, 3), np.float32))
    >>> WeightLayer(RuntimeOperator("my.Table", "table", attrs={"weight": weight}), (2, 3)).quantized is None
    True
    """

    quantized: QuantizedWeight | None

    def __init__(self, op: RuntimeOperator, weight_shape: tuple[int, ...]) -> None:
        super().__init__(op)
        self.quantized = op.quantized("weight")
        self.weight_shape = weight_shape
        shape = op.attribute("weight").shape
        self.expect(shape == weight_shape, f"weight of shape {weight_shape}", shape)

    @property
    def weight(self) -> Array:
        """The weight as float32; one that is stored in another form is unpacked when somebody asks for it."""
        attr = self.op.attribute("weight")
        is_float32 = isinstance(attr, RuntimeAttribute) and attr.stored.dtype == np.float32
        return self.op.attr("weight") if is_float32 else self._unpacked

    @cached_property
    def _unpacked(self) -> Array:
        return self.op.attr("weight")


class ParamLayer(WeightLayer):
    """A layer with weights: ``weight`` and, unless the file says ``bias=False``, ``bias``.

    Parameters
    ----------
    op : the operator, with the weights as its attributes
    weight_shape : the shape that ``weight`` must have

    Raises
    ------
    ShapeError
        If ``weight`` has another shape.
    ModelFormatError
        If the operator has no attribute ``weight``, or says ``bias=True`` and has no ``bias``.

    Examples
    --------
    >>> from kuiper.graph.runtime_attribute import RuntimeAttribute
    >>> from kuiper.graph.runtime_operator import RuntimeOperator
    >>> weight = RuntimeAttribute("float32", (2, 3), np.ones((2, 3), np.float32))
    >>> ParamLayer(RuntimeOperator("nn.Linear", "fc", attrs={"weight": weight}), (2, 3)).bias is None
    True
    """

    bias: Array | None

    def __init__(self, op: RuntimeOperator, weight_shape: tuple[int, ...]) -> None:
        super().__init__(op, weight_shape)
        self.bias = op.attr("bias") if op.bool_param("bias", "bias" in op.attrs) else None

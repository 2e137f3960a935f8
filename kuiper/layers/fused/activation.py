"""What the fused operators share: an addition and an activation behind a convolution or a linear layer, in one step.

    y = activation(layer(x) + residual)

Graph passes make these operators; no file has them. On their own they compute what the separate operators computed.
What fusion is good for is an engine that does all of it while a tile of the output is still in registers, so that the
output goes to memory once and not three times.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.errors import ShapeError
from kuiper.layers.activation import Activation
from kuiper.layers.layer import Array, Layer
from kuiper.layers.promotion import promoted

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


class WithActivation(Layer):
    """Stands before the class of a layer and makes it a fused one: ``class FusedConv2d(WithActivation, Conv2d)``.

    The second input, if there is one, is the residual: it is added to the output of the layer, before the activation.
    """

    data_inputs = ("input", "residual")

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.activation = Activation.read(op)

    def forward(self, x: Array, residual: Any = None) -> Array:
        y = super().forward(x)
        if residual is not None:
            y = add_residual(y, residual, self.op.where)
        return self.activation.apply(y, self.op.where)

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        extra = (len(inputs) > 1) + (self.activation.name != "none")
        return super().flops(inputs, outputs) + extra * math.prod(outputs[0])


def add_residual(y: Array, residual: Any, where: str = "residual") -> Array:
    """``y + residual`` with the broadcasting and the element type of the expression ``add(@0,@1)``.

    >>> add_residual(np.float32([[1, 2], [3, 4]]), np.float32([10, 20]))
    array([[11., 22.],
           [13., 24.]], dtype=float32)

    Raises
    ------
    ShapeError
        If the shapes do not broadcast.
    """
    dtype = promoted([y, residual])
    try:
        return np.asarray(y.astype(dtype, copy=False) + np.asarray(residual, dtype))
    except ValueError:
        raise ShapeError(where, f"a residual that broadcasts with {y.shape}", np.shape(residual)) from None

"""torch.addmm and torch.baddbmm: a matrix product added to something."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ShapeError
from kuiper.layers.layer import Array, Layer
from kuiper.layers.operators.matmul import matmul
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator

_RANKS = {"torch.addmm": 2, "torch.baddbmm": 3}


@register(*_RANKS)
class AddMm(Layer):
    """beta input + alpha (left @ right); ``input`` broadcasts to the product. With beta = 0 it is not looked at.

    Source: torch.addmm, torch.baddbmm.
    """

    data_inputs = ("input", "self", "mat1", "mat2", "batch1", "batch2")

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.alpha = op.float_param("alpha", 1.0)
        self.beta = op.float_param("beta", 1.0)

    def forward(self, x: Array, left: Array, right: Array) -> Array:
        rank = _RANKS[self.op.type]
        fits = left.ndim == right.ndim == rank and left.shape[:-2] == right.shape[:-2]
        self.expect(fits, f"two factors with {rank} axes", (left.shape, right.shape))
        product = matmul(left, right, self.op.where)
        product *= product.dtype.type(self.alpha)
        if self.beta == 0:
            return product
        try:
            x = np.broadcast_to(x, product.shape)
        except ValueError:
            raise ShapeError(self.op.where, f"an input that broadcasts to {product.shape}", x.shape) from None
        return np.asarray(product + x * product.dtype.type(self.beta))

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return 2 * (inputs[1][-1] + 1) * math.prod(outputs[0])

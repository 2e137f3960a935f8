"""What the layers of activations share."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from kuiper.layers.layer import Layer

if TYPE_CHECKING:
    from kuiper.layers.layer import Array


class Elementwise(Layer):
    """The base of the activations: the output has the shape of the input, and each number costs one operation.

    A subclass says in ``function`` which one it is; ``forward``, the passes and the engine go by that.
    """

    is_activation = True
    is_pixelwise = True

    def forward(self, x: Array) -> Array:
        assert self.function is not None
        return self.function.apply(x, self.op.where)

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return math.prod(outputs[0])

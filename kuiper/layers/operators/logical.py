"""torch.logical_and, or, xor, not and torch.bitwise_not: reckoning with truth."""

from __future__ import annotations

import math

import numpy as np

from kuiper.layers.layer import Array, Layer
from kuiper.layers.registry import register

FUNCTIONS = {
    "torch.logical_and": np.logical_and,
    "torch.logical_or": np.logical_or,
    "torch.logical_xor": np.logical_xor,
    "torch.logical_not": np.logical_not,
    "torch.bitwise_not": np.bitwise_not,
}


@register(*FUNCTIONS)
class Logical(Layer):
    """The function, entry by entry; two inputs broadcast. Numbers other than zero are true.

    ``bitwise_not`` of integers turns every bit, of bools it is ``logical_not``.

    Source: torch.logical_and.
    """

    data_inputs = ("input", "self", "other")

    def forward(self, *inputs: Array) -> Array:
        return np.asarray(FUNCTIONS[self.op.type](*inputs))

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return math.prod(outputs[0])

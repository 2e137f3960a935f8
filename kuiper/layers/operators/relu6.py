"""nn.ReLU6: a ReLU with a ceiling."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.layers.elementwise import Elementwise
from kuiper.layers.operators.hardtanh import hardtanh
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.layers.layer import Array


@register("nn.ReLU6", "F.relu6")
class ReLU6(Elementwise):
    """``min(max(x, 0), 6)``: a range so small that a few bits can hold it.

    Source: torch.nn.functional.relu6; Krizhevsky, Convolutional Deep Belief Networks on CIFAR-10, 2010.
    """

    def forward(self, x: Array) -> Array:
        return hardtanh(x, 0.0, 6.0, self.op.where)

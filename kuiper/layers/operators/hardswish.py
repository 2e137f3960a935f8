"""nn.Hardswish: SiLU with straight lines for the sigmoid."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.layers.elementwise import Elementwise, elementwise
from kuiper.layers.kernels import activations
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.layers.layer import Array


@register("nn.Hardswish", "F.hardswish")
class Hardswish(Elementwise):
    """``x * min(max(x + 3, 0), 6) / 6``.

    Source: torch.nn.functional.hardswish; Howard et al., Searching for MobileNetV3, 2019, section 5.2.
    """

    def forward(self, x: Array) -> Array:
        return hardswish(x, self.op.where)


def hardswish(x: Array, where: str = "hardswish") -> Array:
    """``x * min(max(x + 3, 0), 6) / 6`` of each number.

    >>> import numpy as np
    >>> hardswish(np.float32([-4, -1.5, 3, 9]))
    array([-0.   , -0.375,  3.   ,  9.   ], dtype=float32)
    """
    return elementwise(activations.hardswish, x, where=where)

"""nn.SELU: an ELU scaled so that activations keep mean 0 and variance 1 from layer to layer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.layers.elementwise import Elementwise, elementwise
from kuiper.layers.kernels import activations
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.layers.layer import Array

# The fixed point of the paper's equations 4 and 5 for mean 0 and variance 1.
ALPHA = 1.6732632423543772848170429916717
SCALE = 1.0507009873554804934193349852946


@register("nn.SELU", "F.selu")
class SELU(Elementwise):
    """``SCALE * x`` where ``x`` is positive, else ``SCALE * ALPHA * (exp(x) - 1)``.

    Source: torch.nn.functional.selu; Klambauer et al., Self-Normalizing Neural Networks, 2017.
    """

    def forward(self, x: Array) -> Array:
        return selu(x, self.op.where)


def selu(x: Array, where: str = "selu") -> Array:
    """``SCALE * x`` where ``x`` is positive, else ``SCALE * ALPHA * (exp(x) - 1)``.

    >>> import numpy as np
    >>> selu(np.float32([-100, 0, 2])).round(3)
    array([-1.758,  0.   ,  2.101], dtype=float32)
    """
    return elementwise(activations.elu, x, SCALE, SCALE * ALPHA, 1.0, where=where)

"""nn.SiLU: a number times its sigmoid, also called Swish."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.layers.activation import Activation
from kuiper.layers.elementwise import Elementwise
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.layers.layer import Array


@register("nn.SiLU", "F.silu")
class SiLU(Elementwise):
    """``x * sigmoid(x)``.

    Source: torch.nn.functional.silu; Elfwing, Uchibe and Doya, Sigmoid-Weighted Linear Units, 2017.
    """

    function = Activation("silu")


def silu(x: Array, where: str = "silu") -> Array:
    """``x * sigmoid(x)`` of each number; NaN at -inf, as in torch.

    >>> import numpy as np
    >>> silu(np.float32([-1, 0, 2])).round(3)
    array([-0.269,  0.   ,  1.762], dtype=float32)
    """
    return Activation("silu").apply(x, where)

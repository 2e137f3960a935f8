"""nn.Mish: a number times the tanh of its softplus."""

from __future__ import annotations

from kuiper.layers.activation import Activation
from kuiper.layers.elementwise import Elementwise
from kuiper.layers.registry import register


@register("nn.Mish", "F.mish")
class Mish(Elementwise):
    """``x * tanh(ln(1 + exp(x)))``.

    Source: torch.nn.functional.mish; Misra, Mish: A Self Regularized Non-Monotonic Activation Function, 2019.
    """

    function = Activation("mish")

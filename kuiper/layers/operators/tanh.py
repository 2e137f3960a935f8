"""nn.Tanh: the hyperbolic tangent."""

from __future__ import annotations

from kuiper.layers.activation import Activation
from kuiper.layers.elementwise import Elementwise
from kuiper.layers.registry import register


@register("nn.Tanh", "F.tanh", "torch.tanh")
class Tanh(Elementwise):
    """``(exp(x) - exp(-x)) / (exp(x) + exp(-x))``; integers become float32.

    Source: torch.tanh.
    """

    function = Activation("tanh")

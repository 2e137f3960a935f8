"""nn.Tanhshrink: what the tanh takes away."""

from __future__ import annotations

from kuiper.layers.activation import Activation
from kuiper.layers.elementwise import Elementwise
from kuiper.layers.registry import register


@register("nn.Tanhshrink", "F.tanhshrink")
class Tanhshrink(Elementwise):
    """``x - tanh(x)``.

    Source: torch.nn.functional.tanhshrink.
    """

    function = Activation("tanhshrink")

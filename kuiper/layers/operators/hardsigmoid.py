"""nn.Hardsigmoid: the sigmoid as three straight lines."""

from __future__ import annotations

from kuiper.layers.activation import Activation
from kuiper.layers.elementwise import Elementwise
from kuiper.layers.registry import register


@register("nn.Hardsigmoid", "F.hardsigmoid")
class Hardsigmoid(Elementwise):
    """``min(max(x + 3, 0), 6) / 6``.

    Source: torch.nn.functional.hardsigmoid.
    """

    function = Activation("hardsigmoid")

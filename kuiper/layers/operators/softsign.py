"""nn.Softsign: a number divided by one more than its size."""

from __future__ import annotations

from kuiper.layers.activation import Activation
from kuiper.layers.elementwise import Elementwise
from kuiper.layers.registry import register


@register("nn.Softsign", "F.softsign")
class Softsign(Elementwise):
    """``x / (1 + |x|)``.

    Source: torch.nn.functional.softsign.
    """

    function = Activation("softsign")

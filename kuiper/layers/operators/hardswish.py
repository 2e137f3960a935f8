"""nn.Hardswish: SiLU with straight lines for the sigmoid."""

from __future__ import annotations

from kuiper.layers.activation import Activation
from kuiper.layers.elementwise import Elementwise
from kuiper.layers.registry import register


@register("nn.Hardswish", "F.hardswish")
class Hardswish(Elementwise):
    """``x * min(max(x + 3, 0), 6) / 6``.

    Source: torch.nn.functional.hardswish; Howard et al., Searching for MobileNetV3, 2019, section 5.2.
    """

    function = Activation("hardswish")

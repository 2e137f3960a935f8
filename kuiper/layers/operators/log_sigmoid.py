"""nn.LogSigmoid: the logarithm of the logistic function."""

from __future__ import annotations

from kuiper.layers.activation import Activation
from kuiper.layers.elementwise import Elementwise
from kuiper.layers.registry import register


@register("nn.LogSigmoid", "F.logsigmoid")
class LogSigmoid(Elementwise):
    """``ln(1 / (1 + exp(-x)))``.

    Source: torch.nn.functional.logsigmoid.
    """

    function = Activation("logsigmoid")

"""nn.ReLU6: a ReLU with a ceiling."""

from __future__ import annotations

from kuiper.layers.activation import Activation
from kuiper.layers.elementwise import Elementwise
from kuiper.layers.registry import register


@register("nn.ReLU6", "F.relu6")
class ReLU6(Elementwise):
    """``min(max(x, 0), 6)``: a range so small that a few bits can hold it.

    Source: torch.nn.functional.relu6; Krizhevsky, Convolutional Deep Belief Networks on CIFAR-10, 2010.
    """

    function = Activation("clip", 0.0, 6.0)

"""nn.Conv1d and F.conv1d: a convolution along one axis is one on an image of height 1."""

from __future__ import annotations

from typing import ClassVar

from kuiper.layers.operators.conv2d import Conv2d, FunctionalConv2d
from kuiper.layers.registry import register


@register("nn.Conv1d")
class Conv1d(Conv2d):
    """The sequence (n, c, l) filtered by ``out_channels`` kernels.

    Source: torch.nn.Conv1d.
    """

    axes: ClassVar[int] = 1


@register("F.conv1d")
class FunctionalConv1d(FunctionalConv2d):
    """A 1-D convolution whose weight, and bias if any, are operands.

    Source: torch.nn.functional.conv1d.
    """

    axes: ClassVar[int] = 1

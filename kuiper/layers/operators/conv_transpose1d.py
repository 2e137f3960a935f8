"""nn.ConvTranspose1d and F.conv_transpose1d: a transposed convolution on an image of height 1."""

from __future__ import annotations

from typing import ClassVar

from kuiper.layers.operators.conv_transpose2d import ConvTranspose2d, FunctionalConvTranspose2d
from kuiper.layers.registry import register


@register("nn.ConvTranspose1d")
class ConvTranspose1d(ConvTranspose2d):
    """A sequence (n, c, l) made longer.

    Source: torch.nn.ConvTranspose1d.
    """

    axes: ClassVar[int] = 1


@register("F.conv_transpose1d")
class FunctionalConvTranspose1d(FunctionalConvTranspose2d):
    """A 1-D transposed convolution whose weight, and bias if any, are operands.

    Source: torch.nn.functional.conv_transpose1d.
    """

    axes: ClassVar[int] = 1

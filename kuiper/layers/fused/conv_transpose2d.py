"""kuiper.FusedConvTranspose2d: a transposed convolution and the activation behind it, as one operator."""

from __future__ import annotations

from kuiper.layers.fused.activation import WithActivation
from kuiper.layers.operators.conv_transpose1d import ConvTranspose1d
from kuiper.layers.operators.conv_transpose2d import ConvTranspose2d
from kuiper.layers.registry import register


@register("kuiper.FusedConvTranspose2d")
class FusedConvTranspose2d(WithActivation, ConvTranspose2d):
    """``activation(nn.ConvTranspose2d(x))``.

    Source: made by the pass fuse_activation_into_conv.
    """


@register("kuiper.FusedConvTranspose1d")
class FusedConvTranspose1d(WithActivation, ConvTranspose1d):
    """The same of a sequence (n, c, l).

    Source: made by the same pass from nn.ConvTranspose1d.
    """

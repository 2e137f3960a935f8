"""kuiper.FusedConv2d: a convolution, the addition and the activation behind it, as one operator."""

from __future__ import annotations

from kuiper.layers.fused.activation import WithActivation
from kuiper.layers.operators.conv1d import Conv1d
from kuiper.layers.operators.conv2d import Conv2d
from kuiper.layers.registry import register


@register("kuiper.FusedConv2d")
class FusedConv2d(WithActivation, Conv2d):
    """``activation(nn.Conv2d(x) + residual)``; the residual is the second input, if there is one.

    Source: made by the passes fuse_add_into_conv and fuse_activation_into_conv.
    """


@register("kuiper.FusedConv1d")
class FusedConv1d(WithActivation, Conv1d):
    """The same of a sequence (n, c, l).

    Source: made by the same passes from nn.Conv1d.
    """

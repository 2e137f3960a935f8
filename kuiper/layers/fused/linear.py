"""kuiper.FusedLinear: a linear layer, the addition and the activation behind it, as one operator."""

from __future__ import annotations

from kuiper.layers.fused.activation import WithActivation
from kuiper.layers.operators.linear import Linear
from kuiper.layers.registry import register


@register("kuiper.FusedLinear")
class FusedLinear(WithActivation, Linear):
    """``activation(nn.Linear(x) + residual)``; the residual is the second input, if there is one.

    Source: made by the passes fuse_add_into_linear and fuse_activation_into_linear.
    """

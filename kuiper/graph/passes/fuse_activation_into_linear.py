"""Let a linear layer apply the activation behind it.

    before   x -> nn.Linear 'fc' -> nn.GELU -> y
    after    x -> kuiper.FusedLinear 'fc+gelu' -> y             activation=gelu

The reason is that of fuse_activation_into_conv, and so is what is left alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.graph.passes.fusion import INTEGER_PRODUCTS, LINEAR_LAYERS, merge_activation
from kuiper.graph.passes.rewiring import merge_readers

if TYPE_CHECKING:
    from kuiper.graph.protocols import RegistryProtocol
    from kuiper.graph.runtime_operator import RuntimeOperator


def fuse_activation_into_linear(operators: list[RuntimeOperator], registry: RegistryProtocol) -> list[RuntimeOperator]:
    """The operators with activations taken into the linear layers, those of bytes too, in front of them."""
    return merge_readers(operators, lambda op: merge_activation(op, LINEAR_LAYERS | INTEGER_PRODUCTS, registry))

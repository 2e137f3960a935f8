"""Let a linear layer add the other branch of a residual block.

    before   x -> nn.Linear 'fc' -+-> add(@0,@1) -> y
             r -------------------'
    after    x -> kuiper.FusedLinear 'fc+add' -> y              r is its second input, the residual
             r ---'

As in a transformer's block. The reason is that of fuse_add_into_conv, and so is what is left alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.graph.passes.fusion import LINEAR_LAYERS, merge_addition
from kuiper.graph.passes.rewiring import merge_readers

if TYPE_CHECKING:
    from kuiper.graph.protocols import RegistryProtocol
    from kuiper.graph.runtime_operator import RuntimeOperator


def fuse_add_into_linear(operators: list[RuntimeOperator], registry: RegistryProtocol) -> list[RuntimeOperator]:
    """The operators with additions of two operands taken into the linear layers in front of them."""
    return merge_readers(operators, lambda op: merge_addition(op, LINEAR_LAYERS, registry))

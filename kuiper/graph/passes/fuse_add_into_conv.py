"""Let a convolution add the other branch of a residual block.

    before   x -> nn.Conv2d 'conv' -+-> add(@0,@1) -> y
             r ---------------------'
    after    x -> kuiper.FusedConv2d 'conv+add' -> y            r is its second input, the residual
             r ---'

The addition alone reads two images and writes a third. The convolution has one of the two in its registers, so that
only the residual is read. An activation behind the addition can follow (fuse_activation_into_conv), as in ResNet.

Left alone: a convolution whose output someone else reads, too, or that is added to itself; a residual that is larger
than the output of the convolution, or not of float32. Where both operands are convolutions, the one with more weights
takes in the addition: it computes longer, and the other one's output can arrive meanwhile. A transposed convolution,
which writes every second row and column at a time, would read a residual as often, in pieces.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.graph.passes.fusion import TAKE_IN_ADDITIONS, merge_addition
from kuiper.graph.passes.rewiring import merge_readers

if TYPE_CHECKING:
    from kuiper.graph.protocols import RegistryProtocol
    from kuiper.graph.runtime_operator import RuntimeOperator


def fuse_add_into_conv(operators: list[RuntimeOperator], registry: RegistryProtocol) -> list[RuntimeOperator]:
    """The operators with additions of two operands taken into the convolutions in front of them."""
    return merge_readers(operators, lambda op: merge_addition(op, TAKE_IN_ADDITIONS, registry))

"""Let a convolution apply the activation behind it.

    before   x -> nn.Conv2d 'conv' -> nn.ReLU -> y
    after    x -> kuiper.FusedConv2d 'conv+relu' -> y           activation=relu

The activation alone reads and writes the whole image for one comparison per number: it waits for memory. Inside of the
convolution it costs next to nothing, because there the number is in a register already.

Left alone: a convolution whose output someone else reads, too (that one wants the number before the activation), and
activations with more than two settings or with weights for each channel (nn.PReLU).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.graph.passes.fusion import CONVOLUTIONS, INTEGER_CONVOLUTIONS, merge_activation
from kuiper.graph.passes.rewiring import merge_readers

if TYPE_CHECKING:
    from kuiper.graph.protocols import RegistryProtocol
    from kuiper.graph.runtime_operator import RuntimeOperator


def fuse_activation_into_conv(operators: list[RuntimeOperator], registry: RegistryProtocol) -> list[RuntimeOperator]:
    """The operators with activations taken into the convolutions, also transposed ones and those of bytes, in front."""
    return merge_readers(operators, lambda op: merge_activation(op, CONVOLUTIONS | INTEGER_CONVOLUTIONS, registry))

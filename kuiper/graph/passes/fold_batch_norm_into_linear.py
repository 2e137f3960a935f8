"""Give a linear layer such weights that the batch norm behind it is no longer needed.

    before   x -> nn.Linear 'fc' -> nn.BatchNorm1d -> y         x (n, in_features)
    after    x -> nn.Linear 'fc+bn' -> y                        new weight, new bias

The arithmetic is that of fold_batch_norm_into_conv.

Left alone: a linear layer whose output someone else reads, too; a batch norm that keeps no statistics; x of more than
two axes, whose second axis is the batch norm's channels and whose last is the linear layer's features.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.graph.declined import decline_if
from kuiper.graph.passes.batch_norms import batch_norm_behind, folded, scale_and_shift
from kuiper.graph.passes.rewiring import merge_readers

if TYPE_CHECKING:
    from kuiper.graph.passes.rewiring import Merged
    from kuiper.graph.protocols import RegistryProtocol
    from kuiper.graph.runtime_operator import RuntimeOperator


def fold_batch_norm_into_linear(operators: list[RuntimeOperator], registry: RegistryProtocol) -> list[RuntimeOperator]:
    """The operators with batch norms folded into the linear layers in front of them."""
    return merge_readers(operators, lambda op: _merge(op, registry))


def _merge(linear: RuntimeOperator, registry: RegistryProtocol) -> Merged:
    decline_if(linear.type != "nn.Linear")
    norm = batch_norm_behind(linear, "nn.BatchNorm1d", registry)
    decline_if(len(linear.outputs[0].shape or ()) != 2)
    affine = scale_and_shift(norm, linear.int_param("out_features"))
    decline_if(linear.attrs["weight"].shape[:1] != affine.scale.shape)
    return folded(linear, norm, affine), norm

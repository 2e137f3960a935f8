"""Give a convolution such weights that the batch norm behind it is no longer needed.

    before   x -> nn.Conv2d 'conv' -> nn.BatchNorm2d -> y
    after    x -> nn.Conv2d 'conv+bn' -> y                      new weight, new bias

After training, a batch norm multiplies each channel by one number and adds another to it, and a convolution with other
weights can do that itself:

    scale = gamma / sqrt(var + eps)         new weight[o] = scale[o] * weight[o]
    shift = beta - scale * mean             new bias[o]   = scale[o] * bias[o] + shift[o]

The weight of a transposed convolution is (in_c, out_c / groups, ...): there, o lies on the second axis.

Left alone: a convolution whose output someone else reads, too; a batch norm that keeps no statistics; a sequence (c, l)
without a batch, of which a BatchNorm1d takes the other axis for the channels.

Source: B. Jacob et al., "Quantization and Training of Neural Networks", 2018, section 3.2.
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

_NORMS = {
    "nn.Conv1d": "nn.BatchNorm1d",
    "nn.Conv2d": "nn.BatchNorm2d",
    "nn.ConvTranspose1d": "nn.BatchNorm1d",
    "nn.ConvTranspose2d": "nn.BatchNorm2d",
}


def fold_batch_norm_into_conv(operators: list[RuntimeOperator], registry: RegistryProtocol) -> list[RuntimeOperator]:
    """The operators with batch norms folded into the convolutions, transposed ones too, in front of them."""
    return merge_readers(operators, lambda op: _merge(op, registry))


def _merge(conv: RuntimeOperator, registry: RegistryProtocol) -> Merged:
    decline_if(conv.type not in _NORMS)
    norm = batch_norm_behind(conv, _NORMS[conv.type], registry)
    decline_if(not _has_batch(conv))
    affine = scale_and_shift(norm, conv.int_param("out_channels"))
    decline_if(not _weight_fits(conv))
    return folded(conv, norm, affine), norm


def _has_batch(conv: RuntimeOperator) -> bool:
    """Whether the output has a batch axis. A norm's layer refuses (c, h, w) itself, but of (c, l) the file must say."""
    shape = conv.outputs[0].shape
    return conv.type.endswith("2d") if shape is None else len(shape) == _rank(conv)


def _weight_fits(conv: RuntimeOperator) -> bool:
    """Whether the channels are those of the weight; if not, the convolution's layer is to say so."""
    shape, channels = conv.attrs["weight"].shape, conv.int_param("out_channels")
    if len(shape) != _rank(conv):
        return False
    if "Transpose" not in conv.type:
        return bool(shape[0] == channels)
    groups = conv.int_param("groups", 1)
    return bool(groups > 0 and shape[0] % groups == 0 and shape[1] * groups == channels)


def _rank(conv: RuntimeOperator) -> int:
    """The number of axes of a batch, and of the weight."""
    return 4 if conv.type.endswith("2d") else 3

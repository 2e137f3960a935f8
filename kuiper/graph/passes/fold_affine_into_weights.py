"""Give a convolution or a linear layer such weights that a constant factor or addend behind it is no longer needed.

    before   x -> nn.Linear 'fc' -> add(@0,@1) -> y         @1 a pnnx.Attribute (out_features,)
    after    x -> nn.Linear 'fc+affine' -> y                bias = old bias + @1

Exporters to ONNX write biases this way, Paddle's those of convolutions, transposed ones too. A factor, a quotient or a
difference is folded as an addend is; the constant has one number for all channels, or one for each. The arithmetic is
that of fold_batch_norm_into_conv.

Left alone: an output that someone else reads, too; a constant of another shape, which might change that of the output.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from kuiper.graph.declined import decline_if, found
from kuiper.graph.passes.batch_norms import Affine, folded
from kuiper.graph.passes.rewiring import constant_of, expression_of, merge_readers, sole_reader
from kuiper.graph.pnnx.ir import DataType

if TYPE_CHECKING:
    from kuiper.graph.passes.rewiring import Merged
    from kuiper.graph.protocols import RegistryProtocol
    from kuiper.graph.runtime_operator import RuntimeOperator

_AXES_BEHIND_CHANNELS = {
    "nn.Linear": 0,
    "nn.Conv1d": 1,
    "nn.Conv2d": 2,
    "nn.ConvTranspose1d": 1,
    "nn.ConvTranspose2d": 2,
}
_EXPRESSION = re.compile(r"(add|sub|mul|div|onnx_div)\((@[01]|[-+.0-9e]+),(@[01]|[-+.0-9e]+)\)")


def fold_affine_into_weights(operators: list[RuntimeOperator], registry: RegistryProtocol) -> list[RuntimeOperator]:
    """The operators with constant factors and addends folded into the weights in front of them."""
    return merge_readers(operators, lambda op: _merge(op, registry))


def _merge(op: RuntimeOperator, registry: RegistryProtocol) -> Merged:
    decline_if(op.type not in _AXES_BEHIND_CHANNELS or len(op.inputs) != 1 or "weight" not in op.attrs)
    reader = found(sole_reader(op))
    decline_if(op.attrs["weight"].type is not DataType.F32)
    decline_if(not all(map(registry.is_built_in, (op.type, reader.type))))
    affine = _affine(op, reader)
    return folded(op, reader, affine, "affine"), reader


def _affine(op: RuntimeOperator, reader: RuntimeOperator) -> Affine:
    """What the expression behind ``op`` does with each channel; declines if it is no factor or addend of each."""
    function, *words = found(_EXPRESSION.fullmatch(expression_of(reader))).groups()
    places = [_is_output_of(op, reader, word) for word in words]
    is_quotient = function in ("div", "onnx_div")
    decline_if(sum(places) != 1 or (places[1] and is_quotient))
    constant = _constant(reader, words[places.index(False)], op)
    decline_if(is_quotient and not constant.all())
    one, zero = np.ones_like(constant), np.zeros_like(constant)
    if function == "mul":
        return Affine(constant, zero)
    if is_quotient:
        return Affine(1 / constant, zero)
    if function == "sub":
        return Affine(-one, constant) if places[1] else Affine(one, -constant)
    return Affine(one, constant)


def _is_output_of(op: RuntimeOperator, reader: RuntimeOperator, word: str) -> bool:
    return word.startswith("@") and reader.inputs[int(word[1:])] is op.outputs[0]


def _constant(reader: RuntimeOperator, word: str, op: RuntimeOperator) -> np.ndarray:
    """The number of each channel of ``op`` that a word of the expression stands for."""
    channels = op.attrs["weight"].shape[0]
    if "Transpose" in op.type:
        channels = op.attrs["weight"].shape[1] * op.int_param("groups", 1)
    if not word.startswith("@"):
        return np.full(channels, float(word))
    numbers = found(constant_of(reader.inputs[int(word[1:])]))
    decline_if(numbers.dtype != np.float32)
    behind = _AXES_BEHIND_CHANNELS[op.type]
    shape, output = numbers.shape, op.outputs[0].shape
    decline_if(len(shape) > len(output or ((None,) * (behind + 1))))
    per_channel = (*(1,) * (len(shape) - behind - 1), channels, *(1,) * behind)
    decline_if(shape != per_channel and any(size != 1 for size in shape))
    return np.broadcast_to(numbers.reshape(-1), channels).astype(np.float64)

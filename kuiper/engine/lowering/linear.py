"""Linear layers: 1x1 convolutions, every row of the input a pixel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kuiper.engine.declined import decline_if
from kuiper.engine.lowering.activation import activation_numbers
from kuiper.engine.lowering.convolution import POINTWISE, emit_convolution
from kuiper.engine.lowering.quantized import lower_quantized_linear
from kuiper.engine.lowering.registry import lowers
from kuiper.engine.packing import PackedWeights, matrix_of, matrix_widths, pack
from kuiper.engine.transfers import pixels_of
from kuiper.layers.fused.linear import FusedLinear
from kuiper.layers.operators.linear import Linear

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.builder import Builder
    from kuiper.engine.values import AnyValue


@lowers(Linear, FusedLinear)
def lower_linear(layer: Any, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """nn.Linear with its residual and activation."""
    shape = inputs[0].shape
    x, residual = builder.on_arena(inputs[0]), builder.on_arena(inputs[1]) if len(inputs) > 1 else None
    if layer.quantized is not None:
        return lower_quantized_linear(builder, layer, layer.quantized, layer.bias, x, residual)
    out_features, in_features = layer.weight_shape
    decline_if(not shape or shape[-1] != in_features)
    out_shape = (*shape[:-1], out_features)
    decline_if(residual is not None and residual.shape != out_shape)
    out = builder.rows(out_shape)
    out_pixels = pixels_of(builder, out)
    added = None if residual is None else pixels_of(builder, residual)
    packed = _packed(builder, layer, out_pixels.shape[3])
    x_pixels = pixels_of(builder, x)
    emit_convolution(builder, x_pixels, out_pixels, packed, POINTWISE, activation_numbers(layer), added)
    return [out]


def _packed(builder: Builder, layer: Any, pixels: int) -> PackedWeights:
    """The weights of the current operator for this many rows, in panels: the graph drops its own copy."""
    out_features, in_features = layer.weight_shape
    rows = builder.rows_of_weights(pixels)

    def make() -> PackedWeights:
        packed = pack(builder.machine, layer.weight[:, :, None, None], layer.bias, 1, rows)
        layer.op.attribute("weight").stored.transfer(lambda: matrix_of(packed, out_features))
        return packed

    key = ("direct", layer.weight_shape, matrix_widths(builder.machine, out_features, in_features, rows))
    packed: PackedWeights = builder.pack(key, make)
    return packed

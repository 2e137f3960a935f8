"""Products with a weight matrix that is known when a plan is made: packed once, and multiplied as a 1x1 convolution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.engine.declined import Declined, decline_if
from kuiper.engine.lowering.convolution import POINTWISE, emit_convolution
from kuiper.engine.lowering.quantized import lower_quantized_linear, quantized_table
from kuiper.engine.lowering.registry import lowers
from kuiper.engine.lowering.tables import lies_in_panels
from kuiper.engine.packing import PackedWeights, matrix_of, matrix_widths, pack
from kuiper.engine.step import MAX_NDIM
from kuiper.engine.transfers import pixels_of
from kuiper.layers.operators.attribute import Attribute
from kuiper.layers.operators.linear import FunctionalLinear

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.builder import Builder
    from kuiper.engine.values import AnyValue, Value
    from kuiper.layers.layer import Array


@lowers(FunctionalLinear)
def lower_functional_linear(layer: FunctionalLinear, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """F.linear whose weight, and bias if any, are stored with the model."""
    x, quantized = builder.on_arena(inputs[0]), quantized_table(builder, 1)
    if quantized is not None and len(quantized.shape) == 2 and len(inputs) == 2 and layer.number is None:
        return lower_quantized_linear(builder, layer, quantized, None, x)
    weight = stored(builder, 1)
    bias = None if layer.number is None else np.array([layer.number], np.float32)
    if len(inputs) > 2:
        added = stored(builder, 2)
        bias = None if added is None else added.data
    if weight is None or len(weight.shape) != 2 or x.shape[-1:] != weight.shape[1:] or x.view.ndim > MAX_NDIM:
        raise Declined
    out_features = weight.shape[0]
    decline_if(len(inputs) > 2 and (bias is None or bias.size not in (1, out_features) or bias.ndim > 1))
    out = builder.rows((*x.shape[:-1], out_features))
    if bias is None:
        _emit_packed(builder, x, out, packed_table(builder, 1, weight, x.view.size // x.shape[-1]))
    else:
        emit_projection(builder, x, out, weight.data, np.broadcast_to(bias, out_features))
    return [out]


def stored(builder: Builder, position: int) -> Attribute | None:
    """The current operator's input of this number, if it is a float32 tensor that is stored with the model as such."""
    assert builder.op is not None
    producer = builder.op.inputs[position].producer
    layer: Any = None if producer is None else producer.layer
    return layer if type(layer) is Attribute and layer.dtype == np.float32 else None


def packed_table(builder: Builder, position: int, table: Attribute, pixels: int) -> PackedWeights:
    """The current operator's input of this number, a stored matrix, in panels for this many rows.

    All operators that read the matrix share the panels. They have all of it: the graph drops its own, unless others
    read it.
    """
    assert builder.op is not None
    operand, rows = builder.op.inputs[position], builder.rows_of_weights(pixels)
    out_features, in_features = table.shape

    def make() -> PackedWeights:
        packed = pack(builder.machine, table.data[:, :, None, None], None, 1, rows)
        if table.stored is not None and lies_in_panels(operand):
            table.stored.transfer(lambda: matrix_of(packed, out_features))
        return packed

    packed: PackedWeights = builder.pack(
        matrix_widths(builder.machine, out_features, in_features, rows), make, owner=table
    )
    return packed


def emit_projection(
    builder: Builder, x: Value, out: Value, weight: Array, bias: Array | None = None, name: str = ""
) -> None:
    """Add ``out = x @ weight.T + bias`` for ``x`` (..., in_features) and ``weight`` (out_features, in_features).

    The rows of ``out`` have whole vectors. Weights of one operator that are not the same go by different names.
    """
    rows = builder.rows_of_weights(x.view.size // x.shape[-1])
    out_features, in_features = weight.shape
    key = ("projection", name, matrix_widths(builder.machine, out_features, in_features, rows))
    packed = builder.pack(key, lambda: pack(builder.machine, weight[:, :, None, None], bias, 1, rows))
    _emit_packed(builder, x, out, packed)


def _emit_packed(builder: Builder, x: Value, out: Value, packed: PackedWeights) -> None:
    """The same for a weight that is packed, and has its bias with it."""
    emit_convolution(builder, pixels_of(builder, x), pixels_of(builder, out), packed, POINTWISE)

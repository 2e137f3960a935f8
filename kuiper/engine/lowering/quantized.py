"""Linear layers and embeddings whose weights are in 8 or 4 bits: they stay so, and become floats in registers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.engine.declined import decline_if
from kuiper.engine.kernels.quantized_product import QuantizedProduct, QuantizedRows
from kuiper.engine.kernels.split_int8_product import SplitInt8, SplitInt8Product, SplitInt8Rows, words_of_row
from kuiper.engine.lowering.activation import activation_numbers
from kuiper.engine.lowering.tables import lies_in_panels
from kuiper.engine.number_packing import (
    PackedNumbers,
    numbers_of,
    numbers_of_split_int8,
    packed_for_split_int8,
    packed_numbers,
)
from kuiper.engine.transfers import pixels_of
from kuiper.engine.values import Value
from kuiper.layers.operators.attribute import Attribute

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.builder import Builder
    from kuiper.engine.step import Step
    from kuiper.graph.quantized_weight import QuantizedWeight
    from kuiper.layers.layer import Array
    from kuiper.machine import Machine

_MAX_INPUTS = 1 << 16  # that share a scale, in split int8: what sums of 32 bits hold


def quantized_table(builder: Builder, position: int) -> QuantizedWeight | None:
    """The current operator's input of this number, if it is stored with the model in 8 or 4 bits."""
    assert builder.op is not None
    producer = builder.op.inputs[position].producer
    layer: Any = None if producer is None else producer.layer
    return layer.quantized if type(layer) is Attribute else None


def _others_read_it(builder: Builder) -> bool:
    """Whether the current operator's weight is one of its inputs that somebody reads who cannot take it in panels."""
    assert builder.op is not None
    operands = builder.op.inputs
    return len(operands) > 1 and quantized_table(builder, 1) is not None and not lies_in_panels(operands[1])


def _form_of(weight: QuantizedWeight) -> str:
    """What a plan calls it; 4 bits always have groups."""
    return f"{weight.bits} bits{' in groups' if weight.bits == 8 and weight.in_groups else ''}"


def _in_split_int8(machine: Machine, weight: QuantizedWeight) -> bool:
    """Whether products are made in integers, which are not quite those of floats."""
    return machine.vnni and weight.group <= _MAX_INPUTS


def _panels_of(builder: Builder, weight: QuantizedWeight) -> PackedNumbers:
    """The weight in panels. They have all of its numbers: the graph drops its own, unless others read them."""
    in_split_int8 = _in_split_int8(builder.choices, weight)
    pack, numbers = (packed_for_split_int8, numbers_of_split_int8) if in_split_int8 else (packed_numbers, numbers_of)

    def make() -> PackedNumbers:
        packed = pack(weight)
        if not _others_read_it(builder):
            weight.stored.transfer(lambda: numbers(packed, weight))
        return packed

    found: PackedNumbers = builder.pack("split into int8" if in_split_int8 else "numbers", make, owner=weight)
    return found


def lower_quantized_linear(
    builder: Builder,
    layer: Any,
    weight: QuantizedWeight,
    bias: Array | None,
    x: Value,
    residual: Value | None = None,
) -> Sequence[Value]:
    """A linear layer with its residual and activation."""
    outputs, depth = weight.shape
    decline_if(not x.shape or x.shape[-1] != depth)
    shape = (*x.shape[:-1], outputs)
    decline_if(residual is not None and residual.shape != shape)
    out = builder.rows(shape, fixed=True)
    x_rows, out_rows = pixels_of(builder, x), pixels_of(builder, out)
    added = None if residual is None else pixels_of(builder, residual)
    packed = _panels_of(builder, weight)
    panels, groups = packed.scales.shape[:2]
    biases = np.zeros((panels, packed.width), np.float32)
    if bias is not None:
        biases.reshape(-1)[:outputs] = bias
    slices = _split_of(builder, x, x_rows, groups) if _in_split_int8(builder.choices, weight) else None
    rows = x_rows.shape[3]

    def make() -> Step:
        numbers = {
            "x": x_rows.offset, "x_row": x_rows.strides[3], "out": out_rows.offset, "out_row": out_rows.strides[3],
            "residual": 0 if added is None else added.offset, "residual_row": 0 if added is None else added.strides[3],
            "has_residual": added is not None, "rows": rows, "outputs": outputs, "bits": weight.bits,
            "groups": groups, "depth": depth // groups, **activation_numbers(layer),
        }  # fmt: skip
        if slices is None:
            return QuantizedProduct(numbers, packed.weights, packed.scales, biases)
        place = slices.byte_offset // 4, slices.shape[1]
        return SplitInt8Product(numbers, place, packed.weights, packed.scales, biases, weight.in_groups)

    products = rows * outputs * depth
    builder.emit(
        f"product with {_form_of(weight)}{'' if slices is None else ', in split int8'}",
        make,
        reads=[value for value in (x_rows, slices, added) if value is not None],
        writes=[out],
        flops=2 * products,
        more_bytes=packed.weights.nbytes + packed.scales.nbytes,
        relocatable=True,
    )
    return [out]


def _split_of(builder: Builder, x: Value, rows: Value, groups: int) -> Value:
    """The slices of these rows, (rows, words) of int32, which all products share that read ``x``."""

    def split() -> Value:
        depth, count = rows.shape[1], rows.shape[3]
        fours = -(-depth // groups // 4)
        slices = builder.typed((count, words_of_row(groups, fours)), np.dtype(np.int32))

        def make() -> Step:
            return SplitInt8({
                "x": rows.offset, "x_row": rows.strides[3], "out": slices.byte_offset // 4, "out_row": slices.shape[1],
                "rows": count, "depth": depth, "groups": groups, "fours": fours,
            })  # fmt: skip

        builder.emit("split into int8", make, reads=[rows], writes=[slices])
        return slices

    return builder.in_form(x, ("split into int8", groups), split)


def lower_quantized_embedding(
    builder: Builder, weight: QuantizedWeight, index: Value, in_panels: bool = False
) -> Sequence[Value]:
    """Rows of a table, which stays where it is, or lies ``in_panels`` because products read it, too."""
    decline_if(index.view.dtype != np.int64 or not index.view.flags.c_contiguous or index.view.ndim > 5)
    size, numbers = weight.shape
    packed = _panels_of(builder, weight) if in_panels else _in_rows(builder, weight)
    in_split_int8 = in_panels and _in_split_int8(builder.choices, weight)
    arrays = () if in_split_int8 else (packed.weights, packed.scales)
    bindings = [builder.bind(builder.python_value(array, constant=True)) for array in arrays]
    out = builder.rows((*index.shape, numbers), fixed=True)
    out_rows, error_flag = pixels_of(builder, out), builder.shared_error_flag()

    def make() -> Step:
        fields = {
            "index": index.byte_offset, "out": out_rows.offset, "out_row": out_rows.strides[3],
            "count": index.view.size, "size": size, "numbers": numbers, "bits": weight.bits, "group": weight.group,
            "error_flag": error_flag.offset,
        }  # fmt: skip
        if in_split_int8:
            return SplitInt8Rows(fields, packed.weights, packed.scales, weight.in_groups)
        (table, _), (scales, _) = bindings
        return QuantizedRows(fields, packed.width, table, scales)

    builder.emit(
        f"rows of {_form_of(weight)}{', from panels' if in_panels else ''}",
        make,
        reads=[index, Value(error_flag, error_flag.placeholder)],
        writes=[out],
        more_bytes=index.view.size * numbers * weight.bits // 8,
        bindings=bindings,
    )
    return [out]


def _in_rows(builder: Builder, weight: QuantizedWeight) -> PackedNumbers:
    """The weight as it is stored: each row a panel of one output."""
    scales = builder.pack("scales", lambda: weight.scales.astype(np.float32))
    rows = np.ascontiguousarray(weight.data).view(np.uint8)
    return PackedNumbers(rows[:, :, None], scales.reshape(len(rows), -1, 1), 1)

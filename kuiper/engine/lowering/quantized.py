"""Linear layers and embeddings whose weights are in 8 or 4 bits: they stay so, and become floats in registers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.engine.kernels.quantized_product import WIDTH, QuantizedProduct, QuantizedRows
from kuiper.engine.lowering.activation import activation_numbers
from kuiper.engine.memory import for_weights
from kuiper.engine.transfers import dense
from kuiper.engine.values import Value, as_pixels
from kuiper.graph.quantized_weight import GROUP, QuantizedWeight
from kuiper.layers.operators.attribute import Attribute

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.planner import Planner
    from kuiper.engine.step import Step
    from kuiper.layers.layer import Array

_BYTES = 6.0  # of weights per cycle, for one row
_PRODUCTS = 20.0  # multiply-adds per cycle, for many


@dataclass(frozen=True, slots=True)
class PackedNumbers:
    """A quantised weight in panels of WIDTH outputs; see quantized_product.pyx."""

    weights: Array
    scales: Array


def packed_numbers(weight: QuantizedWeight) -> PackedNumbers:
    """The whole numbers of a weight (out, in) in panels, and its scales (panels, groups, WIDTH)."""
    out, depth = weight.shape
    panels = -(-out // WIDTH)
    data = np.zeros((panels * WIDTH, weight.data.shape[1]), np.uint8)
    data[:out] = weight.data.view(np.uint8)
    scales = np.zeros((panels * WIDTH, depth // _group(weight)), np.float32)
    scales[:out] = weight.scales.reshape(out, -1)
    packed = for_weights(-(-data.size // 4)).view(np.uint8)[: data.size].reshape(panels, -1, WIDTH)
    packed[...] = data.reshape(panels, WIDTH, -1).transpose(0, 2, 1)
    return PackedNumbers(packed, np.ascontiguousarray(scales.reshape(panels, WIDTH, -1).transpose(0, 2, 1)))


def _group(weight: QuantizedWeight) -> int:
    """How many inputs share a scale."""
    return GROUP if weight.bits == 4 else weight.shape[1]


def quantized_table(planner: Planner, position: int) -> QuantizedWeight | None:
    """The current operator's input of this number, if it is stored with the model in 8 or 4 bits."""
    assert planner.op is not None
    producer = planner.op.inputs[position].producer
    layer: Any = None if producer is None else producer.layer
    return layer.quantized if type(layer) is Attribute else None


def lower_quantized_linear(
    planner: Planner,
    layer: Any,
    weight: QuantizedWeight,
    bias: Array | None,
    x: Value | None,
    residual: Value | None = None,
) -> Sequence[Value] | None:
    """A linear layer with its residual and activation."""
    outputs, depth = weight.shape
    if x is None or not x.shape or x.shape[-1] != depth:
        return None
    shape = (*x.shape[:-1], outputs)
    if residual is not None and residual.shape != shape:
        return None
    out = planner.rows(shape, output=None)
    x_rows, out_rows = _rows(planner, x), as_pixels(out)
    added = None if residual is None else _rows(planner, residual)
    assert out_rows is not None
    packed: PackedNumbers = planner.pack((id(weight), "numbers"), lambda: packed_numbers(weight))
    biases = np.zeros(packed.scales[:, 0].size, np.float32)
    if bias is not None:
        biases[:outputs] = bias
    rows = x_rows.shape[3]

    def make() -> Step:
        numbers = {
            "x": x_rows.offset, "x_row": x_rows.strides[3], "out": out_rows.offset, "out_row": out_rows.strides[3],
            "residual": 0 if added is None else added.offset, "residual_row": 0 if added is None else added.strides[3],
            "has_residual": added is not None, "rows": rows, "outputs": outputs, "bits": weight.bits,
            "groups": packed.scales.shape[1], "depth": depth // packed.scales.shape[1], **activation_numbers(layer),
        }  # fmt: skip
        return QuantizedProduct(numbers, packed.weights, packed.scales, biases.reshape(-1, WIDTH))

    products = rows * outputs * depth
    planner.emit(
        f"product with {weight.bits} bits",
        make,
        reads=[x_rows, *([] if added is None else [added])],
        writes=[out],
        flops=2 * products,
        more_bytes=packed.weights.nbytes + packed.scales.nbytes,
        expected=max(packed.weights.nbytes / _BYTES, products / _PRODUCTS),
    )
    return [out]


def _rows(planner: Planner, x: Value) -> Value:
    """The value as one row of pixels, (1, features, 1, rows), copied if it does not lie so."""
    rows = as_pixels(x) or as_pixels(dense(planner, x))
    assert rows is not None
    return rows


def lower_quantized_embedding(planner: Planner, weight: QuantizedWeight, index: Value | None) -> Sequence[Value] | None:
    """Rows of a table, which stays where it is."""
    if index is None or index.view.dtype != np.int64 or not index.view.flags.c_contiguous or index.view.ndim > 5:
        return None
    size, numbers = weight.shape
    table = planner.external(planner.host_value(np.ascontiguousarray(weight.data), constant=True))
    scales = planner.external(planner.host_value(weight.scales.astype(np.float32), constant=True))
    out = planner.rows((*index.shape, numbers), output=None)
    out_rows, fault = as_pixels(out), planner.fault_flag()
    assert out_rows is not None

    def make() -> Step:
        return QuantizedRows({
            "index": index.byte_offset, "out": out_rows.offset, "out_row": out_rows.strides[3],
            "count": index.view.size, "size": size, "numbers": numbers, "bits": weight.bits, "group": _group(weight),
            "table": table[0], "scales": scales[0], "fault": fault.offset,
        })  # fmt: skip

    planner.emit(
        f"rows of {weight.bits} bits",
        make,
        reads=[index, Value(fault, fault.stand_in)],
        writes=[out],
        more_bytes=index.view.size * numbers * weight.bits // 8,
        expected=out.view.size,
        externals=[table, scales],
    )
    return [out]

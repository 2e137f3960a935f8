"""onnxruntime's products with, and tables of, weights in 4 or 8 bits with a scale for each block of a row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.errors import ModelFormatError
from kuiper.graph.quantized_weight import GROUP
from kuiper.layers.operators.onnx_contrib_nbits import BlockForm
from kuiper.onnx.element_types import UINT8
from kuiper.onnx.operators.contrib_nodes import by_name
from kuiper.onnx.table import CONTRIB, operator

if TYPE_CHECKING:
    from kuiper.onnx.builder import GraphBuilder
    from kuiper.onnx.node import Node, Value

_SIGNS = {4: 0x88, 8: 0x80}
"""The highest bit of each number of a byte: what is stored from 0 to 15 is meant from -8 to 7."""


@operator("MatMulNBits", domain=CONTRIB)
def matmul_of_bits(node: Node, build: GraphBuilder) -> Value:
    """A linear layer, whose weight stays in its bits where kuiper's own has the same numbers."""
    x, bias = node.value(0), node.optional(5)
    form = BlockForm(node.int("N"), node.int("K"), node.int("block_size"), node.int("bits", 4))
    form.check(node.where)
    if node.int("weight_prepacked", 0) or node.optional(4) is not None:
        raise node.unsupported("a weight that is not packed for one processor, and no g_idx", "one")
    parts = [node.value(1), node.value(2), *([zeros] if (zeros := node.optional(3)) else [])]
    arrays = [value.constant for value in parts if value.constant is not None]
    if len(arrays) == len(parts) and x.is_float32:
        attrs = _kept(form, *arrays) or {"weight": form.weight(node.where, *arrays)}
        sizes = {"in_features": form.k, "out_features": form.n, "bias": False}
        product = build.op("nn.Linear", x, params=sizes, attrs=attrs)
    else:
        sizes = {"N": form.n, "K": form.k, "block_size": form.size, "bits": form.bits}
        product = build.op("MatMulNBits", x, *parts, params=sizes)
    return product if bias is None else build.expression("add(@0,@1)", product, bias)


def _kept(
    form: BlockForm, numbers: np.ndarray, scales: np.ndarray, zeros: np.ndarray | None = None
) -> dict[str, np.ndarray]:
    """The weight as kuiper has it in groups: no zero points, and scales that float16 holds; empty if it is another."""
    fits = numbers.dtype == np.uint8 and numbers.size == form.n * form.blob and scales.size == form.n * form.blocks
    if zeros is not None or form.size % GROUP or form.k % GROUP or not fits:
        return {}
    halves = scales.astype(np.float16).reshape(form.n, form.blocks)
    if not np.array_equal(halves, scales.reshape(halves.shape)):
        return {}
    kept = numbers.reshape(form.n, -1)[:, : form.k * form.bits // 8] ^ np.uint8(_SIGNS[form.bits])
    groups = np.repeat(halves, form.size // GROUP, axis=1)[:, : form.k // GROUP]
    weight = np.ascontiguousarray(kept).view(np.int8 if form.bits == 8 else np.uint8)
    return {"weight": weight, "weight_scales": np.ascontiguousarray(groups)}


@operator("GatherBlockQuantized", domain=CONTRIB)
def gather_of_bits(node: Node, build: GraphBuilder) -> tuple[Value, ...]:
    """Rows of a table, as floats."""
    data, bits = node.value(0), node.int("bits", 4)
    if bits not in (4, 8):
        raise node.unsupported("4 or 8 bits", bits)
    if node.int("block_size", 128) < 16:
        raise ModelFormatError(node.where, "block_size of at least 16", node.int("block_size", 128))
    params: dict[str, Any] = {"block_size": node.int("block_size", 128), "gather_axis": node.int("gather_axis", 0)}
    params |= {"quantize_axis": node.int("quantize_axis", 1), "bits": bits, "packed": data.type == UINT8}
    kept = ("data", "scales", "zero_points")
    names = "data indices scales zero_points"
    return by_name(node, build, names, 3, kept=kept, type=node.value(2).type, params=params)

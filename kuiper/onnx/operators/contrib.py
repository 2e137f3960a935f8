"""Operators of onnxruntime that are one of the standard's, or a few of them in a row."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.errors import ParameterError
from kuiper.onnx.element_types import ELEMENT_TYPES, INT32, INT64
from kuiper.onnx.operators.contrib_nodes import as_standard, one
from kuiper.onnx.table import CONTRIB, operator

if TYPE_CHECKING:
    from kuiper.onnx.builder import GraphBuilder
    from kuiper.onnx.node import Node, Value
    from kuiper.onnx.table import Result

_PLAIN = ("Relu", "Tanh", "Sigmoid", "Softplus", "Softsign", "Elu", "LeakyRelu", "HardSigmoid", "ThresholdedRelu")
_LIKE_THE_STANDARD = {"GatherND": 13, "GridSample": 16, "Pad": 13, "Trilu": 14}
"""With the operator set in which the standard has them as onnxruntime does."""


@operator(*_LIKE_THE_STANDARD, domain=CONTRIB)
def like_the_standard(node: Node, build: GraphBuilder) -> Result:
    return as_standard(node, build, node.type, opset=_LIKE_THE_STANDARD[node.type], **node.attributes)


@operator("Range", domain=CONTRIB)
def arithmetic_progression(node: Node, build: GraphBuilder) -> Result:
    """The standard's, with a step of 1 where the file gives none."""
    start, step = node.value(0), node.optional(2)
    if step is None:
        step = build.constant(np.ones((), ELEMENT_TYPES[start.type].inside), start.type)
    return as_standard(node, build, "Range", start, node.value(1), step)


@operator("ExpandDims", domain=CONTRIB)
def expand_dims(node: Node, build: GraphBuilder) -> Result:
    axis = node.value(1)
    if axis.constant is not None:
        axis = build.sizes(*(int(one) for one in axis.constant.ravel()))
    return as_standard(node, build, "Unsqueeze", node.value(0), axis)


@operator("Unique", domain=CONTRIB)
def unique(node: Node, build: GraphBuilder) -> tuple[Value | None, ...]:
    """Without an order, and the places in the result before the counts; the standard has the first places between."""
    values = as_standard(node, build, "Unique", node.value(0), sorted=0)
    assert isinstance(values, tuple)
    return values[0], *values[2:]


@operator("Gelu", "BiasGelu", "FastGelu", domain=CONTRIB)
def gelu(node: Node, build: GraphBuilder) -> Result:
    """Of the input plus a bias, if there is one; FastGelu has a tanh."""
    bias = node.optional(1)
    x = node.value(0) if bias is None else build.expression("add(@0,@1)", node.value(0), bias)
    return as_standard(node, build, "Gelu", x, approximate="tanh" if node.type == "FastGelu" else "none")


@operator("QuickGelu", domain=CONTRIB)
def quick_gelu(node: Node, build: GraphBuilder) -> Result:
    return as_standard(node, build, "Swish", alpha=node.float("alpha", 1.702))


def activated(node: Node, build: GraphBuilder, x: Value, kind: str, settings: list[float]) -> Value:
    """What FusedConv and FusedGemm do with their result; alpha and beta are those of ONNX's operator.

    Raises
    ------
    UnsupportedOperatorError
        If kuiper lacks the activation.
    ParameterError
        If it needs more settings.
    """
    if not kind:
        return x
    if kind == "Clip":
        if len(settings) != 2:
            raise ParameterError(node.where, "a lowest and a highest number for Clip", settings)
        return build.expression(f"minimum(maximum(@0,{settings[0]!r}),{settings[1]!r})", x)
    if kind not in _PLAIN:
        raise node.unsupported(f"an activation among {', '.join(_PLAIN)}, Clip", kind)
    attributes: dict[str, Any] = dict(zip(("alpha", "beta"), settings, strict=False))
    return one(as_standard(node, build, kind, x, **attributes))


@operator("FusedMatMul", "TransposeMatMul", domain=CONTRIB)
def fused_matmul(node: Node, build: GraphBuilder) -> Value:
    """``alpha * A B``, each transposed before if the file says so."""
    a, b = (_turned(node, build, node.value(place), letter) for place, letter in enumerate("AB"))
    product = one(as_standard(node, build, "MatMul", a, b))
    return _times(build, product, node.float("alpha", 1.0))


@operator("FusedGemm", domain=CONTRIB)
def fused_gemm(node: Node, build: GraphBuilder) -> Value:
    """Gemm with an activation behind."""
    keys = ("alpha", "beta", "transA", "transB")
    product = as_standard(node, build, "Gemm", **{key: node.attributes[key] for key in keys if key in node.attributes})
    words = [f"activation_{word}" for word in ("alpha", "beta", "gamma")]
    settings = [node.float(word) for word in words if word in node.attributes]
    return activated(node, build, one(product), node.str("activation", ""), settings)


@operator("FusedConv", domain=CONTRIB)
def fused_conv(node: Node, build: GraphBuilder) -> Value:
    """A convolution, to which a tensor may be added, with an activation behind."""
    own = ("activation", "activation_params")
    settings = {key: value for key, value in node.attributes.items() if key not in own}
    result = one(as_standard(node, build, "Conv", *([*node.inputs, None, None])[:3], **settings))
    added = node.optional(3)
    if added is not None:
        result = build.expression("add(@0,@1)", result, added)
    given = [float(number) for number in node.get("activation_params", [])]
    return activated(node, build, result, node.str("activation", ""), given)


@operator("NhwcMaxPool", domain=CONTRIB)
def nhwc_max_pool(node: Node, build: GraphBuilder) -> Value:
    """A pool of integers whose channels are the last axis."""
    x, axes = node.value(0), len(node.ints("kernel_shape"))
    first = build.op("Tensor.permute", x, params={"dims": [0, axes + 1, *range(1, axes + 1)]})
    first.shape = None if x.shape is None else (x.shape[0], x.shape[-1], *x.shape[1:-1])
    pooled = one(as_standard(node, build, "MaxPool", first, **node.attributes))
    return build.op("Tensor.permute", pooled, params={"dims": [0, *range(2, axes + 2), 1]}, type=x.type)


def _turned(node: Node, build: GraphBuilder, x: Value, letter: str) -> Value:
    """An operand with its axes in the order of the product."""
    if node.int(f"transBatch{letter}", 0):
        if x.rank is None:
            raise node.unsupported("an input whose number of axes is known", f"'{x.name}'")
        last = x.rank - 1
        x = build.op("Tensor.permute", x, params={"dims": [*range(1, last), 0, last]})
    if not node.int(f"trans{letter}", 0) or x.rank == 1:
        return x
    turned = build.op("torch.transpose", x, params={"dim0": -2, "dim1": -1})
    turned.shape = turned.shape or (None if x.shape is None else (*x.shape[:-2], x.shape[-1], x.shape[-2]))
    return turned


def _times(build: GraphBuilder, x: Value, factor: float) -> Value:
    return x if factor == 1 else build.expression(f"mul(@0,{factor!r})", x)


@operator("BiasSoftmax", domain=CONTRIB)
def bias_softmax(node: Node, build: GraphBuilder) -> Result:
    """The softmax of a sum over all axes from ``axis`` on, as the standard has it before operator set 13."""
    total = build.expression("add(@0,@1)", node.value(0), node.value(1))
    total.shape = node.value(0).shape
    return as_standard(node, build, "Softmax", total, opset=11, axis=node.int("axis", 1))


@operator("SimplifiedLayerNormalization")
@operator("SimplifiedLayerNormalization", domain=CONTRIB)
def simplified_layer_normalization(node: Node, build: GraphBuilder) -> Result:
    """What the standard calls RMSNormalization."""
    if node.wants(1):
        raise node.unsupported("one output", "inv_std_var")
    return as_standard(node, build, "RMSNormalization", **_normalisation(node, 1e-5))


@operator("SkipLayerNormalization", "SkipSimplifiedLayerNormalization", domain=CONTRIB)
def skip_layer_normalization(node: Node, build: GraphBuilder) -> tuple[Value | None, ...]:
    """The layer norm of a sum, and the sum."""
    is_simple = node.type == "SkipSimplifiedLayerNormalization"
    x, skip, gamma = (node.value(place) for place in range(3))
    beta, bias = (None, node.optional(3)) if is_simple else (node.optional(3), node.optional(4))
    if node.wants(1) or node.wants(2):
        raise node.unsupported("outputs 0 and 3", "mean or inv_std_var")
    total = build.expression("add(@0,@1)", x, skip)
    if bias is not None:
        total = build.expression("add(@0,@1)", total, bias)
    total.shape = x.shape
    kind = "RMSNormalization" if is_simple else "LayerNormalization"
    normal = as_standard(node, build, kind, total, gamma, beta, **_normalisation(node, 1e-12))
    return one(normal), None, None, total


@operator("EmbedLayerNormalization", domain=CONTRIB)
def embed_layer_normalization(node: Node, build: GraphBuilder) -> tuple[Value | None, ...]:
    """The layer norm of the sum of three embeddings, how many words of each text count, and the sum."""
    mask = node.optional(7)
    total = _embedded(node, build) or _embedding_sum(node, build)
    ids, words = node.value(0).shape, node.value(2)
    total.shape = (*(ids or (None, None)), words.shape[-1] if words.shape else None)
    settings = _normalisation(node, 1e-12)
    alone = replace(node, outputs=node.outputs[:1])  # the others are no mean and no spread
    normal = as_standard(alone, build, "LayerNormalization", total, node.value(5), node.value(6), **settings)
    count = None
    if node.wants(1):
        value = node.value(0) if mask is None else mask
        count = build.op("com.microsoft.MaskIndex", value, params={"is_mask": mask is not None}, type=INT32)
    return one(normal), count, total


def _embedded(node: Node, build: GraphBuilder) -> Value | None:
    """The sum of three embeddings by operators that others have, too; None where these would not see a mistake."""
    ids, segments, tables = node.value(0), node.optional(1), [node.optional(place) for place in (2, 3, 4)]
    words, positions, kinds = tables
    if node.optional(8) is not None or (segments is None) != (kinds is None) or words is None or positions is None:
        return None
    if any(table is not None and (table.constant is None or table.rank != 2) for table in tables):
        return None
    if ids.rank != 2 or positions.shape is None or positions.shape[0] == 1 or not words.is_float32:
        return None  # one position would serve all
    if segments is not None and (segments.shape != ids.shape or None in (segments.shape or ())):
        return None
    length = build.op("Shape", ids, params={"start": 1, "end": 2}, type=INT64)
    rows = one(as_standard(node, build, "Slice", positions, build.sizes(0), length, build.sizes(0)))
    total = build.expression("add(@0,@1)", build.op("F.embedding", ids, words, type=words.type), rows)
    if segments is not None and kinds is not None:
        total = build.expression("add(@0,@1)", total, build.op("F.embedding", segments, kinds, type=words.type))
    return total


def _embedding_sum(node: Node, build: GraphBuilder) -> Value:
    """The sum of three embeddings by a layer of its own."""
    names = ["input_ids", "segment_ids", "word_embedding", "position_embedding", "segment_embedding"]
    given = [(name, value) for name, value in zip(names, node.inputs, strict=False) if value is not None]
    if node.optional(8) is not None:
        given.append(("position_ids", node.value(8)))
    values = [value for _, value in given]
    kind = node.value(2).type
    return build.op("com.microsoft.EmbeddingSum", *values, names=[name for name, _ in given], type=kind)


def _normalisation(node: Node, epsilon: float) -> dict[str, Any]:
    """The settings of a layer norm of the last axis, or of those that the file names."""
    return {"axis": node.int("axis", -1), "epsilon": node.float("epsilon", epsilon)}


@operator("Inverse", domain=CONTRIB)
def inverse(node: Node, build: GraphBuilder) -> Value:
    return build.op("com.microsoft.Inverse", node.value(0))


@operator("Crop")
def crop(node: Node, build: GraphBuilder) -> Value:
    """A part of pictures: all but the borders (left, top, right, bottom), or a size from the left and upper one on."""
    left, top, right, bottom = (int(size) for size in node.ints("border"))
    starts, ends = [top, left], [-bottom or 2**31, -right or 2**31]
    if "scale" in node.attributes:
        ends = [start + int(size) for start, size in zip(starts, node.ints("scale"), strict=True)]
    params = {"starts": starts, "ends": ends, "axes": [2, 3], "steps": [1, 1]}
    return build.op("Slice", node.value(0), params=params)

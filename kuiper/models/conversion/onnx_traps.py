"""What pnnx is known to get wrong in ONNX, turned around before it sees the model. docs/convert.md has the list."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import onnx

    Shape = tuple[int, ...]

OLDEST_OPSET = 9
"""Models of older operator sets are brought to this one."""

PADDED = ("Conv", "AveragePool")
"""Operators whose ``auto_pad`` pnnx writes as ``padding=same`` whatever the stride, or as zeros that count."""


def upgraded(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model with an operator set that pnnx and onnxruntime know."""
    import onnx.version_converter

    opset = next((entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")), OLDEST_OPSET)
    if opset >= OLDEST_OPSET:
        return model
    return onnx.shape_inference.infer_shapes(onnx.version_converter.convert_version(model, OLDEST_OPSET))


def with_explicit_pads(model: onnx.ModelProto, inputs: Mapping[str, Sequence[int]]) -> onnx.ModelProto:
    """The model with numbers instead of ``auto_pad``, as they are for inputs of these shapes."""
    import onnx

    if not any(_auto_pad(node) for node in model.graph.node):
        return model
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    for value in changed.graph.input:
        for dim, size in zip(value.type.tensor_type.shape.dim, inputs.get(value.name, ()), strict=False):
            dim.dim_value = size
    inferred = onnx.shape_inference.infer_shapes(changed).graph
    shapes: dict[str, Shape] = {tensor.name: tuple(tensor.dims) for tensor in inferred.initializer}
    for value in [*inferred.input, *inferred.value_info]:
        shapes[value.name] = tuple(dim.dim_value for dim in value.type.tensor_type.shape.dim)
    for node in changed.graph.node:
        side = _auto_pad(node)
        if side and all(shapes.get(node.input[0], (0,))):
            pads = _pads(node, shapes, before=side == "SAME_LOWER")
            kept = [one for one in node.attribute if one.name not in ("auto_pad", "pads")]
            del node.attribute[:]
            node.attribute.extend([*kept, onnx.helper.make_attribute("pads", pads)])
    return changed


def _auto_pad(node: onnx.NodeProto) -> str:
    """``SAME_UPPER`` or ``SAME_LOWER`` if the operator pads as much as its input needs."""
    modes = [one.s.decode() for one in node.attribute if one.name == "auto_pad" and node.op_type in PADDED]
    return modes[0] if modes and modes[0].startswith("SAME") else ""


def _pads(node: onnx.NodeProto, shapes: Mapping[str, Shape], before: bool) -> list[int]:
    """Pads of all axes, first those in front, then those behind; ``before`` puts an odd one in front."""
    sizes = shapes[node.input[0]][2:]
    given = {one.name: list(one.ints) for one in node.attribute}
    kernel = given.get("kernel_shape") or shapes[node.input[1]][2:]
    strides = given.get("strides") or [1] * len(sizes)
    dilations = given.get("dilations") or [1] * len(sizes)
    totals = [
        max((-(-size // stride) - 1) * stride + dilation * (width - 1) + 1 - size, 0)
        for size, width, stride, dilation in zip(sizes, kernel, strides, dilations, strict=True)
    ]
    front = [(total + before) // 2 for total in totals]
    return [*front, *(total - first for total, first in zip(totals, front, strict=True))]

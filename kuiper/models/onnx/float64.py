"""A model in ONNX with float64 in the place of all shorter floats: what it computes but for rounding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import onnx

_SHORT = (1, 10, 16)  # float, float16, bfloat16
_DOUBLE = 11
_TYPE_SETTINGS = ("to", "dtype", "output_dtype", "stash_type")


def in_float64(model: onnx.ModelProto) -> onnx.ModelProto:
    """A copy of the model that computes in float64.

    Parameters
    ----------
    model : is left as it is; calls of its own functions are inlined in the copy

    Returns
    -------
    The copy. It may break the rules of the standard, which knows no float64 in some operators: onnx's reference
    implementation runs most of them all the same.
    """
    import onnx
    from onnx import inliner

    if model.functions:
        model = inliner.inline_local_functions(model)
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    _widen(copy.graph)
    return copy


def widened(array: Any) -> Any:
    """An array of floats in float64; others as they are."""
    array = np.asarray(array)
    return array.astype(np.float64) if array.dtype.kind == "f" or array.dtype.name == "bfloat16" else array


def _widen(graph: onnx.GraphProto) -> None:
    """Make float64 of the types and constants of a graph and its bodies, in place."""
    from onnx import numpy_helper

    for value in [*graph.input, *graph.output, *graph.value_info]:
        if value.type.tensor_type.elem_type in _SHORT:
            value.type.tensor_type.elem_type = _DOUBLE
    for tensor in graph.initializer:
        _widen_tensor(tensor)
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                _widen(attribute.g)
            elif attribute.HasField("t"):
                _widen_tensor(attribute.t)
            elif attribute.name in _TYPE_SETTINGS and attribute.i in _SHORT:
                attribute.i = _DOUBLE
            elif node.op_type == "Constant" and attribute.name in ("value_float", "value_floats"):
                numbers = np.array(attribute.f if attribute.name == "value_float" else attribute.floats, np.float64)
                attribute.Clear()
                attribute.name, attribute.type = "value", 4
                attribute.t.CopyFrom(numpy_helper.from_array(numbers))


def _widen_tensor(tensor: onnx.TensorProto) -> None:
    """Make float64 of a stored tensor, in place."""
    from onnx import numpy_helper

    if tensor.data_type in _SHORT:
        tensor.CopyFrom(numpy_helper.from_array(widened(numpy_helper.to_array(tensor)), tensor.name))

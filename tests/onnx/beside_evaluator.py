"""A model made of a few nodes, run on kuiper with and without the engine, and by onnx's own evaluator."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from kuiper.models.onnx import backend

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def model(
    nodes: Sequence[onnx.NodeProto],
    inputs: Mapping[str, np.ndarray],
    outputs: Sequence[str],
    weights: Mapping[str, Any] | None = None,
    opset: int = 21,
    shapes: Mapping[str, Sequence[Any] | None] | None = None,
) -> onnx.ModelProto:
    """A model of these nodes; ``shapes`` declares an input otherwise than it is: with names for open sizes, or None."""
    declared = {name: array.shape for name, array in inputs.items()} | dict(shapes or {})
    given = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), declared[name])
        for name, array in inputs.items()
    ]
    stored = [numpy_helper.from_array(np.asarray(array), name) for name, array in (weights or {}).items()]
    typed = onnx.shape_inference.infer_shapes(
        _made(nodes, given, [helper.make_empty_tensor_value_info(name) for name in outputs], stored, opset)
    )
    return _made(nodes, given, list(typed.graph.output), stored, opset)


def _made(nodes: Any, given: Any, made: Any, stored: Any, opset: int) -> onnx.ModelProto:
    graph = helper.make_graph(nodes, "few", given, made, stored)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def check(proto: onnx.ModelProto, *calls: Mapping[str, np.ndarray], exact: bool = True) -> None:
    """Call the model with all inputs in turn: kuiper's answers must be the evaluator's, in value, type and shape."""
    evaluator = ReferenceEvaluator(proto)
    for optimize in (True, False):
        ready = backend.prepare(proto, optimize=optimize)
        for inputs in calls:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                expected = evaluator.run(None, dict(inputs))
            for theirs, ours in zip(expected, ready.run(list(inputs.values())), strict=True):
                assert (ours.dtype, ours.shape) == (np.asarray(theirs).dtype, np.shape(theirs))
                if exact:
                    np.testing.assert_array_equal(ours, theirs)
                else:
                    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


def operator_types(proto: onnx.ModelProto) -> list[str]:
    """The operators of kuiper's graph, but inputs and outputs."""
    graph = backend.prepare(proto, optimize=False).graph
    return [op.type for op in graph.operators if op.type not in ("pnnx.Input", "pnnx.Output")]

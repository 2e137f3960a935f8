"""Small models in ONNX for the tests, and what onnx's own evaluator makes of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import kuiper
from kuiper.onnx.reader import read_onnx

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kuiper.graph import RuntimeGraph

    Typed = tuple[str, Sequence[int | str | None] | None] | tuple[str, Sequence[int | str | None] | None, int]


def model_of(
    nodes: Sequence[onnx.NodeProto],
    inputs: Sequence[Typed],
    outputs: Sequence[Typed],
    weights: Mapping[str, Any] | None = None,
    opset: int = 21,
) -> onnx.ModelProto:
    """A model; inputs and outputs are a name, a shape and, unless it is float32, an element type."""
    graph = helper.make_graph(
        list(nodes),
        "test",
        [_info(one) for one in inputs],
        [_info(one) for one in outputs],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in (weights or {}).items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def _info(typed: Typed) -> onnx.ValueInfoProto:
    name, shape, *kind = typed
    return helper.make_tensor_value_info(name, kind[0] if kind else TensorProto.FLOAT, shape)


def loaded(model: onnx.ModelProto, optimize: bool = True, **constants: Any) -> RuntimeGraph:
    """The model on kuiper."""
    return kuiper.load(lambda: read_onnx(model, constants), optimize=optimize)


def assert_agrees(model: onnx.ModelProto, *calls: Sequence[Any], tolerance: float = 1e-6) -> None:
    """For each call what onnx's evaluator computes, of the same type and shape, optimised and layer by layer."""
    names = [info.name for info in model.graph.input]
    for optimize in (True, False):
        graph = loaded(model, optimize)
        for inputs in calls:
            expected = ReferenceEvaluator(model).run(None, dict(zip(names, inputs, strict=True)))
            results = graph.forward(*inputs)
            results = results if isinstance(results, tuple) else (results,)
            assert len(results) == len(expected)
            for got, wanted in zip(results, expected, strict=True):
                got, wanted = np.asarray(got), np.asarray(wanted)
                assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
                largest = np.nanmax(np.abs(wanted.astype(np.float64)), initial=0)
                np.testing.assert_allclose(got, wanted, rtol=0, atol=tolerance * max(largest, 1e-30))

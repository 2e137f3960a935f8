"""Each node of an ONNX file alone: kuiper computes it from the oracle's own inputs of that node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import kuiper
from kuiper.errors import KuiperError
from kuiper.models.nested import flat
from kuiper.models.onnx.float64 import in_float64, widened
from kuiper.onnx.reader import read_onnx

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import onnx

    from kuiper.models.onnx.oracle import Feeds, Oracle

_COARSE = {"float16": 4e-3, "bfloat16": 3e-2}
"""Relative differences that one operation explains in types shorter than float32."""

_FINE = 1e-4
"""The same for float32: what is translated wrongly is further away."""


def differing_node(oracle: Oracle, feeds: Feeds) -> str | None:
    """The first node that kuiper computes otherwise, given the oracle's numbers.

    A node whose numbers are those of its float64 does not count: then the oracle has rounded, not kuiper.

    Returns
    -------
    What messages call the node; "" if all are the same, None if it cannot be told.
    """
    try:
        graph, values = oracle.values(feeds)
    except Exception:  # of many types; the oracle does not tell what its nodes compute
        return None
    fixed = {tensor.name for tensor in graph.initializer}
    fixed |= {name for node in graph.node if node.op_type == "Constant" for name in node.output}
    for node in graph.node:
        if node.op_type != "Constant" and all(name in values for name in _names_read(node)):
            model = _alone(node, values, fixed, oracle)
            if model is not None and _differs(model, values):
                return f"{node.op_type} '{node.name or node.output[0]}'"
    return ""


def _differs(model: onnx.ModelProto, values: Mapping[str, np.ndarray]) -> bool:
    """Whether kuiper computes a node otherwise than the oracle, and otherwise than float64."""
    feeds = {one.name: values[one.name] for one in model.graph.input}
    expected = [np.asarray(values[one.name]) for one in model.graph.output]
    try:
        runs = [
            kuiper.load(lambda: read_onnx(model), optimize=optimize).forward(*feeds.values())
            for optimize in (False, True)
        ]
    except KuiperError:  # as a whole, the model has run
        return False
    ours = [[np.asarray(one) for one in flat(run)] for run in runs]
    if all(_same(theirs, got) for run in ours for theirs, got in zip(expected, run, strict=True)):
        return False
    exact = _exact(model, feeds)
    return not exact or not all(
        _same(one.astype(theirs.dtype), got)
        for run in ours
        for one, theirs, got in zip(exact, expected, run, strict=True)
    )


def _same(expected: np.ndarray, got: np.ndarray) -> bool:
    """Whether two results of one operation are the same but for rounding."""
    if expected.shape != got.shape:
        return False
    if expected.dtype.kind in "biu":
        return bool(np.array_equal(expected, got))
    share = _COARSE.get(expected.dtype.name, _FINE)
    a, b = expected.astype(np.complex128), got.astype(np.complex128)
    largest = np.abs(a[np.isfinite(a)]).max(initial=0)
    return bool(np.allclose(b, a, rtol=share, atol=share * largest, equal_nan=True))


def _exact(model: onnx.ModelProto, feeds: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """What a node computes in float64; nothing if that does not run."""
    from onnx.reference import ReferenceEvaluator

    try:
        outputs: Iterable[Any] = ReferenceEvaluator(in_float64(model)).run(
            None, {name: widened(array) for name, array in feeds.items()}
        )
        return [np.asarray(one) for one in outputs]
    except Exception:  # of many types, as of ``Oracle.exact_answers``
        return []


def _alone(
    node: onnx.NodeProto, values: Mapping[str, np.ndarray], fixed: set[str], oracle: Oracle
) -> onnx.ModelProto | None:
    """A model of one node; None if a value of it is no array."""
    from onnx import helper, numpy_helper

    names = list(dict.fromkeys(_names_read(node)))
    outputs = [name for name in node.output if name]
    if not all(isinstance(values[name], np.ndarray) or np.isscalar(values[name]) for name in [*names, *outputs]):
        return None
    infos = {}
    for name in [*names, *outputs]:
        array = np.asarray(values[name])
        kind = helper.np_dtype_to_tensor_dtype(array.dtype)
        infos[name] = helper.make_tensor_value_info(name, kind, [None] * array.ndim)
    weights = [numpy_helper.from_array(np.asarray(values[name]), name) for name in names if name in fixed]
    inputs = [infos[name] for name in names if name not in fixed]
    graph = helper.make_graph([node], "alone", inputs, [infos[name] for name in outputs], weights)
    return helper.make_model(graph, opset_imports=oracle.opsets)


def _names_read(node: onnx.NodeProto) -> list[str]:
    """What a node reads of the graph around it, in order."""
    names = [name for name in node.input if name]
    for attribute in node.attribute:
        if attribute.HasField("g"):
            own = {one.name for one in [*attribute.g.input, *attribute.g.initializer]}
            own |= {name for inner in attribute.g.node for name in inner.output}
            read = [name for inner in attribute.g.node for name in _names_read(inner)]
            names += [name for name in [*read, *(one.name for one in attribute.g.output)] if name and name not in own]
    return names

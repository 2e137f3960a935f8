"""What a stranger's model must be before anything else looks at it: the C++ behind the onnx package trusts it.

Bodies and functions could make a walk over the nodes endless, tensors could claim sizes that they do not have, and
names could fill a screen. All that is found here, without recursion, in time that grows with the file.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from kuiper.errors import ModelFormatError, UnsupportedOperatorError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import onnx

    Key = tuple[str, str, str]

LONGEST_NAME = 8192
"""Characters of a name."""

DEEPEST = 16
"""Bodies in one another."""

MAX_NODES = 2_000_000
"""Nodes of a model, when each call of a function is replaced by what the function does."""

MAX_SPARSE = 1 << 24
"""Numbers of a tensor that is stored without its zeros, and becomes whole."""

NEWEST_OPSET = 1_000_000
"""What no operator set will ever be called: larger numbers do not fit where onnx keeps them."""


def check_model(model: onnx.ModelProto, where: str) -> None:
    """Refuse a model that the readers behind this could fall at.

    Raises
    ------
    ModelFormatError
        If it cannot be.
    UnsupportedOperatorError
        If it has what kuiper does not take up: initializers that are sparse.
    """
    for entry in model.opset_import:
        if not 1 <= entry.version <= NEWEST_OPSET:
            raise ModelFormatError(where, "operator sets with numbers from 1 on", entry.version)
        _check_name(entry.domain, where)
    for graph in all_graphs(model.graph, where):
        _check_graph(graph, where)
    for function in model.functions:
        for name in (function.name, function.domain, *function.input, *function.output):
            _check_name(name, where)
        for node in function.node:
            _check_node(node, where)
    _check_calls(model, where)


def all_graphs(graph: onnx.GraphProto, where: str) -> Iterator[onnx.GraphProto]:
    """A graph and all bodies in it.

    Raises
    ------
    ModelFormatError
        If they are too deep in one another.
    """
    waiting = [(graph, 0)]
    while waiting:
        one, depth = waiting.pop()
        if depth > DEEPEST:
            raise ModelFormatError(where, f"at most {DEEPEST} bodies in one another", "more")
        yield one
        waiting += [(body, depth + 1) for node in one.node for body in bodies_of(node)]


def bodies_of(node: onnx.NodeProto) -> list[onnx.GraphProto]:
    """The bodies of a node."""
    return [body for one in node.attribute for body in ([one.g] if one.HasField("g") else []) + list(one.graphs)]


def tensors_of(node: onnx.NodeProto) -> list[onnx.TensorProto]:
    """The tensors among the settings of a node."""
    found: list[onnx.TensorProto] = []
    for one in node.attribute:
        sparse = [*([one.sparse_tensor] if one.HasField("sparse_tensor") else []), *one.sparse_tensors]
        found += [one.t] if one.HasField("t") else []
        found += [*one.tensors, *(part for tensor in sparse for part in (tensor.values, tensor.indices))]
    return found


def _check_graph(graph: onnx.GraphProto, where: str) -> None:
    """Names, each given once, and tensors that have what they say."""
    if graph.sparse_initializer:
        raise UnsupportedOperatorError(where, "initializers that are stored whole", "a sparse one")
    for values, kind in ((graph.input, "input"), (graph.initializer, "initializer")):
        seen: set[str] = set()
        for value in values:
            _check_name(value.name, where)
            if not value.name or value.name in seen:
                raise ModelFormatError(
                    where, f"one {kind} '{value.name}'", "two" if value.name else "one without a name"
                )
            seen.add(value.name)
    for value in [*graph.input, *graph.output, *graph.value_info]:
        _check_name(value.name, where)
        for dim in value.type.tensor_type.shape.dim:
            _check_name(dim.dim_param, where)
    for node in graph.node:
        _check_node(node, where)


def _check_node(node: onnx.NodeProto, where: str) -> None:
    """Names, and settings that are there once."""
    for name in (node.name, node.op_type, node.domain, *node.input, *node.output):
        _check_name(name, where)
    seen: set[str] = set()
    for attribute in node.attribute:
        _check_name(attribute.name, where)
        if attribute.name in seen:
            raise ModelFormatError(f"{where}: {node.op_type} '{node.name}'", f"one setting {attribute.name}", "two")
        seen.add(attribute.name)
        for sparse in [attribute.sparse_tensor, *attribute.sparse_tensors]:
            if any(size < 0 for size in sparse.dims) or math.prod(sparse.dims) > MAX_SPARSE:
                got = tuple(sparse.dims)
                raise ModelFormatError(where, f"a sparse tensor of at most {MAX_SPARSE} numbers", got)


def _check_name(name: str | bytes, where: str) -> None:
    if isinstance(name, bytes):
        raise ModelFormatError(where, "names in UTF-8", name[:40])
    if len(name) > LONGEST_NAME:
        raise ModelFormatError(where, f"names of at most {LONGEST_NAME} characters", f"'{name[:40]}...', {len(name)}")


def _check_calls(model: onnx.ModelProto, where: str) -> None:
    """Refuse functions that call themselves, and those that call each other so often that a small file becomes huge."""
    functions = {(one.domain, one.name, one.overload): one for one in model.functions}
    if len(functions) < len(model.functions):
        raise ModelFormatError(where, "functions with names of their own", "two of one name")
    calls = {key: _calls(function.node, functions, where) for key, function in functions.items()}
    sizes: dict[Key, int] = {}
    waiting = list(functions)
    open_: set[Key] = set()
    while waiting:
        key = waiting[-1]
        missing = [other for other in calls[key][1] if other not in sizes]
        if key in sizes or not missing:
            sizes.setdefault(key, calls[key][0] + sum(sizes[other] * n for other, n in calls[key][1].items()))
            open_.discard(key)
            waiting.pop()
            continue
        open_.add(key)
        for other in missing:
            if other in open_:
                raise ModelFormatError(where, "functions that do not call themselves", f"'{other[1]}', which does")
            waiting.append(other)
    nodes, called = _calls(model.graph.node, functions, where)
    total = nodes + sum(sizes[key] * count for key, count in called.items())
    if max([total, *sizes.values()]) > MAX_NODES:
        raise ModelFormatError(where, f"a model of at most {MAX_NODES} nodes", "more, when functions are written out")


def _calls(nodes: object, functions: dict[Key, onnx.FunctionProto], where: str) -> tuple[int, dict[Key, int]]:
    """How many nodes these are, bodies included, and how often they call each function."""
    count, called = 0, dict[tuple[str, str, str], int]()
    waiting = [(node, 0) for node in nodes]  # type: ignore[attr-defined]
    while waiting:
        node, depth = waiting.pop()
        if depth > DEEPEST:
            raise ModelFormatError(where, f"at most {DEEPEST} bodies in one another", "more")
        count += 1
        key = (node.domain, node.op_type, node.overload)
        if key in functions:
            called[key] = called.get(key, 0) + 1
        waiting += [(inner, depth + 1) for body in bodies_of(node) for inner in body.node]
    return count, called

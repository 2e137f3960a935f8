"""If, Loop and Scan: decided now where the condition is known, else operators whose bodies are graphs of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.onnx.builder import GraphBuilder
from kuiper.onnx.element_types import BOOL, ELEMENT_TYPES, FLOAT, INT64
from kuiper.onnx.table import operator
from kuiper.onnx.translation import translate_nodes, type_and_shape

if TYPE_CHECKING:
    from collections.abc import Sequence

    import onnx

    from kuiper.graph.pnnx.ir import Dimension
    from kuiper.onnx.node import Node, Value

    Typed = tuple[int, tuple[Dimension, ...] | None]


@operator("If")
def if_(node: Node, build: GraphBuilder) -> tuple[Value, ...]:
    """The outputs of one of two bodies."""
    condition = node.value(0)
    if condition.constant is not None:
        taken = bool(condition.constant.reshape(-1)[0])
        return _inlined(node.graph("then_branch" if taken else "else_branch"), build)
    bodies = {name: _body(node, build, name, ()) for name in ("then_branch", "else_branch")}
    captured = [value for body in bodies.values() for value in body.captured]
    return build.ops(
        "If",
        condition,
        *captured,
        outputs=len(node.outputs),
        params={"then_inputs": len(bodies["then_branch"].captured)},
        graphs={name: body.finish() for name, body in bodies.items()},
        type=node.output_types.get(node.outputs[0], 0),
    )


@operator("Loop")
def loop(node: Node, build: GraphBuilder) -> tuple[Value, ...]:
    """A body that runs again and again with what it has computed."""
    limit, condition, states = node.optional(0), node.optional(1), node.inputs[2:]
    carried = [value for value in states if value is not None]
    if len(carried) != len(states):
        raise node.unsupported("a first value for each variable of the loop", "one that is left out")
    graph = node.graph("body")
    typed = [(INT64, ()), (BOOL, ()), *((value.type, None) for value in carried)]
    body = _body(node, build, "body", typed)
    given = [value for value in (limit, condition) if value is not None]
    return build.ops(
        "Loop",
        *given,
        *carried,
        *body.captured,
        outputs=len(node.outputs),
        params={
            "has_limit": limit is not None,
            "has_condition": condition is not None,
            "states": len(carried),
            "empty_shapes": _shapes_of_rows(graph, 1 + len(carried)),
            "empty_types": _types_of_rows(node, graph, len(carried)),
        },
        graphs={"body": body.finish()},
        type=node.output_types.get(node.outputs[0], 0),
    )


@operator("Scan")
def scan(node: Node, build: GraphBuilder) -> tuple[Value, ...]:
    """A body that runs once for each row of its inputs; in opset 8 for each of a batch, whose lengths come first."""
    batched = node.opset < 9
    if batched and node.optional(0) is not None:
        raise node.unsupported("sequences of one length", "lengths")
    rows = node.int("num_scan_inputs")
    inputs = [value for value in node.inputs[batched:] if value is not None]
    states = len(inputs) - rows
    outputs = len(node.graph("body").output) - states
    body = _body(node, build, "body", [(value.type, None) for value in inputs])
    return build.ops(
        "Scan",
        *inputs,
        *body.captured,
        outputs=len(node.outputs),
        params={
            "states": states,
            "rows": rows,
            "input_axes": node.ints("scan_input_axes", [0] * rows),
            "input_directions": node.ints("directions" if batched else "scan_input_directions", [0] * rows),
            "output_axes": node.ints("scan_output_axes", [0] * outputs),
            "output_directions": node.ints("scan_output_directions", [0] * outputs),
            "batched": batched,
        },
        graphs={"body": body.finish()},
        type=node.output_types.get(node.outputs[0], 0),
    )


def _inlined(graph: onnx.GraphProto, build: GraphBuilder) -> tuple[Value, ...]:
    """The outputs of a body whose nodes become nodes of the graph around it."""
    outside = dict(build.scope)
    translate_nodes(build, graph)
    results = tuple(build.find(info.name) for info in graph.output)
    build.scope = outside
    return results


def _body(node: Node, build: GraphBuilder, name: str, typed: Sequence[Typed]) -> GraphBuilder:
    """The builder of a body, all of whose nodes it has; ``typed`` are the inputs that the node gives it."""
    graph = node.graph(name)
    if len(graph.input) != len(typed):
        raise node.unsupported(f"a body with {len(typed)} inputs", len(graph.input))
    body = GraphBuilder(f"{build.where}: {node.where}", build.opsets, build)
    for info, (kind, shape) in zip(graph.input, typed, strict=True):
        declared, declared_shape = type_and_shape(info)
        body.scope[info.name] = body.input(info.name, declared or kind, shape if shape is not None else declared_shape)
        body.describe(info.name, body.scope[info.name])
    translate_nodes(body, graph)
    for info in graph.output:
        body.output(info.name, body.find(info.name))
    return body


def _types_of_rows(node: Node, graph: onnx.GraphProto, states: int) -> list[str]:
    """The types of what a loop collects, for a loop that never runs: as the node's outputs have them, or the body's."""
    found = []
    for place, info in enumerate(list(graph.output)[1 + states :], states):
        name = node.outputs[place] if place < len(node.outputs) else ""
        kind = node.output_types.get(name, 0) or type_and_shape(info)[0]
        found.append(ELEMENT_TYPES[kind or FLOAT].inside.name)
    return found


def _shapes_of_rows(graph: onnx.GraphProto, first: int) -> list[str]:
    """The shapes of what a loop collects, as far as the file says them, for a loop that never runs."""
    shapes = [type_and_shape(info) for info in list(graph.output)[first:]]
    return [",".join(str(size) if isinstance(size, int) else "0" for size in shape or ()) for _, shape in shapes]

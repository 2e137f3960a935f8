"""If, Loop and Scan: decided now where the condition is known, else operators whose bodies are graphs of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.onnx.builder import GraphBuilder
from kuiper.onnx.element_types import BOOL, ELEMENT_TYPES, FLOAT, INT64
from kuiper.onnx.hoisting import hoist_products, is_counter
from kuiper.onnx.table import operator
from kuiper.onnx.translation import translate_nodes, type_and_shape

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import onnx

    from kuiper.graph.pnnx import ParameterValue
    from kuiper.graph.pnnx.ir import Dimension, Operand
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
    for name, body in bodies.items():
        for info in node.graph(name).output:
            body.output(info.name, body.find(info.name))
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
    same = _passed_on(graph, 2, 1, carried)
    body = _body(node, build, "body", typed, {graph.input[2 + place].name: value for place, value in same.items()})
    hoist_products(build, body, _counters(graph, body, [place for place in range(len(carried)) if place not in same]))
    params: dict[str, ParameterValue] = {
        "has_limit": limit is not None,
        "has_condition": condition is not None,
        "states": len(carried) - len(same),
        "empty_shapes": _shapes_of_rows(graph, 1 + len(carried)),
        "empty_types": _types_of_rows(node, graph, len(carried)),
    }
    given = [value for value in (limit, condition) if value is not None]
    changed = [value for place, value in enumerate(carried) if place not in same]
    return _repeated(node, build, body, same, [*given, *changed], params, first=1)


@operator("Scan")
def scan(node: Node, build: GraphBuilder) -> tuple[Value, ...]:
    """A body that runs once for each row of its inputs; in opset 8 for each of a batch, whose lengths come first."""
    batched = node.opset < 9
    if batched and node.optional(0) is not None:
        raise node.unsupported("sequences of one length", "lengths")
    rows = node.int("num_scan_inputs")
    inputs = [value for value in node.inputs[batched:] if value is not None]
    states = len(inputs) - rows
    graph = node.graph("body")
    outputs = len(graph.output) - states
    same = {} if batched else _passed_on(graph, 0, 0, inputs[: max(states, 0)])
    typed = [(value.type, None) for value in inputs]
    body = _body(node, build, "body", typed, {graph.input[place].name: value for place, value in same.items()})
    params: dict[str, ParameterValue] = {
        "states": states - len(same),
        "rows": rows,
        "input_axes": node.ints("scan_input_axes", [0] * rows),
        "input_directions": node.ints("directions" if batched else "scan_input_directions", [0] * rows),
        "output_axes": node.ints("scan_output_axes", [0] * outputs),
        "output_directions": node.ints("scan_output_directions", [0] * outputs),
        "batched": batched,
    }
    changed = [value for place, value in enumerate(inputs) if place not in same]
    return _repeated(node, build, body, same, changed, params, first=0)


def _repeated(
    node: Node,
    build: GraphBuilder,
    body: GraphBuilder,
    same: Mapping[int, Value],
    given: Sequence[Value],
    params: Mapping[str, ParameterValue],
    first: int,
) -> tuple[Value, ...]:
    """The outputs of Loop or Scan: states that no turn changes are what they were, the operator makes the others.

    ``first`` is the place of the first state among the outputs of the body.
    """
    outputs = list(node.graph("body").output)
    for place, info in enumerate(outputs, -first):
        if place not in same:
            body.output(info.name, body.find(info.name))
    count = len(outputs) - first - len(same)
    if not count:
        return tuple(same.values())
    made = iter(
        build.ops(
            node.type,
            *given,
            *body.captured,
            outputs=count,
            params=params,
            graphs={"body": body.finish()},
            type=node.output_types.get(node.outputs[0], 0),
        )
    )
    return tuple(same[place] if place in same else next(made) for place in range(len(outputs) - first))


def _inlined(graph: onnx.GraphProto, build: GraphBuilder) -> tuple[Value, ...]:
    """The outputs of a body whose nodes become nodes of the graph around it."""
    outside = dict(build.scope)
    translate_nodes(build, graph)
    results = tuple(build.find(info.name) for info in graph.output)
    build.scope = outside
    return results


def _passed_on(graph: onnx.GraphProto, given: int, made: int, states: Sequence[Value]) -> dict[int, Value]:
    """The states that a body gives on as it gets them, by their places: what no turn changes.

    ``given`` and ``made`` say where the states begin among the body's inputs and outputs.
    """
    names: dict[str, str] = {}
    for node in graph.node:
        if node.op_type == "Identity" and node.domain in ("", "ai.onnx") and len(node.input) == 1:
            names[node.output[0]] = names.get(node.input[0], node.input[0])
    outputs = [names.get(info.name, info.name) for info in graph.output[made:]]
    pairs = zip(graph.input[given:], outputs, states, strict=False)
    return {place: value for place, (info, name, value) in enumerate(pairs) if info.name == name}


def _body(
    node: Node,
    build: GraphBuilder,
    name: str,
    typed: Sequence[Typed],
    same: Mapping[str, Value] | None = None,
) -> GraphBuilder:
    """The builder of a body, all of whose nodes it has; ``typed`` are the inputs that the node gives it.

    ``same`` are the values of inputs that no turn changes, by their names: the body reads them as it reads any value
    of the graph around it, and neither takes nor gives them.
    """
    graph, same = node.graph(name), same or {}
    if len(graph.input) != len(typed):
        raise node.unsupported(f"a body with {len(typed)} inputs", len(graph.input))
    body = GraphBuilder(f"{build.where}: {node.where}", build.opsets, build)
    for info, (kind, shape) in zip(graph.input, typed, strict=True):
        if info.name in same:
            continue
        declared, declared_shape = type_and_shape(info)
        body.scope[info.name] = body.input(info.name, declared or kind, shape if shape is not None else declared_shape)
        body.describe(info.name, body.scope[info.name])
    for inner, outer in same.items():
        body.capture(inner, outer)
    translate_nodes(body, graph)
    return body


def _counters(graph: onnx.GraphProto, body: GraphBuilder, states: Sequence[int]) -> list[Operand]:
    """What counts the turns of a loop: the number of the turn, and those of its states to which each turn adds one."""
    values = [(body.find(graph.input[2 + place].name), body.find(graph.output[1 + place].name)) for place in states]
    found = [state.operand for state, following in values if is_counter(state.operand, following.operand)]
    return [operand for operand in (body.find(graph.input[0].name).operand, *found) if operand is not None]


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

"""Nodes of an ONNX graph, in order, each handed to the function that the table has for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kuiper.errors import KuiperError, ModelFormatError
from kuiper.onnx.element_types import numbers
from kuiper.onnx.node import Node, Value
from kuiper.onnx.table import find_translation
from kuiper.printable import first_line

if TYPE_CHECKING:
    from collections.abc import Iterable

    import onnx

    from kuiper.graph.pnnx.ir import Dimension
    from kuiper.onnx.builder import GraphBuilder

    Described = dict[str, tuple[int, tuple[Dimension, ...] | None]]


def translate_nodes(builder: GraphBuilder, graph: onnx.GraphProto) -> None:
    """Add the nodes of a graph, or of a body, on which its outputs depend, each behind those that it reads.

    Raises
    ------
    KuiperError
        If a node cannot be translated; the message names it.
    """
    described = _described(graph)
    for name, tensor in [(one.name, one) for one in graph.initializer if one.name not in builder.scope]:
        array = numbers(tensor, f"{builder.where}: '{name}'")
        builder.scope[name] = Value(name, tensor.data_type, array.shape, array)
    for proto in _in_order(graph, builder):
        _translate(builder, proto, described)


def _translate(builder: GraphBuilder, proto: onnx.NodeProto, described: Described) -> None:
    """Add one node."""
    node = _node(builder, proto, described)
    translation = find_translation(node.domain, node.type)
    assert translation is not None
    outer, builder.node = builder.node, node
    try:
        results = translation(node, builder)
    except (KuiperError, MemoryError):
        raise
    except Exception as error:  # of any type: what a stranger's node makes a translation stumble over
        got = f"{type(error).__name__}: {first_line(error)}"
        raise ModelFormatError(f"{builder.where}: {node.where}", "a node as the standard has it", got) from error
    finally:
        builder.node = outer
    results = results if isinstance(results, tuple) else (results,)
    for name, value in zip(node.outputs, results, strict=False):
        if name and value is not None:
            kind, shape = described.get(name, (0, None))
            value.type = kind or value.type
            value.shape = value.shape if shape is None or value.constant is not None else shape
            value.name = value.name or name
            builder.describe(name, value)
            builder.scope[name] = value


def _node(builder: GraphBuilder, proto: onnx.NodeProto, described: Described) -> Node:
    """A node in plain Python."""
    domain = "" if proto.domain == "ai.onnx" else proto.domain
    name = proto.name or f"{proto.op_type}_{next((output for output in proto.output if output), '')}"
    return Node(
        proto.op_type,
        domain,
        name,
        builder.opsets.get(domain, 1),
        [builder.find(one) if one else None for one in proto.input],
        list(proto.output),
        {one.name: _plain(one, f"{builder.where}: {proto.op_type} '{name}'") for one in proto.attribute},
        {output: described.get(output, (0, None))[0] for output in proto.output},
    )


def _plain(attribute: onnx.AttributeProto, where: str) -> Any:
    """A setting as a plain Python value: a number, a word, a list of such, an array, a body."""
    import onnx

    kinds = onnx.AttributeProto
    if attribute.type == kinds.TENSOR:
        return numbers(attribute.t, where)
    if attribute.type == kinds.GRAPH:
        return attribute.g
    value = onnx.helper.get_attribute_value(attribute)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, (list, tuple)) or attribute.type in (kinds.INTS, kinds.FLOATS, kinds.STRINGS):
        return [item.decode("utf-8", "replace") if isinstance(item, bytes) else item for item in value]
    return value


def type_and_shape(info: onnx.ValueInfoProto) -> tuple[int, tuple[Dimension, ...] | None]:
    """Element type and shape of a tensor as the file declares them; open sizes are names or None."""
    tensor = info.type.tensor_type
    if not tensor.HasField("shape"):
        return tensor.elem_type, None
    sizes = (
        dim.dim_value if dim.HasField("dim_value") else _name_of_size(dim.dim_param) or None for dim in tensor.shape.dim
    )
    return tensor.elem_type, tuple(sizes)


def _name_of_size(name: str) -> str:
    """A name as it can stand in a PNNX file; what onnx made up for a size that it cannot name is no name."""
    return "" if name.startswith("unk__") or not name.isidentifier() else name


def _described(graph: onnx.GraphProto) -> Described:
    """What is known of the values of a graph."""
    return {info.name: type_and_shape(info) for info in [*graph.value_info, *graph.output]}


def _in_order(graph: onnx.GraphProto, builder: GraphBuilder) -> Iterable[onnx.NodeProto]:
    """The nodes that the outputs need, each behind those whose outputs it or its bodies read.

    Raises
    ------
    ModelFormatError
        If nodes wait for each other in a circle, or two have an output of the same name.
    """
    makers: dict[str, int] = {}
    for place, node in enumerate(graph.node):
        for name in filter(None, node.output):
            if name in makers or name in builder.scope:
                raise ModelFormatError(builder.where, f"one node that makes '{name}'", "two")
            makers[name] = place
    order: list[int] = []
    state: dict[int, int] = {}  # 1: waits for what it reads, 2: done
    waiting = [makers[info.name] for info in reversed(graph.output) if info.name in makers]
    while waiting:
        place = waiting[-1]
        if state.get(place) == 2:
            waiting.pop()
            continue
        if state.get(place) == 1:
            state[place] = 2
            order.append(waiting.pop())
            continue
        state[place] = 1
        for needed in {makers[name] for name in _names_read(graph.node[place]) if name in makers}:
            if state.get(needed) == 1:
                raise ModelFormatError(builder.where, "nodes in an order", f"a circle at '{graph.node[needed].name}'")
            if needed not in state:
                waiting.append(needed)
    return [graph.node[place] for place in order]


def _names_read(node: onnx.NodeProto) -> set[str]:
    """The names of this graph, or of those around it, that a node or its bodies read."""
    names = {name for name in node.input if name}
    for attribute in node.attribute:
        for graph in [attribute.g] if attribute.HasField("g") else ():
            read = {info.name for info in graph.output}.union(*(_names_read(inner) for inner in graph.node))
            own = {info.name for info in graph.input} | {one.name for one in graph.initializer}
            names |= read - own.union(*(inner.output for inner in graph.node))
    return names

"""Functions, inlined: those of a model, and those operators of the standard that others spell out.

onnx inlines the functions of a model well. For those of the standard, it forgets the defaults of settings, and falls at
inputs that are left out; so each call of one becomes a call of a function of the model first.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from kuiper.onnx.checks import all_graphs
from kuiper.onnx.table import find_translation

if TYPE_CHECKING:
    import onnx
    from onnx.defs import OpSchema

DOMAIN = "kuiper.functions"
DEEPEST = 8
"""How often a body may call a function whose body calls another one."""


def inlined(model: onnx.ModelProto, where: str) -> onnx.ModelProto:
    """The model without calls of functions.

    Parameters
    ----------
    model : a model, which may be changed
    where : what messages call it

    Returns
    -------
    A model in which only those operators are left that the table has, or that nobody spells out.
    """
    from onnx import inliner

    if model.functions:
        model = inliner.inline_local_functions(model)
    for _ in range(DEEPEST):
        if not _make_local(model, where):
            break
        model = inliner.inline_local_functions(model)
    return model


def _make_local(model: onnx.ModelProto, where: str) -> bool:
    """Turn calls of the standard's functions into calls of the model's own; whether there are any."""
    versions = {("" if one.domain == "ai.onnx" else one.domain): one.version for one in model.opset_import}
    nodes = [node for graph in all_graphs(model.graph, where) for node in graph.node]
    calls = [(node, schema) for node in nodes if (schema := _function_schema(node, versions))]
    types = _types(model, where) if any(schema.has_context_dependent_function for _, schema in calls) else {}
    for number, (node, schema) in enumerate(calls):
        function = _body(node, schema, versions.get(schema.domain, 1), types)
        function.name, function.domain = f"{node.op_type}_{number}", DOMAIN
        del function.opset_import[:]
        function.opset_import.extend(model.opset_import)
        _set_defaults(node, schema)
        node.op_type, node.domain = function.name, DOMAIN
        model.functions.append(function)
    if calls and DOMAIN not in versions:
        model.opset_import.add(domain=DOMAIN, version=1)
    return bool(calls)


def _function_schema(node: onnx.NodeProto, versions: dict[str, int]) -> OpSchema | None:
    """The schema of an operator that the table lacks and the standard defines by other operators."""
    from onnx import defs

    domain = "" if node.domain == "ai.onnx" else node.domain
    if find_translation(domain, node.op_type) or not defs.has(node.op_type, domain):
        return None
    schema = defs.get_schema(node.op_type, max_inclusive_version=versions.get(domain, 1), domain=domain)
    return schema if schema.has_function or schema.has_context_dependent_function else None


def _body(node: onnx.NodeProto, schema: OpSchema, version: int, types: dict[str, onnx.TypeProto]) -> onnx.FunctionProto:
    """The function of a node; one that depends on the types of inputs gets them, and nothing for those left out."""
    import onnx

    function = onnx.FunctionProto()
    if schema.has_context_dependent_function:
        inputs = [types.get(name, onnx.TypeProto()).SerializeToString() for name in node.input]
        first = _newest(schema.context_dependent_function_opset_versions, version)
        body = schema.get_context_dependent_function_with_opset_version(first, node.SerializeToString(), inputs)
    else:
        body = schema.get_function_with_opset_version(_newest(schema.function_opset_versions, version))
    function.ParseFromString(body)
    return function


def _newest(versions: list[int], most: int) -> int:
    """The newest of the operator sets for which there is a body, up to the model's."""
    return max((version for version in versions if version <= most), default=min(versions))


def _set_defaults(node: onnx.NodeProto, schema: OpSchema) -> None:
    """Give a node the settings that it leaves to the standard."""
    given = {attribute.name for attribute in node.attribute}
    for name, attribute in schema.attributes.items():
        if name not in given and attribute.default_value.type:
            node.attribute.append(attribute.default_value)


def _types(model: onnx.ModelProto, where: str) -> dict[str, onnx.TypeProto]:
    """What is known of the types of values, by name."""
    import onnx

    with suppress(Exception):  # of many types; a body may do without
        model = onnx.shape_inference.infer_shapes(model, data_prop=True)
    types: dict[str, onnx.TypeProto] = {}
    for graph in all_graphs(model.graph, where):
        for value in [*graph.input, *graph.value_info, *graph.output]:
            types.setdefault(value.name, value.type)
        for tensor in graph.initializer:
            types.setdefault(tensor.name, onnx.helper.make_tensor_type_proto(tensor.data_type, tensor.dims))
    return types

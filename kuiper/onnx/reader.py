"""From an .onnx file to a graph of kuiper's own, in the terms of PNNX where there are such terms.

    file -> OnnxFile: checked, functions inlined, shapes inferred -> translations, node by node -> pnnx.Graph

Each node is handed to the function that the table has for its type (``kuiper.onnx.table``). What only depends on
constants is computed on the way, so that sizes, axes and conditions which the exporter computes are known where they
can be.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.errors import (
    DataTypeError,
    ParameterError,
    ShapeError,
    UnsupportedOperatorError,
)
from kuiper.graph.failures import naming_the_place
from kuiper.onnx import operators as operators  # fills the table
from kuiper.onnx.builder import GraphBuilder
from kuiper.onnx.checks import bodies_of
from kuiper.onnx.element_types import FLOAT16, element_type
from kuiper.onnx.model_file import OnnxFile
from kuiper.onnx.node import Value
from kuiper.onnx.table import find_translation
from kuiper.onnx.translation import translate_nodes, type_and_shape
from kuiper.printable import first_line
from kuiper.tensor_limit import Limited

if TYPE_CHECKING:
    from collections.abc import Mapping

    import onnx

    from kuiper.graph import pnnx


def read_onnx(source: str | Path | onnx.ModelProto, constants: Mapping[str, Any] | None = None) -> pnnx.Graph:
    """The graph of a model in ONNX.

    Parameters
    ----------
    source : path of the file, or a model in memory
    constants : inputs that shall be the same in every run, by name: a condition on them is decided now

    Returns
    -------
    A graph for ``kuiper.RuntimeGraph``. Its weights are those of the file, each once.

    Raises
    ------
    ModelFormatError
        If the file is no such model, or the onnx package is not installed.
    UnsupportedOperatorError
        If it has operators that kuiper lacks; the message lists them.
    ParameterError
        If ``constants`` has a name that is no input.

    Examples
    --------
    >>> from onnx import TensorProto, helper
    >>> x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 4]) for name in "xy")
    >>> graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"], "act")], "tiny", [x], [y])
    >>> [op.type for op in read_onnx(helper.make_model(graph)).operators]
    ['pnnx.Input', 'F.relu', 'pnnx.Output']
    """
    return graph_of(OnnxFile(Path(source) if isinstance(source, str) else source), constants)


def graph_of(file: OnnxFile, constants: Mapping[str, Any] | None = None) -> pnnx.Graph:
    """The graph of a file that has been opened; parameters and errors are those of ``read_onnx``."""
    with naming_the_place(file.name), Limited():
        return _made(file, constants)


def _made(file: OnnxFile, constants: Mapping[str, Any] | None) -> pnnx.Graph:
    """The graph of a file, inputs first."""
    builder = GraphBuilder(file.name, file.opsets)
    _refuse_unknown(file)
    for name, array in file.weights.items():
        builder.scope[name] = Value(name, file.types[name], array.shape, array)
    given = dict(constants or {})
    for info in file.graph.input:
        if info.name not in file.weights:
            _add_input(builder, info, given)
    if given:
        known = ", ".join(info.name for info in file.graph.input if info.name not in file.weights) or "none"
        raise ParameterError(file.name, f"constants among the inputs {known}", ", ".join(given))
    translate_nodes(builder, file.graph)
    for info in file.graph.output:
        value = builder.find(info.name)
        if info.type.tensor_type.elem_type == FLOAT16:
            value = builder.op("Tensor.to", value, params={"dtype": "torch.half", "copy": False})
        builder.output(info.name, value)
    return builder.finish()


def _add_input(builder: GraphBuilder, info: onnx.ValueInfoProto, given: dict[str, Any]) -> None:
    """An input of the graph, or the constant that stands for it."""
    if not info.type.HasField("tensor_type"):
        raise UnsupportedOperatorError(f"{builder.where}: '{info.name}'", "an input that is a tensor", "another type")
    kind, shape = type_and_shape(info)
    inside = element_type(kind, f"{builder.where}: '{info.name}'").inside
    if info.name not in given:
        builder.scope[info.name] = builder.input(info.name, kind, shape)
        builder.describe(info.name, builder.scope[info.name])
        return
    try:
        array = np.asarray(given.pop(info.name)).astype(inside)
    except (TypeError, ValueError) as error:
        raise DataTypeError(f"{builder.where}: '{info.name}'", f"numbers of {inside}", first_line(error)) from error
    if shape is not None and array.ndim == 0 and all(size in (1, None) or isinstance(size, str) for size in shape):
        array = array.reshape([1] * len(shape))  # a number alone stands for the only one of a vector
    if shape is not None and len(shape) != array.ndim:
        raise ShapeError(f"{builder.where}: '{info.name}'", f"{len(shape)} axes", array.shape)
    builder.scope[info.name] = Value(info.name, kind, array.shape, array)


def _refuse_unknown(file: OnnxFile) -> None:
    """Raise one error that lists the operators which the table lacks."""
    missing: dict[str, list[str]] = {}
    waiting = list(reversed(file.graph.node))
    while waiting:
        node = waiting.pop()
        if find_translation(node.domain, node.op_type) is None:
            kind = f"{node.domain}.{node.op_type}" if node.domain not in ("", "ai.onnx") else node.op_type
            missing.setdefault(kind, []).append(node.name)
        waiting += [inner for body in reversed(bodies_of(node)) for inner in reversed(body.node)]
    if missing:
        found = ", ".join(
            f"{kind} '{names[0]}'" + (f" and {len(names) - 1} more" if names[1:] else "")
            for kind, names in missing.items()
        )
        raise UnsupportedOperatorError(
            file.name, "operators that kuiper knows", found, hint="see docs/reference/onnx.md"
        )

"""PNNX files: a ``.param`` text that describes a graph and a ``.bin`` archive that holds its weights.

    graph = pnnx.load("resnet18.pnnx.param")      # and resnet18.pnnx.bin beside it
    pnnx.save(graph, "copy.pnnx.param")

``docs/reference/pnnx-format.md`` explains the format.
"""

from kuiper.graph.pnnx.files import load, save, sibling_bin
from kuiper.graph.pnnx.ir import (
    Attribute,
    DataType,
    Dimension,
    Graph,
    Operand,
    Operator,
    Parameter,
    ParameterType,
    ParameterValue,
)
from kuiper.graph.pnnx.param_reader import parse_param
from kuiper.graph.pnnx.param_writer import format_param
from kuiper.graph.pnnx.values import parse_value, spell_value

__all__ = [
    "Attribute",
    "DataType",
    "Dimension",
    "Graph",
    "Operand",
    "Operator",
    "Parameter",
    "ParameterType",
    "ParameterValue",
    "format_param",
    "load",
    "parse_param",
    "parse_value",
    "save",
    "sibling_bin",
    "spell_value",
]

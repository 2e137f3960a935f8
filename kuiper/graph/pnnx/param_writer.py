"""From a Graph to the text of a .param file, laid out as pnnx lays it out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kuiper.errors import ModelFormatError
from kuiper.graph.pnnx.data_types import NAMES, spell_typed_shape
from kuiper.graph.pnnx.ir import DataType
from kuiper.graph.pnnx.param_reader import MAGIC
from kuiper.graph.pnnx.values import is_always_text, quote, spell_value

if TYPE_CHECKING:
    from kuiper.graph.pnnx.ir import Graph, Operator

_COLUMN = 24
_NAME = re.compile(r"[^\x00-\x20\x7f\ud800-\udfff]+")
_KEY = re.compile(r"[^\x00-\x20\x7f\ud800-\udfff=]+")
_PARAMETER_KEY = re.compile(r"[^\x00-\x20\x7f\ud800-\udfff=@$#][^\x00-\x20\x7f\ud800-\udfff=]*")


def format_param(graph: Graph, where: str = "graph") -> str:
    r"""The text of the .param file of a graph; what pnnx wrote and ``parse_param`` read comes back byte for byte.

    Only the count of operands may be another: at optlevel 0 pnnx counts some that it then leaves out.

    Parameters
    ----------
    graph : the graph; its weights are not looked at
    where : the name of the file, for error messages

    Returns
    -------
    The whole file, with a line end behind each line.

    Raises
    ------
    ModelFormatError
        For a name with a blank in it or a parameter that the format cannot spell.

    Examples
    --------
    >>> from kuiper.graph import pnnx
    >>> text = "7767517\n2 1\npnnx.Input in 0 1 x\npnnx.Output out 1 0 x\n"
    >>> print(format_param(pnnx.parse_param(text, "example")), end="")
    7767517
    2 1
    pnnx.Input               in                       0 1 x
    pnnx.Output              out                      1 0 x
    """
    head = f"{MAGIC}\n{len(graph.operators)} {len(graph.operands)}\n"
    return head + "".join(f"{_format_operator(op, where)}\n" for op in graph.operators)


def _format_operator(op: Operator, where: str) -> str:
    where = f"{where}: {op.type} '{op.name}'"
    _check_names(op, where)
    operands = [*op.inputs, *op.outputs]
    _check_expressible(op, where)
    words = [_pad(op.type), _pad(op.name), str(len(op.inputs)), str(len(op.outputs))]
    words += [operand.name for operand in operands]
    words += [
        f"{key}={spell_value(param, where, as_text=is_always_text(op.type, key))}" for key, param in op.params.items()
    ]
    words += [f"@{key}={spell_typed_shape(attr.shape, attr.type)}" for key, attr in op.attrs.items()]
    named = zip(op.inputs, op.input_names, strict=False)
    words += [f"${name}={operand.name}" for operand, name in named if name]
    words += [
        f"#{operand.name}={spell_typed_shape(operand.shape, operand.type)}"
        for operand in operands
        if operand.shape is not None
    ]
    return " ".join(words)


def _check_expressible(op: Operator, where: str) -> None:
    """Refuse what only ONNX has: bodies, and types that the format has no word for."""
    hint = "load the .onnx file itself"
    if op.graphs:
        raise ModelFormatError(where, "an operator without bodies", ", ".join(op.graphs), hint)
    kinds = [operand.type for operand in (*op.inputs, *op.outputs)] + [attr.type for attr in op.attrs.values()]
    for kind in kinds:
        if kind > DataType.BF16:
            raise ModelFormatError(where, f"one of the types {' '.join(NAMES)}", kind.name.lower(), hint)


def _check_names(op: Operator, where: str) -> None:
    """Refuse the names that would break the line: empty ones, those with a blank, keys that look like another field."""
    names = [(name, _NAME) for name in (op.type, op.name)]
    names += [(operand.name, _KEY) for operand in (*op.inputs, *op.outputs)]
    names += [(key, _KEY) for key in (*op.attrs, *(name for name in op.input_names if name))]
    names += [(key, _PARAMETER_KEY) for key in op.params]
    for name, pattern in names:
        if not pattern.fullmatch(name):
            raise ModelFormatError(where, "a name that fits in a line", quote(name))


def _pad(name: str) -> str:
    """The name filled up to a column of 24 bytes (not characters, as printf counts), never cut."""
    return name + " " * (_COLUMN - len(name.encode()))

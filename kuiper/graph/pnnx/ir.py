"""The dataclasses of a PNNX file: Graph, Operator, Operand, Parameter, Attribute.

They say what the file says and do nothing. Reading and writing live in ``param_*.py`` and ``bin_*.py`` beside this
module; what runs is ``kuiper.graph.RuntimeGraph``.

    Graph --< Operator --< Parameter, Attribute
      |           ^ producer / consumers
      +----< Operand
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from kuiper.graph.serialization import SerializedGraph

if TYPE_CHECKING:
    import numpy as np

Dimension = int | str | None
"""One entry of a shape: a size, the name behind ``%``, or None for ``?``."""

INPUT, OUTPUT = "pnnx.Input", "pnnx.Output"
BOUNDARY = frozenset({INPUT, OUTPUT})
"""The operator types that are the graph's own ends: they need no layer, and passes leave them alone."""

ParameterValue = bool | int | float | str | complex | list[Any] | None


class DataType(IntEnum):
    """The element types of operands and attributes, with the codes that the C++ tools use."""

    NULL = 0
    F32 = 1
    F64 = 2
    F16 = 3
    I32 = 4
    I64 = 5
    I16 = 6
    I8 = 7
    U8 = 8
    BOOL = 9
    C64 = 10
    C128 = 11
    C32 = 12
    BF16 = 13
    U16 = 14  # those from here on only ONNX has: no file can say them
    U32 = 15
    U64 = 16


class ParameterType(IntEnum):
    """The kinds of parameter values, with the codes that the C++ tools use."""

    NULL = 0
    BOOL = 1
    INT = 2
    FLOAT = 3
    STRING = 4
    INT_LIST = 5
    FLOAT_LIST = 6
    STRING_LIST = 7
    OTHER = 8
    COMPLEX = 10
    COMPLEX_LIST = 11


@dataclass
class Parameter:
    """A setting of an operator, ``stride=(2,2)``.

    ``text`` is the value as the file spells it (so that writing it again changes no byte), "" for a new parameter.
    """

    type: ParameterType
    value: ParameterValue
    text: str = ""


@dataclass
class Attribute:
    """A weight of an operator, ``@bias=(64)f32``; ``data`` is a C-ordered array of that shape.

    A bfloat16 attribute holds the raw bits as uint16, a complex-half one (c32) pairs of float16 in a last axis of 2:
    NumPy has no such types.
    ``data`` is None when the graph was read without its .bin.
    """

    type: DataType
    shape: tuple[int, ...]
    data: np.ndarray | None = None


@dataclass(eq=False)
class Operand:
    """A value on an edge of the graph: one producer, any number of consumers."""

    name: str
    producer: Operator | None = None
    consumers: list[Operator] = field(default_factory=list)
    type: DataType = DataType.NULL
    shape: tuple[Dimension, ...] | None = None

    def __repr__(self) -> str:
        return f"Operand({self.name!r}, shape={self.shape}, type={self.type.name})"


@dataclass(eq=False)
class Operator:
    """A node of the graph, as one line of the .param file describes it.

    ``input_names[i]`` is the argument name of ``inputs[i]`` ("" where the file gives none).
    ``params`` and ``attrs`` keep the order of the file. ``graphs`` are the bodies of a condition or a loop, which only
    ONNX has: no PNNX file can hold them.
    """

    type: str
    name: str
    inputs: list[Operand] = field(default_factory=list)
    outputs: list[Operand] = field(default_factory=list)
    input_names: list[str] = field(default_factory=list)
    params: dict[str, Parameter] = field(default_factory=dict)
    attrs: dict[str, Attribute] = field(default_factory=dict)
    graphs: dict[str, Graph] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Operator({self.type!r}, {self.name!r}, {len(self.inputs)} in, {len(self.outputs)} out)"


@dataclass(eq=False)
class Graph:
    """All operators in the order of the file, and all operands in the order in which they are produced."""

    operators: list[Operator] = field(default_factory=list)
    operands: list[Operand] = field(default_factory=list)

    def operator(self, name: str) -> Operator:
        """The first operator of that name.

        Raises
        ------
        KeyError
            If there is none.
        """
        for op in self.operators:
            if op.name == name:
                return op
        raise KeyError(name)

    def operand(self, name: str) -> Operand:
        """The operand of that name.

        Raises
        ------
        KeyError
            If there is none.
        """
        for operand in self.operands:
            if operand.name == name:
                return operand
        raise KeyError(name)

    def __getstate__(self) -> SerializedGraph:
        """For pickle and copy, which would follow the wires too deep."""
        return SerializedGraph.of(self.operators, self.operands)

    def __setstate__(self, state: SerializedGraph) -> None:
        self.operators, self.operands = state.wired()

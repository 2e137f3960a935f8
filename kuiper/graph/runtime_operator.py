"""The nodes and edges of a graph that can run: RuntimeOperator, RuntimeOperand, RuntimeParameter."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from kuiper.errors import ParameterError
from kuiper.graph.pnnx.ir import ParameterType
from kuiper.graph.pnnx.values import SPELLED_FLOATS
from kuiper.graph.quantized_weight import QuantizedAttribute

if TYPE_CHECKING:
    from collections.abc import Callable

    from kuiper.graph.layer_protocol import LayerProtocol
    from kuiper.graph.pnnx.ir import DataType, Dimension, Graph
    from kuiper.graph.quantized_weight import QuantizedWeight
    from kuiper.graph.runtime_attribute import AnyAttribute

T = TypeVar("T")

REQUIRED: Any = object()
"""The default that means: there is none, the file must give this parameter."""

_READER = """{says}

Parameters
----------
key : the name of the parameter
default : what a missing parameter stands for, as does None in the file; without one the file must have it

Returns
-------
The value, or the default as it is.

Raises
------
ParameterError
    If the parameter is missing and has no default, or its value is of another kind; the message names the operator.

Examples
--------
>>> from kuiper.graph.pnnx import parse_value
>>> op = RuntimeOperator("nn.X", "x", params={{"key": parse_value({file!r}, "x.param")}})
>>> op.{name}("key"), op.{name}("other", {default!r})
{answer}
"""


def _to_int(value: Any) -> int:
    if isinstance(value, (list, tuple)) and len(value) == 1:
        (value,) = value
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError
    return int(value)


def _to_float(value: Any) -> float:
    if isinstance(value, str):
        return SPELLED_FLOATS[value]
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise TypeError
    return float(value)


def _to_bool(value: Any) -> bool:
    if isinstance(value, (bool, np.bool_)) or (isinstance(value, int) and value in (0, 1)):
        return bool(value)
    raise TypeError


def _to_str(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _tuple_of(convert: Callable[[Any], T]) -> Callable[[Any], tuple[T, ...]]:
    return lambda value: tuple(map(convert, value if isinstance(value, (list, tuple)) else (value,)))


def _to_pair(value: Any) -> tuple[int, int]:
    numbers = _tuple_of(_to_int)(value)
    vertical, horizontal = numbers * 2 if len(numbers) == 1 else numbers
    return vertical, horizontal


def _reader(
    name: str, convert: Callable[[Any], T], expected: str, says: str, *, file: str, default: object, answer: str
) -> Callable[..., T]:
    """The method of RuntimeOperator that reads a parameter and converts it; ``says`` begins its docstring."""

    def read(op: RuntimeOperator, key: str, default: Any = REQUIRED) -> T:
        return cast("T", op._read(key, default, expected, convert))

    read.__name__, read.__qualname__ = name, f"RuntimeOperator.{name}"
    read.__doc__ = _READER.format(says=says, name=name, file=file, default=default, answer=answer)
    return read


@dataclass
class RuntimeParameter:
    """A setting of an operator; ``value`` is a plain Python value."""

    type: ParameterType
    value: Any


_KINDS = {
    bool: ParameterType.BOOL,
    int: ParameterType.INT,
    float: ParameterType.FLOAT,
    str: ParameterType.STRING,
    list: ParameterType.INT_LIST,
}


def parameters(**values: bool | float | str | list[int]) -> dict[str, RuntimeParameter]:
    """Settings as the file has them, each of the type of its value.

    >>> parameters(eps=0.5, dims=[0, 1])["dims"]
    RuntimeParameter(type=<ParameterType.INT_LIST: 5>, value=[0, 1])
    """
    return {key: RuntimeParameter(_KINDS[type(value)], value) for key, value in values.items()}


@dataclass(eq=False)
class RuntimeOperand:
    """A value on an edge. The producer and every consumer hold this same object: outputs are passed on, never copied.

    ``index`` is the operand's place in the table of values of one forward pass. The values themselves are not
    kept here, so that two threads can run one graph.
    """

    name: str
    index: int
    shape: tuple[Dimension, ...] | None
    type: DataType
    producer: RuntimeOperator | None = None
    consumers: list[RuntimeOperator] = field(default_factory=list)

    def __repr__(self) -> str:
        return f"RuntimeOperand({self.name!r}, shape={self.shape}, type={self.type.name})"


@dataclass(eq=False)
class RuntimeOperator:
    """A node: what the file says of one operator, its place in the graph, and the layer that runs it.

    The ``*_param`` methods read one setting each, as the type that the layer needs, with torch's default where
    the file may leave it out; they raise ParameterError with the operator's name.

    ``grown_from`` is the ``where`` of the operator that took in others when a pass made this one: errors name what
    stands in the file.
    """

    type: str
    name: str
    inputs: list[RuntimeOperand] = field(default_factory=list)
    outputs: list[RuntimeOperand] = field(default_factory=list)
    input_names: list[str] = field(default_factory=list)
    params: dict[str, RuntimeParameter] = field(default_factory=dict)
    attrs: dict[str, AnyAttribute] = field(default_factory=dict)
    graphs: dict[str, Graph] = field(default_factory=dict)
    layer: LayerProtocol | None = None
    grown_from: str = ""

    def __repr__(self) -> str:
        return f"RuntimeOperator({self.type!r}, {self.name!r})"

    def __getstate__(self) -> dict[str, Any]:
        """For pickle and copy of a layer, which has its operator: without the layer, and without the rest of the graph.

        Of the neighbours there remains what layers ask for: what they are called, and the numbers of a constant.
        """
        lone = {
            operand: replace(
                operand,
                producer=None if operand.producer is self else _neighbour(operand.producer),
                consumers=[_neighbour(op) for op in operand.consumers if op is not self],
            )
            for operand in (*self.inputs, *self.outputs)
        }
        own = {"inputs": [lone[one] for one in self.inputs], "outputs": [lone[one] for one in self.outputs]}
        return {**vars(self), **own, "layer": None}

    @property
    def where(self) -> str:
        """How error messages name this operator: ``nn.Conv2d 'layer1.0.conv1'``."""
        return self.grown_from or f"{self.type} '{self.name}'"

    @property
    def successors(self) -> list[RuntimeOperator]:
        """The operators that read an output of this one, each once, in the order of the file."""
        return list(dict.fromkeys(op for operand in self.outputs for op in operand.consumers))

    @property
    def predecessors(self) -> list[RuntimeOperator]:
        """The operators whose output this one reads, each once, in the order of the inputs."""
        return list(dict.fromkeys(operand.producer for operand in self.inputs if operand.producer is not None))

    def has_param(self, key: str) -> bool:
        """Whether the file gives this parameter a value (an explicit None counts as no value)."""
        return key in self.params and self.params[key].value is not None

    def _read(self, key: str, default: Any, expected: str, convert: Callable[[Any], Any]) -> Any:
        if not self.has_param(key):
            if default is REQUIRED:
                known = ", ".join(sorted(self.params)) or "none"
                raise ParameterError(self.where, f"a parameter '{key}'", f"parameters: {known}")
            return default
        value = self.params[key].value
        try:
            return convert(value)
        except (KeyError, TypeError, ValueError):
            raise ParameterError(self.where, f"{key}={expected}", repr(value)) from None

    # The readers: what a value becomes, what the file must say, and an example.
    int_param = _reader(
        "int_param", _to_int, "an integer",
        "An integer; a list of one counts as its number, since a computed one may be a vector of one.",
        file="3", default=7, answer="(3, 7)",
    )  # fmt: skip
    float_param = _reader(
        "float_param", _to_float, "a number",
        "A number; PNNX's spelled ``inf``, ``-inf`` and ``nan`` are accepted, as are integers.",
        file="-inf", default=0.5, answer="(-inf, 0.5)",
    )  # fmt: skip
    bool_param = _reader(
        "bool_param", _to_bool, "True or False",
        "True or False; 0 and 1 are accepted.",
        file="True", default=False, answer="(True, False)",
    )  # fmt: skip
    str_param = _reader(
        "str_param", _to_str, "a word",
        "A word.",
        file="bilinear", default="nearest", answer="('bilinear', 'nearest')",
    )  # fmt: skip
    ints_param = _reader(
        "ints_param", _tuple_of(_to_int), "integers",
        "A tuple of integers; a single number counts as a tuple of one.",
        file="(2,3)", default=(1,), answer="((2, 3), (1,))",
    )  # fmt: skip
    floats_param = _reader(
        "floats_param", _tuple_of(_to_float), "numbers",
        "A tuple of numbers; a single number counts as a tuple of one.",
        file="(2.0,0.5)", default=(1.0,), answer="((2.0, 0.5), (1.0,))",
    )  # fmt: skip
    pair_param = _reader(
        "pair_param", _to_pair, "one or two integers",
        "(vertical, horizontal); a single number stands for both, as in torch.",
        file="3", default=(1, 2), answer="((3, 3), (1, 2))",
    )  # fmt: skip

    def quantized(self, key: str) -> QuantizedWeight | None:
        """A weight as integers and scales, if that is how the file has it."""
        attr = self.attrs.get(key)
        return attr.quantized if isinstance(attr, QuantizedAttribute) else None

    def attr(self, key: str) -> np.ndarray:
        """A weight as float32 in C order; other types are converted.

        Raises
        ------
        ParameterError
            If the operator has no weight of this name; the message lists those that it has.
        """
        return np.ascontiguousarray(self.attribute(key).data, dtype=np.float32)

    def attribute(self, key: str) -> AnyAttribute:
        """A weight as the file has it.

        Raises
        ------
        ParameterError
            As ``attr``.
        """
        if key not in self.attrs:
            known = ", ".join(sorted(self.attrs)) or "none"
            raise ParameterError(self.where, f"a weight '{key}'", f"weights: {known}")
        return self.attrs[key]


def _neighbour(op: RuntimeOperator | None) -> Any:
    """The operator beside another one, without what is beyond it."""
    if op is None:
        return None
    outputs = [replace(operand, producer=None, consumers=[]) for operand in op.outputs]
    attrs = op.attrs if op.type == "pnnx.Attribute" else {}
    return replace(op, inputs=[], outputs=outputs, input_names=[], attrs=attrs, layer=None)

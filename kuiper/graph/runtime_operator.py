"""The nodes and edges of a graph that can run: RuntimeOperator, RuntimeOperand, RuntimeParameter."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from kuiper.errors import ParameterError
from kuiper.graph.quantized_weight import QuantizedAttribute

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kuiper.graph.layer_protocol import LayerProtocol
    from kuiper.graph.pnnx.ir import DataType, Dimension, Graph, ParameterType
    from kuiper.graph.quantized_weight import QuantizedWeight
    from kuiper.graph.runtime_attribute import AnyAttribute

T = TypeVar("T")

REQUIRED: Any = object()
"""The default that means: there is none, the file must give this parameter."""

# The strings that PNNX writes where it means a number.
SPELLED_FLOATS = {
    "inf": float("inf"),
    "-inf": float("-inf"),
    "nan": float("nan"),
    "nan.0": float("nan"),
    "-nan": float("nan"),
}


@dataclass
class RuntimeParameter:
    """A setting of an operator; ``value`` is a plain Python value."""

    type: ParameterType
    value: Any


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

    def int_param(self, key: str, default: Any = REQUIRED) -> int:
        """A whole number; a list of one counts as its number, for a computed one may be a vector of one.

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
            If the parameter is missing and has no default, or its value is of another kind; the message names the
            operator.

        Examples
        --------
        >>> from kuiper.graph.pnnx import parse_value
        >>> op = RuntimeOperator("nn.X", "x", params={"key": parse_value("3", "x.param")})
        >>> op.int_param("key"), op.int_param("other", 7)
        (3, 7)
        """
        return self._read(key, default, "a whole number", _to_int)

    def float_param(self, key: str, default: Any = REQUIRED) -> float:
        """A number; PNNX's spelled ``inf``, ``-inf`` and ``nan`` are accepted, as are whole numbers.

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
            If the parameter is missing and has no default, or its value is of another kind; the message names the
            operator.

        Examples
        --------
        >>> from kuiper.graph.pnnx import parse_value
        >>> op = RuntimeOperator("nn.X", "x", params={"key": parse_value("-inf", "x.param")})
        >>> op.float_param("key"), op.float_param("other", 0.5)
        (-inf, 0.5)
        """
        return self._read(key, default, "a number", _to_float)

    def bool_param(self, key: str, default: Any = REQUIRED) -> bool:
        """True or False; 0 and 1 are accepted.

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
            If the parameter is missing and has no default, or its value is of another kind; the message names the
            operator.

        Examples
        --------
        >>> from kuiper.graph.pnnx import parse_value
        >>> op = RuntimeOperator("nn.X", "x", params={"key": parse_value("True", "x.param")})
        >>> op.bool_param("key"), op.bool_param("other", False)
        (True, False)
        """
        return self._read(key, default, "True or False", _to_bool)

    def str_param(self, key: str, default: Any = REQUIRED) -> str:
        """A word.

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
            If the parameter is missing and has no default, or its value is of another kind; the message names the
            operator.

        Examples
        --------
        >>> from kuiper.graph.pnnx import parse_value
        >>> op = RuntimeOperator("nn.X", "x", params={"key": parse_value("bilinear", "x.param")})
        >>> op.str_param("key"), op.str_param("other", "nearest")
        ('bilinear', 'nearest')
        """
        return self._read(key, default, "a word", _to_str)

    def ints_param(self, key: str, default: Any = REQUIRED) -> tuple[int, ...]:
        """A tuple of whole numbers; a single number counts as a tuple of one.

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
            If the parameter is missing and has no default, or its value is of another kind; the message names the
            operator.

        Examples
        --------
        >>> from kuiper.graph.pnnx import parse_value
        >>> op = RuntimeOperator("nn.X", "x", params={"key": parse_value("(2,3)", "x.param")})
        >>> op.ints_param("key"), op.ints_param("other", (1,))
        ((2, 3), (1,))
        """
        return self._read(key, default, "whole numbers", _to_ints)

    def floats_param(self, key: str, default: Any = REQUIRED) -> tuple[float, ...]:
        """A tuple of numbers; a single number counts as a tuple of one.

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
            If the parameter is missing and has no default, or its value is of another kind; the message names the
            operator.

        Examples
        --------
        >>> from kuiper.graph.pnnx import parse_value
        >>> op = RuntimeOperator("nn.X", "x", params={"key": parse_value("(2.0,0.5)", "x.param")})
        >>> op.floats_param("key"), op.floats_param("other", (1.0,))
        ((2.0, 0.5), (1.0,))
        """
        return self._read(key, default, "numbers", _to_floats)

    def pair_param(self, key: str, default: Any = REQUIRED) -> tuple[int, int]:
        """(vertical, horizontal); a single number stands for both, as in torch.

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
            If the parameter is missing and has no default, or its value is of another kind; the message names the
            operator.

        Examples
        --------
        >>> from kuiper.graph.pnnx import parse_value
        >>> op = RuntimeOperator("nn.X", "x", params={"key": parse_value("3", "x.param")})
        >>> op.pair_param("key"), op.pair_param("other", (1, 2))
        ((3, 3), (1, 2))
        """
        return self._read(key, default, "one or two whole numbers", _to_pair)

    def quantized(self, key: str) -> QuantizedWeight | None:
        """A weight as whole numbers and scales, if that is how the file has it."""
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

    def _read(self, key: str, default: Any, expected: str, convert: Callable[[Any], T]) -> T:
        """Convert one parameter; a missing or None value becomes the default."""
        if not self.has_param(key):
            if default is REQUIRED:
                known = ", ".join(sorted(self.params)) or "none"
                raise ParameterError(self.where, f"a parameter '{key}'", f"parameters: {known}")
            return cast("T", default)
        value = self.params[key].value
        try:
            return convert(value)
        except (TypeError, ValueError):
            raise ParameterError(self.where, f"{key}={expected}", repr(value)) from None


def _neighbour(op: RuntimeOperator | None) -> Any:
    """The operator beside another one, without what is beyond it."""
    if op is None:
        return None
    outputs = [replace(operand, producer=None, consumers=[]) for operand in op.outputs]
    attrs = op.attrs if op.type == "pnnx.Attribute" else {}
    return replace(op, inputs=[], outputs=outputs, input_names=[], attrs=attrs, layer=None)


def _to_int(value: Any) -> int:
    if isinstance(value, (list, tuple)) and len(value) == 1:
        (value,) = value
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError
    return int(value)


def _to_float(value: Any) -> float:
    if isinstance(value, str):
        if value not in SPELLED_FLOATS:
            raise ValueError
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


def _as_sequence(value: Any) -> Sequence[Any]:
    return value if isinstance(value, (list, tuple)) else (value,)


def _to_ints(value: Any) -> tuple[int, ...]:
    return tuple(_to_int(item) for item in _as_sequence(value))


def _to_floats(value: Any) -> tuple[float, ...]:
    return tuple(_to_float(item) for item in _as_sequence(value))


def _to_pair(value: Any) -> tuple[int, int]:
    numbers = _to_ints(value)
    if len(numbers) not in (1, 2):
        raise ValueError
    return numbers[0], numbers[-1]

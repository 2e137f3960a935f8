"""What a translation sees of the file: values, and one node with its settings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.errors import ModelFormatError, ParameterError, UnsupportedOperatorError
from kuiper.onnx.element_types import ELEMENT_TYPES, FLOAT

if TYPE_CHECKING:
    import onnx

    from kuiper.graph.pnnx import Operand
    from kuiper.graph.pnnx.ir import Dimension


@dataclass(eq=False)
class Value:
    """A tensor of the graph that is being made.

    ``type`` is the number of its ONNX element type, 0 if that is unknown; ``shape`` is None where not even the number
    of axes is known, and holds names or None for open sizes. ``constant`` has the numbers of a value that is the same
    in every run; ``sizes`` those of a vector made of sizes, None for what only a run will tell. ``operand`` is its
    place in the graph: a constant has none before an operator reads it.
    """

    name: str
    type: int = 0
    shape: tuple[Dimension, ...] | None = None
    constant: np.ndarray | None = None
    sizes: tuple[int | None, ...] | None = None
    operand: Operand | None = None
    items: list[Value] | None = None

    @property
    def rank(self) -> int | None:
        """The number of axes, if it is known."""
        return None if self.shape is None else len(self.shape)

    @property
    def dtype(self) -> np.dtype:
        """The type of its numbers inside the graph; one that is not known is taken for float32."""
        return ELEMENT_TYPES[self.type or FLOAT].inside

    @property
    def is_float32(self) -> bool:
        """Whether its numbers are float32 inside the graph."""
        return self.dtype == np.float32

    @property
    def known_shape(self) -> tuple[int, ...] | None:
        """The shape, if all of its sizes are known."""
        if self.shape is None or not all(isinstance(size, int) for size in self.shape):
            return None
        return tuple(size for size in self.shape if isinstance(size, int))


Word = str  # in the class below, these types are methods
Whole = int
Number = float


@dataclass
class Node:
    """A node of the file: ``inputs`` has None where the file leaves one out; ``outputs`` has the names, "" if unused.

    ``attributes`` holds plain Python values, arrays and, for bodies, ``onnx.GraphProto``.
    """

    type: str
    domain: str
    name: str
    opset: int
    inputs: list[Value | None]
    outputs: list[str]
    attributes: dict[str, Any] = field(default_factory=dict)
    output_types: dict[str, int] = field(default_factory=dict)

    @property
    def where(self) -> str:
        """How messages call it: ``Conv 'conv1'``."""
        return f"{self.type} '{self.name}'"

    def optional(self, place: int) -> Value | None:
        """An input that may be left out."""
        return self.inputs[place] if place < len(self.inputs) else None

    def value(self, place: int) -> Value:
        """An input that must be there.

        Raises
        ------
        ModelFormatError
            If the file leaves it out.
        """
        value = self.optional(place)
        if value is None:
            raise ModelFormatError(self.where, f"at least {place + 1} inputs", f"none in place {place}")
        return value

    def values(self) -> list[Value]:
        """The inputs that are there."""
        return [value for value in self.inputs if value is not None]

    def wants(self, place: int) -> bool:
        """Whether somebody reads this output."""
        return place < len(self.outputs) and bool(self.outputs[place])

    def get(self, name: str, default: Any = None) -> Any:
        """A setting, or its default."""
        return self.attributes.get(name, default)

    def int(self, name: Word, default: Whole | None = None) -> Whole:
        """A setting that is an integer.

        Raises
        ------
        ParameterError
            If it is missing and has no default, or is something else.
        """
        value = self._required(name, default)
        if not isinstance(value, int):
            raise ParameterError(self.where, f"{name}=an integer", value)
        return value

    def float(self, name: Word, default: Number | None = None) -> Number:
        """A setting that is a number; errors are those of ``int``."""
        value = self._required(name, default)
        if not isinstance(value, (int, float)):
            raise ParameterError(self.where, f"{name}=a number", value)
        return float(value)

    def str(self, name: Word, default: Word | None = None) -> Word:
        """A setting that is a word; errors are those of ``int``."""
        value = self._required(name, default)
        if not isinstance(value, str):
            raise ParameterError(self.where, f"{name}=a word", value)
        return value

    def ints(self, name: Word, default: list[Whole] | tuple[Whole, ...] | None = None) -> list[Whole]:
        """A setting that is a list of integers; errors are those of ``int``."""
        value = self._required(name, default)
        if not isinstance(value, (list, tuple)) or not all(isinstance(item, int) for item in value):
            raise ParameterError(self.where, f"{name}=integers", value)
        return list(value)

    def graph(self, name: Word) -> onnx.GraphProto:
        """A body."""
        body: onnx.GraphProto = self._required(name, None)
        return body

    def constant(self, place: Whole, what: Word) -> np.ndarray:
        """The numbers of an input that must not depend on what the model is called with.

        Raises
        ------
        UnsupportedOperatorError
            If they do.
        """
        value = self.value(place)
        if value.constant is None:
            raise UnsupportedOperatorError(
                self.where, f"{what} that is a constant", f"'{value.name}', which is computed"
            )
        return value.constant

    def integers(self, place: Whole, setting: Word) -> list[Whole] | None:
        """What newer operator sets have as an input and older ones as a setting, if it is a constant; None if it is
        computed or missing."""
        if setting in self.attributes:
            return self.ints(setting)
        value = self.optional(place)
        if value is None or value.constant is None:
            return None
        return [int(item) for item in np.atleast_1d(value.constant).ravel()]

    def unsupported(self, expected: Word, got: object) -> UnsupportedOperatorError:
        """The error for what kuiper lacks in this operator, to be raised."""
        return UnsupportedOperatorError(self.where, expected, got)

    def _required(self, name: Word, default: Any) -> Any:
        value = self.attributes.get(name, default)
        if value is None:
            raise ParameterError(self.where, f"a setting '{name}'", ", ".join(self.attributes) or "none")
        return value

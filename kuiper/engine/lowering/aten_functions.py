"""Functions without a name in pnnx: one layer class has them all, so each is found by its type."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from kuiper.engine.declined import decline_if
from kuiper.engine.lowering.registry import lowers
from kuiper.engine.values import AnyValue, PythonValue, Value
from kuiper.layers.operators.aten_functions import AtenFunction

if TYPE_CHECKING:
    from kuiper.engine.builder import Builder

Arguments = list[Any]
"""Those of the schema: tensors as values, settings as the numbers, lists and Nones that they are."""

FunctionLowering = Callable[["Builder", Arguments], "Sequence[AnyValue]"]
F = TypeVar("F", bound=FunctionLowering)

_lowerings: dict[str, FunctionLowering] = {}


def lowers_function(*types: str) -> Callable[[F], F]:
    """Decorator: this function lowers the functions of PyTorch of these types."""

    def decorator(function: F) -> F:
        _lowerings.update(dict.fromkeys(types, function))
        return function

    return decorator


@lowers(AtenFunction)
def lower_aten_function(layer: AtenFunction, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """The function, if there is a lowering for its type."""
    decline_if(layer.op.type not in _lowerings)
    return _lowerings[layer.op.type](builder, [_argument(value) for value in inputs])


def _argument(value: AnyValue) -> Any:
    if isinstance(value, PythonValue) and value.constant and not isinstance(value.example, np.ndarray):
        return value.example
    return value


def settings_of(arguments: Sequence[Any], defaults: Sequence[Any]) -> list[Any]:
    """Arguments that may be fewer than the schema has, with the defaults of those that are not there.

    >>> settings_of([3], [1, -1])
    [3, -1]
    """
    return [*arguments, *defaults[len(arguments) :]]


def float_tensors(builder: Builder, arguments: Sequence[Any], *ranks: int) -> list[Value]:
    """Arguments on the arena; declines if they are not all float32 tensors, or have other ranks than those given."""
    decline_if(not all(isinstance(argument, (Value, PythonValue)) for argument in arguments))
    found = [builder.on_arena(argument) for argument in arguments]
    decline_if(ranks != () and tuple(value.view.ndim for value in found) != ranks)
    return found

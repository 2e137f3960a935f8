"""Which function lowers which layer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from kuiper.layers.elementwise import Elementwise
from kuiper.layers.layer import is_kuipers_own

if TYPE_CHECKING:
    from kuiper.engine.builder import Builder
    from kuiper.engine.values import AnyValue

Lowering = Callable[[Any, "list[AnyValue]", "Builder"], "Sequence[AnyValue]"]
F = TypeVar("F", bound=Lowering)

_lowerings: dict[type, Lowering] = {}
_taking_empty: set[type] = set()


def lowers(*classes: type, empty: bool = False) -> Callable[[F], F]:
    """Decorator: this function lowers layers of exactly these classes; with ``empty``, also for inputs of size 0."""

    def decorator(function: F) -> F:
        for layer_class in classes:
            _lowerings[layer_class] = function
            if empty:
                _taking_empty.add(layer_class)
        return function

    return decorator


def find_lowering(layer: Any) -> Lowering | None:
    """The function that lowers this layer, if there is one."""
    return _lowerings.get(lowered_as(layer))


def takes_empty(layer: Any) -> bool:
    """Whether the lowering of this layer takes inputs of size 0."""
    return lowered_as(layer) in _taking_empty


def lowered_as(layer: Any) -> type:
    """The class whose lowering a layer has: its own; of kuiper's that are nothing but a ``function``, their base."""
    layer_class = type(layer)
    is_function = getattr(layer_class, "forward", None) is Elementwise.forward
    return Elementwise if is_function and is_kuipers_own(layer_class) else layer_class

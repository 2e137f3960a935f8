"""The registry: from the type in the file ("nn.ReLU") to the class that runs it.

Every operator module registers its own classes when it is imported; ``kuiper.layers`` imports them all. There is one
registry in the process, and ``override`` changes it for one block of code only.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

from kuiper.errors import ParameterError, UnsupportedOperatorError
from kuiper.layers.layer import Layer
from kuiper.layers.operand_parameters import WithOperandParameters, operand_parameters

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kuiper.graph.runtime_operator import RuntimeOperator

LayerFactory = Callable[["RuntimeOperator"], "Layer"]
F = TypeVar("F", bound=LayerFactory)

_factories: dict[str, LayerFactory] = {}
_overrides: ContextVar[Mapping[str, LayerFactory]] = ContextVar("overrides", default=MappingProxyType({}))


def register(*types: str) -> Callable[[F], F]:
    """Class decorator: this class (or any function that makes a layer) runs operators of these types.

    >>> from kuiper.layers import Layer, register, layer_types
    >>> @register("doc.Twice")
    ... class Twice(Layer):
    ...     def forward(self, x):
    ...         return x + x
    >>> "doc.Twice" in layer_types()
    True

    Raises
    ------
    ParameterError
        If a type has a layer already: use ``override`` to replace one for a while.
    """

    def decorator(factory: F) -> F:
        for type_name in types:
            known = _factories.get(type_name)
            # The same definition again (a notebook cell that is run twice) replaces the old one.
            if known is not None and _definition(known) != _definition(factory):
                raise ParameterError(
                    f"register('{type_name}')",
                    "a type without a layer",
                    known,
                    hint="use kuiper.layers.override(...) to replace a layer for one block",
                )
            _factories[type_name] = factory
        return factory

    return decorator


def _definition(factory: LayerFactory) -> tuple[str, str]:
    return factory.__module__, getattr(factory, "__qualname__", repr(factory))


@contextmanager
def override(type_name: str, factory: LayerFactory) -> Iterator[None]:
    """Within this block, graphs are built with ``factory`` for operators of this type.

    Graphs built before the block keep their layers. Other threads are not affected.

    >>> from kuiper.layers import Layer, override
    >>> class Loud(Layer):
    ...     def forward(self, x):
    ...         print("relu!")
    ...         return x
    >>> with override("nn.ReLU", Loud):
    ...     pass  # model = kuiper.load(...)
    """
    token = _overrides.set({**_overrides.get(), type_name: factory})
    try:
        yield
    finally:
        _overrides.reset(token)


def layer_types() -> list[str]:
    """All operator types that have a layer, sorted."""
    return sorted({*_factories, *_overrides.get()})


def is_supported(type_name: str) -> bool:
    """Whether operators of this type can run."""
    return type_name in _factories or type_name in _overrides.get()


def is_built_in(type_name: str) -> bool:
    """Whether operators of this type run on kuiper's own layer, about which graph passes know what it computes.

    False within an ``override``, whatever class it puts in, and for types that other packages have registered: what
    such a layer does is its own affair, and it is to be called.

    >>> from kuiper.layers import Layer, override
    >>> is_built_in("nn.ReLU")
    True
    >>> with override("nn.ReLU", Layer):
    ...     is_built_in("nn.ReLU")
    False
    """
    factory = _factories.get(type_name)
    return factory is not None and type_name not in _overrides.get() and factory.__module__.startswith("kuiper.")


def near_matches(type_name: str) -> list[str]:
    """Up to three known types whose names are like this one, the likeliest first.

    >>> near_matches("nn.Relu")[0]
    'nn.ReLU'
    """
    known = layer_types()
    last_word = type_name.split(".")[-1].lower()
    same_word = [name for name in known if name.split(".")[-1].lower() == last_word]
    close = difflib.get_close_matches(type_name, known, n=3, cutoff=0.6)

    def likeness(name: str) -> float:
        return difflib.SequenceMatcher(None, type_name.lower(), name.lower()).ratio()

    return sorted(dict.fromkeys(same_word + close), key=likeness, reverse=True)[:3]


def create(op: RuntimeOperator) -> Layer:
    """Make the layer that runs this operator.

    Raises
    ------
    UnsupportedOperatorError
        If no class is registered for its type.
    """
    factory = _overrides.get().get(op.type) or _factories.get(op.type)
    if factory is None:
        near = near_matches(op.type)
        similar = f"similar: {', '.join(near)}; " if near else ""
        raise UnsupportedOperatorError(
            op.where, "an operator type that kuiper knows", op.type, hint=f"{similar}see docs/add-a-layer.md"
        )
    names = operand_parameters(op, getattr(factory, "data_inputs", Layer.data_inputs))
    return WithOperandParameters(op, factory, names) if names else factory(op)

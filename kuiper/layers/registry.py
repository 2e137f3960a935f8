"""The registry: from the type in the file ("nn.ReLU") to the class that runs it.

Every operator module registers its own classes when it is imported; ``kuiper.layers`` imports them all. There is one
registry in the process, and ``override`` changes it for one block of code only.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from kuiper.errors import KuiperError, ParameterError, UnsupportedOperatorError
from kuiper.graph.failures import operator_failure
from kuiper.layers.factories import FACTORIES
from kuiper.layers.layer import Layer, is_kuipers_own
from kuiper.layers.operand_parameters import WithOperandParameters, operand_parameters
from kuiper.tensor_limit import Limited

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator

LayerFactory = Callable[["RuntimeOperator"], "Layer"]
F = TypeVar("F", bound=LayerFactory)

_factories: dict[str, LayerFactory] = FACTORIES
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

    Graphs built before the block keep their layers. Other threads are not affected, but for those that begin within the
    block where ``sys.flags.thread_inherit_context`` is set, as it is in Python 3.14 without a GIL.

    Parameters
    ----------
    type_name : an operator type, such as ``nn.ReLU``
    factory : a class of layers, or a function that makes a layer from an operator

    Returns
    -------
    A context manager.

    Examples
    --------
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
    return factory is not None and type_name not in _overrides.get() and is_kuipers_own(factory)


def facts(type_name: str) -> type[Layer]:
    """The class that says what operators of this type are: a view, an activation, a part of their input ...

    That is the class that was registered, whatever ``override`` puts in its place for a while: what a type means does
    not depend on what runs it. Of a type without a layer, or whose layers a function makes, nothing is known:
    ``Layer``.

    >>> facts("Tensor.reshape").is_view, facts("nn.ReLU").is_view, facts("no.such").is_view
    (True, False, False)
    """
    return _class_of(_factories.get(type_name) or _overrides.get().get(type_name))


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
    KuiperError
        If its parameters and weights make no layer, whatever the class makes of them; the message names the operator.
    """
    return _made(op, _overrides.get().get(op.type) or _factories.get(op.type))


@dataclass(frozen=True)
class Snapshot:
    """What the registry makes of some types, whatever ``override`` and ``register`` do later or in other processes.

    It can be pickled if ``others``, the factories that are not kuiper's own, can be imported where it is read again:
    classes and functions at the top level of a module.
    """

    others: Mapping[str, LayerFactory]

    def create(self, op: RuntimeOperator) -> Layer:
        """Make the layer that runs this operator; errors as of ``create``."""
        return _made(op, self.others.get(op.type) or _factories.get(op.type))

    def is_supported(self, type_name: str) -> bool:
        """Whether there is a layer for this type."""
        return type_name in self.others or type_name in _factories

    def is_built_in(self, type_name: str) -> bool:
        """Whether kuiper's own layer runs this type."""
        factory = _factories.get(type_name)
        return factory is not None and type_name not in self.others and is_kuipers_own(factory)

    def facts(self, type_name: str) -> type[Layer]:
        """The class that says what operators of this type are."""
        return _class_of(_factories.get(type_name) or self.others.get(type_name))

    def near_matches(self, type_name: str) -> list[str]:
        """Known types that resemble this one."""
        return near_matches(type_name)


def snapshot(types: Iterable[str]) -> Snapshot:
    """What the registry makes of these types now.

    >>> from kuiper.layers import Layer, override
    >>> with override("nn.ReLU", Layer):
    ...     snapshot(["nn.ReLU", "nn.Conv2d"]).others
    {'nn.ReLU': <class 'kuiper.layers.layer.Layer'>}
    """
    known = {**_factories, **_overrides.get()}
    return Snapshot({name: known[name] for name in types if name in known and not is_built_in(name)})


def _class_of(factory: LayerFactory | None) -> type[Layer]:
    return factory if isinstance(factory, type) and issubclass(factory, Layer) else Layer


def _made(op: RuntimeOperator, factory: LayerFactory | None) -> Layer:
    if factory is None:
        near = near_matches(op.type)
        similar = f"similar: {', '.join(near)}; " if near else ""
        raise UnsupportedOperatorError(
            op.where, "an operator type that kuiper knows", op.type, hint=f"{similar}see docs/inside/add-a-layer.md"
        )
    _refuse_numbers_for_weights(op, getattr(factory, "number_inputs", ()))
    names = operand_parameters(op, getattr(factory, "data_inputs", Layer.data_inputs))
    if names:
        return WithOperandParameters(op, factory, names)
    try:
        with np.errstate(all="ignore"), Limited():  # 1/0 is inf without a word, as when it runs
            return factory(op)
    except KuiperError as error:
        raise operator_failure(op, error) from error.__cause__
    except Exception as error:
        raise operator_failure(op, error, "parameters and weights that fit together") from error


def _refuse_numbers_for_weights(op: RuntimeOperator, allowed: Sequence[str]) -> None:
    """A function takes its weights as inputs: it would not see one that the file writes as a number."""
    if op.type.startswith("F."):
        for name in ("weight", "bias", "running_mean", "running_var"):
            given = op.params.get(name)
            if given is not None and given.value is not None and name not in allowed:
                raise UnsupportedOperatorError(op.where, f"{name} as an input", f"{name}={given.value}")

"""How a search for something that one can do ends early: it raises ``Declined``, wherever it stands.

A pass then leaves an operator as it is (``attempted``), and the engine leaves it to its layer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")
P = ParamSpec("P")


class Declined(Exception):
    """What was looked for is not there, or one does not know how."""


def decline_if(condition: object) -> None:
    """Raise ``Declined`` if this holds."""
    if condition:
        raise Declined


def found(thing: T | None) -> T:
    """What is there; declines if it is None.

    >>> found(0)
    0
    """
    if thing is None:
        raise Declined
    return thing


def attempted(find: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T | None:
    """What ``find`` gives for these; None if it declines."""
    try:
        return find(*args, **kwargs)
    except Declined:
        return None

"""Property tests: hypothesis's ``given`` and strategies, for which hypothesis is imported when the first of them runs.

To import it and to look for its first example take longer than all other tests of an exercise. A red report needs
neither: property tests come last, and wait until the examples pass.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

EXAMPLES = 25


class Later:
    """A strategy that will be made when hypothesis is there."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._made: Any = None

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """``map``, ``filter`` and the like."""
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **named: Later(lambda: getattr(now(self), name)(*args, **named))

    def __or__(self, other: Any) -> Later:
        return Later(lambda: now(self) | now(other))

    def __ror__(self, other: Any) -> Later:
        return Later(lambda: now(other) | now(self))

    def strategy(self) -> Any:
        """The strategy itself, always the same one."""
        if self._made is None:
            self._made = self._make()
        return self._made


def now(value: Any) -> Any:
    """The value, with strategies in the place of those that were to be made later."""
    if isinstance(value, Later):
        return value.strategy()
    if type(value) in (list, tuple):
        return type(value)(map(now, value))
    return {key: now(each) for key, each in value.items()} if type(value) is dict else value


class Library:
    """A module of strategies. Its functions make them at once when hypothesis is there, and later when it is not.

    >>> st = Library("hypothesis.strategies")
    >>> even = st.integers(0, 9).map(lambda number: 2 * number)
    >>> now(st.lists(even, max_size=3)).is_empty
    False
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):
            raise AttributeError(name)

        def make(*args: Any, **named: Any) -> Any:
            later = Later(lambda: getattr(importlib.import_module(self._name), name)(*now(args), **now(named)))
            return now(later) if self._name in sys.modules else later

        return make


st = Library("hypothesis.strategies")
arrays = Library("hypothesis.extra.numpy")


@dataclass
class Property:
    """A test function and its strategies. It gives the same answer each time, and one ``impl`` serves all examples.

    With ``shrinks``, the example that a failure shows is made as small as can be, which takes many calls.
    """

    function: Callable[..., Any]
    strategies: dict[str, Any]
    shrinks: bool = False

    def test(self) -> Callable[..., Any]:
        """The function that hypothesis makes of both."""
        import hypothesis
        from hypothesis import HealthCheck, Phase

        settings = hypothesis.settings(
            phases=[Phase.explicit, Phase.generate, *([Phase.shrink] if self.shrinks else [])],
            derandomize=True,
            database=None,
            deadline=None,
            max_examples=EXAMPLES,
            suppress_health_check=list(HealthCheck),
            print_blob=False,
        )
        made: Callable[..., Any] = settings(hypothesis.given(**now(self.strategies))(self.function))
        return made


def given(**strategies: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make a test run on examples: hypothesis's ``given``, with a strategy for each of these arguments.

    Examples
    --------
    >>> @given(number=st.integers(0, 9))
    ... def test_square(limit, number):
    ...     assert number**2 <= limit
    >>> test_square(limit=81)
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        own = Property(function, strategies)

        @functools.wraps(function)
        def run(*args: Any, **named: Any) -> None:
            own.test()(*args, **named)

        parameters = inspect.signature(function).parameters.items()
        left = [parameter for name, parameter in parameters if name not in strategies]
        vars(run).update(__signature__=inspect.Signature(left), property_test=own)
        return run

    return decorate


def property_of(function: object) -> Property | None:
    """What ``given`` has made a test of; None if it is a plain one."""
    found = getattr(function, "property_test", None)
    return found if isinstance(found, Property) else None

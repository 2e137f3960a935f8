"""Which tests tell a mistake in one function from another: its own, and those of what it calls and of what calls it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Protocol, TypeVar

from kuiper.course.variants import split

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kuiper.course.manifest import Exercise


class Test(Protocol):
    """A test that has run, by what it runs."""

    @property
    def body(self) -> Callable[..., object]: ...


AnyTest = TypeVar("AnyTest", bound=Test)


def telling(exercise: Exercise, function: str, tests: Sequence[AnyTest]) -> list[AnyTest]:
    """Of these tests those that a mistake in a function may fail: first the function's own, the latest one first.

    Whatever is wrong in ``function``, the tests of another one pass, unless one of the two mentions the other.
    """
    file = exercise.solution_file
    functions = split(file.read_text(encoding="utf-8"))[1] if file.is_file() else {}
    of = {id(test): exercise.function_of_test(test.body.__name__) for test in tests}
    left = [test for test in reversed(tests) if _belong_together(functions, function, of[id(test)])]
    return sorted(left, key=lambda test: of[id(test)] != function)


def _belong_together(functions: dict[str, str], one: str, other: str) -> bool:
    """Whether one function is the other or mentions it; of methods it is taken for granted."""
    if one == other or not {one, other} <= functions.keys():
        return True
    return any(re.search(rf"\b{name}\b", functions[text]) for name, text in ((one, other), (other, one)))

"""What tests of exercises are written with: ``calling(impl.offset, (1, 2), (3, 1)).gives(5)``.

The call runs wherever the student's code runs; the comparison runs here. A test that fails raises ``Mismatch``, which
holds the call, what was expected and what came, so that the plugin can draw it, and can ask the bug bank who else
answers like that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.course.comparison import difference
from kuiper.course.grids import grid, inline, side_by_side
from kuiper.course.implementation import Function, Implementation, StudentError
from kuiper.course.observation import Observation, Raised, observe

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_SHOWN = 5


class Mismatch(AssertionError):
    """A call did not do what the test expects."""

    def __init__(self, call: list[str], expected: Any, got: Any, words: str) -> None:
        self.call, self.expected, self.got, self.words = call, expected, got, words
        super().__init__("\n".join(self.lines()))

    def lines(self) -> list[str]:
        """The call, what was expected, what came."""
        if isinstance(self.got, Raised):
            return [*self.call, f"expected {inline(self.expected)}", f"raised   {self.got}"]
        body = side_by_side(self.expected, self.got)
        return [*self.call, *body, *([f"({self.words})"] if "dtype" in self.words or "where" in self.words else [])]


class Call:
    """A call that is about to be made; one of the methods makes it and looks at the outcome."""

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.function, self.args, self.kwargs = function, args, kwargs

    def gives(self, expected: Any, tolerance: float = 0.0) -> None:
        """It returns this, and leaves its arguments as they are.

        Lists of numbers stand for arrays where an array is returned. With an array as ``expected`` the dtype must agree
        too. ``tolerance`` is relative to the largest expected number.
        """
        __tracebackhide__ = True
        seen = self._observe(expected)
        words = difference(seen.value, expected, tolerance)
        if words:
            raise Mismatch(self._text(), expected, seen.value, words)
        for key in seen.changed:
            raise Mismatch(self._text(), f"{self._name(key)} untouched", f"{self._name(key)} overwritten", "")

    def fills(self, out: np.ndarray, expected: Any, tolerance: float = 0.0) -> None:
        """It writes this into ``out``, one of the arguments, and leaves the others as they are."""
        __tracebackhide__ = True
        seen = self._observe(expected)
        key = next(key for key, value in self._arguments().items() if value is out)
        words = difference(np.asarray(seen.changed.get(key, out)), expected, tolerance)
        if words:
            raise Mismatch(self._text(hidden=key), expected, np.asarray(seen.changed.get(key, out)), words)
        for other in seen.changed:
            if other != key:
                name = self._name(other)
                raise Mismatch(self._text(), f"{name} untouched", f"{name} overwritten", "")

    def raises(self, kind: type[BaseException], words: str = "") -> None:
        """It raises an exception of this kind (or of one derived from it) whose message has these words in it."""
        __tracebackhide__ = True
        seen = self._call()
        expected = Words(f"{kind.__name__}" + (f" that mentions {words!r}" if words else ""))
        if seen.raised is None:
            raise Mismatch(self._text(), expected, seen.value, "no error")
        if kind.__name__ not in seen.raised.bases or words.lower() not in seen.raised.message.lower():
            raise Mismatch(self._text(), expected, seen.raised, "another error")

    def _observe(self, expected: Any) -> Observation:
        __tracebackhide__ = True
        seen = self._call()
        if seen.raised:
            raise Mismatch(self._text(), expected, seen.raised, "an error")
        return seen

    def _call(self) -> Observation:
        if isinstance(self.function, Function):
            seen = self.function.implementation.observe(self.function.name, self.args, self.kwargs)
        elif self.args and isinstance(self.args[0], Implementation):
            seen = self.args[0].observe_probe(self.function, self.args[1:], self.kwargs)
        else:
            seen = observe(self.function, self.args, self.kwargs)
        if seen.printed:
            print(seen.printed, end="")
        return seen

    def _arguments(self) -> dict[int | str, Any]:
        return dict([*enumerate(self.args), *self.kwargs.items()])

    def _name(self, key: int | str) -> str:
        return f"argument {key + 1}" if isinstance(key, int) else key

    def _text(self, hidden: int | str | None = None) -> list[str]:
        """``im2col(x, 3, stride=2)``; small arrays are drawn below, under the names x, y, z."""
        name = getattr(self.function, "name", getattr(self.function, "__name__", "call"))
        parts: list[str] = []
        drawn: list[str] = []
        letters = iter("xyzuvw")
        for key, value in self._arguments().items():
            if isinstance(value, Implementation):
                continue
            text = inline(value, 44)
            if key == hidden:
                text = "out"
            elif isinstance(value, np.ndarray) and value.size > 6:
                letter = next(letters, "a")
                text = letter
                drawn += _drawn(letter, value)
            parts.append(text if isinstance(key, int) else f"{key}={text}")
        return [f"{name}({', '.join(parts)})", *drawn[:MOST_SHOWN]]


class Words(str):
    """Something expected that is a description rather than a value."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def calling(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Call:
    """A call to be judged: ``calling(impl.im2col, x, 3).gives([[...]])``.

    ``function`` is a function of ``impl``, or one of the test's own whose first argument is ``impl``: that one runs
    beside the student's code, gets the exercise's module, and returns plain values.
    """
    return Call(function, args, kwargs)


def same(what: str, got: Any, expected: Any, tolerance: float = 0.0) -> None:
    """Fail unless a value that the test has in hand is the expected one; ``what`` names it."""
    __tracebackhide__ = True
    words = difference(got, expected, tolerance)
    if words:
        raise Mismatch([what], expected, got, words)


def _drawn(letter: str, array: np.ndarray) -> list[str]:
    shape = f"  shape {array.shape}" if array.ndim != 2 else ""
    lines = grid(array)
    return [f"  {letter} = {lines[0]}{shape}", *(f"      {line}" for line in lines[1:])]


__all__ = ["Mismatch", "StudentError", "calling", "same"]

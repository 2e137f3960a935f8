"""What tests of exercises are written with: ``calling(impl.offset, (1, 2), (3, 1)).gives(5)``.

The call runs wherever the student's code runs; the comparison runs here. A test that fails raises ``Mismatch``, which
holds the call, what was expected and what came, so that the plugin can draw it, and can ask the bug bank who else
answers like that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from kuiper.course.comparison import (
    AT_KEY,
    OTHER_SHAPE,
    difference,
    first_difference,
    place_in_words,
    place_of_kind,
    way_in_words,
)
from kuiper.course.grids import WIDEST, Shown, inline, side_by_side
from kuiper.course.implementation import Function, Implementation, StudentError
from kuiper.course.layout import body_width, code_lines, drawn, folded, raised_lines, value_lines
from kuiper.course.observation import Observation, Raised, observe
from kuiper.course.phrases import Phrase, phrase, said
from kuiper.course.wire import type_name
from kuiper.language import _, noop
from kuiper.printable import printable

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_LINES = 8  # of a failure: the call and both values
MIN_SHOWN = 5  # for the values, if the arguments are drawn, too
MAX_DRAWN = 5
LONGEST_CALL = 2  # lines
LONGEST_ARGUMENT = 100
SHORT = 64  # signs of a value that is shown whole
NOT_FILLED, OVERWRITTEN = "nothing was written", "an argument was changed"
UNREFUSED = NO_ERROR, ANOTHER_ERROR = "no error", "another error"  # in words, where a call is to raise


class Mismatch(AssertionError):
    """A call did not do what the test expects. ``call`` begins with its words; ``arrays`` has what x, y, z are."""

    def __init__(
        self, call: list[str], expected: Any, got: Any, words: str, function: str = "", tolerance: float = 0.0
    ) -> None:
        self.call, self.expected, self.got, self.words = call, expected, got, words
        self.function, self.tolerance = function, tolerance
        self.arrays: dict[str, np.ndarray] = {}
        self.made: Call | None = None
        super().__init__()

    def __str__(self) -> str:  # only when it is asked for: most of these are made to be compared
        return "\n".join(self.lines())

    def lines(self, most: int = MAX_LINES) -> list[str]:
        """The call, what was expected, what came: at most so many lines, whatever they are made of."""
        width = body_width()
        try:
            lines = self._lines(most, width)
        except Exception as error:  # an answer may be any object
            words = _("got an object of type {type}, which cannot be shown ({error})")
            told = words.format(type=type_name(self.got), error=type_name(error))
            lines = [*code_lines(self.call[0], width), *folded(told, width)]
        return [printable(line) for line in lines[:most]]

    def _lines(self, most: int, width: int) -> list[str]:
        """Of the pictures of arguments only those that leave room for both values."""
        wanted = len(drawn(self.arrays, MAX_DRAWN, width))
        shown = self._shown(max(most - 1 - wanted, min(MIN_SHOWN, most - 1)), width)
        call = code_lines(self.call[0], width, most=max(1, min(most - len(shown), LONGEST_CALL)))
        room = min(most - len(shown) - len(call), MAX_DRAWN)
        return [*call, *(drawn(self.arrays, room, width) if room > 0 else ()), *shown]

    def _shown(self, most: int, width: int) -> list[str]:
        """What was expected and what came."""
        if isinstance(self.got, Raised):
            expected = value_lines(_("expected {value}"), self.expected, width, most=2 if most > MIN_SHOWN else 1)
            return [*expected, *raised_lines(self.got, most - len(expected), width)]
        told = self._told(width)
        return [*self._difference(most - len(told), width), *told]

    def _difference(self, most: int, width: int) -> list[str]:
        """Both values; of nested ones that are too long for a glance, the first element that differs, and its place."""
        if max(len(inline(value)) for value in (self.expected, self.got)) <= SHORT:
            return self._both(self.expected, self.got, most, width)
        where, got, expected = first_difference(self.got, self.expected, self.tolerance)
        if not where:
            return self._both(self.expected, self.got, most, width)
        place = folded(_("the first difference is at {place}").format(place=place_in_words(where)), width)
        left = most - len(place)
        shown = self._both(expected, got, left, width)
        outer = self.expected, self.got
        for key in where[:-1]:  # the smallest part around it that can be read at a glance tells more than one number
            outer = outer[0][key], outer[1][key]
            if max(len(inline(value)) for value in outer) <= SHORT:
                shown = self._both(*outer, left, width)
                break
        return [*place, *shown]

    def _both(self, expected: Any, got: Any, most: int, width: int) -> list[str]:
        """Side by side where both are arrays, else one below the other."""
        table = side_by_side(expected, got, most, self.tolerance, min(width, WIDEST))
        if table:
            return table
        messages = _("expected {value}"), _("got      {value}")
        for each in (2, 1):
            pairs = zip(messages, (expected, got), strict=True)
            lines = [line for message, value in pairs for line in value_lines(message, value, width, each)]
            if len(lines) <= most:
                break
        return lines

    def _told(self, width: int) -> list[str]:
        """The difference in words, and where it is, if both values do not tell as much."""
        words, is_inside = self.words, False
        while isinstance(words, Phrase) and words.template == AT_KEY:
            words, is_inside = words.fields["words"], True
        is_drawn = not is_inside and isinstance(words, Phrase) and words.template == OTHER_SHAPE
        if not ("dtype" in words or "where" in words) or (is_drawn and isinstance(self.expected, np.ndarray)):
            return []
        place = way_in_words(place_of_kind(self.got, self.expected, self.tolerance))
        told = _("({words} at {place})") if place else _("({words})")
        return folded(told.format(words=said(words), place=place), width, rest=" ")


class Call:
    """A call that is about to be made; one of the methods makes it and looks at the outcome."""

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.function, self.args, self.kwargs = function, args, kwargs
        self.judgement: Callable[[Call], None] | None = None

    def on(self, impl: Implementation) -> BaseException | None:
        """How the same call ends with the same judgement on another implementation; None if well."""
        function, args = self.function, self.args
        if isinstance(function, Function):
            function = Function(impl, function.name)
        elif args and isinstance(args[0], Implementation):
            args = (impl, *args[1:])
        assert self.judgement is not None
        try:
            self.judgement(Call(function, args, self.kwargs))
        except (Mismatch, StudentError) as error:
            return error
        return None

    def gives(self, expected: Any, tolerance: float = 0.0) -> None:
        """It returns this, and leaves its arguments as they are.

        Lists of numbers stand for arrays where an array is returned. With an array as ``expected`` the dtype must agree
        too. ``tolerance`` is relative to the largest expected number.
        """
        __tracebackhide__ = True
        self.judgement = lambda call: call.gives(expected, tolerance)
        seen = self._observe(expected)
        words = difference(seen.value, expected, tolerance)
        if words:
            raise self._mismatch(expected, seen.value, words, tolerance)
        for key in seen.changed:
            raise self._overwritten(key)

    def keeps(self, given: Any) -> None:
        """The function returns what it has handed to another one, which must be as it was ``given``."""
        __tracebackhide__ = True
        self.judgement = lambda call: call.keeps(given)
        seen = self._observe(given)
        if difference(seen.value, given):
            raise self._mismatch(given, seen.value, OVERWRITTEN)

    def fills(self, out: np.ndarray, expected: Any, tolerance: float = 0.0) -> None:
        """It writes this into ``out``, one of the arguments, and leaves the others as they are."""
        __tracebackhide__ = True
        self.judgement = lambda call: call.fills(out, expected, tolerance)
        seen = self._observe(expected)
        key = next(key for key, value in self._arguments().items() if value is out)
        words = difference(np.asarray(seen.changed.get(key, out)), expected, tolerance)
        if words:
            words = words if key in seen.changed else NOT_FILLED
            raise self._mismatch(expected, np.asarray(seen.changed.get(key, out)), words, hidden=key)
        for other in seen.changed:
            if other != key:
                raise self._overwritten(other)

    def raises(self, kind: type[BaseException], words: str = "") -> None:
        """It raises an exception of this kind (or of one derived from it) whose message has these words in it."""
        __tracebackhide__ = True
        self.judgement = lambda call: call.raises(kind, words)
        seen = self._call()
        asked = noop("{type} that mentions {words}") if words else "{type}"
        expected = Words(asked, {"type": kind.__name__, "words": repr(words)})
        if seen.raised is None:
            raise self._mismatch(expected, seen.value, NO_ERROR)
        if kind.__name__ not in seen.raised.bases or words.lower() not in seen.raised.message.lower():
            raise self._mismatch(expected, seen.raised, ANOTHER_ERROR)

    def answer(self) -> Any:
        """What it returns, for a test that has more to say of it than that it is equal to something."""
        __tracebackhide__ = True
        self.judgement = lambda call: cast("None", call.answer())
        return self._observe(Words(noop("an answer"), {})).value

    def _observe(self, expected: Any) -> Observation:
        __tracebackhide__ = True
        seen = self._call()
        if seen.raised:
            raise self._mismatch(expected, seen.raised, "an error")
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

    def _mismatch(
        self, expected: Any, got: Any, words: str, tolerance: float = 0.0, hidden: int | str | None = None
    ) -> Mismatch:
        call, arrays = self._text(hidden)
        pictures = drawn(arrays, MAX_DRAWN, WIDEST)  # calls are told apart by them, on a terminal of any width
        function = self.function.name if isinstance(self.function, Function) else ""
        mismatch = Mismatch([call, *pictures], expected, got, words, function, tolerance)
        mismatch.made, mismatch.arrays = self, arrays
        return mismatch

    def _overwritten(self, key: int | str) -> Mismatch:
        name = self._name(key)
        untouched, overwritten = phrase("{name} untouched", name=name), phrase("{name} overwritten", name=name)
        return self._mismatch(said(untouched), said(overwritten), OVERWRITTEN)

    def _arguments(self) -> dict[int | str, Any]:
        return dict([*enumerate(self.args), *self.kwargs.items()])

    def _name(self, key: int | str) -> str:
        return _("argument {number}").format(number=key + 1) if isinstance(key, int) else key

    def _text(self, hidden: int | str | None = None) -> tuple[str, dict[str, np.ndarray]]:
        """``im2col(x, 3, stride=2)``, and the arrays that x, y, z stand for: small ones are drawn below."""
        name = getattr(self.function, "name", getattr(self.function, "__name__", "call"))
        parts: list[str] = []
        arrays: dict[str, np.ndarray] = {}
        letters = iter("xyzuvw")
        for key, value in self._arguments().items():
            if isinstance(value, Implementation):
                continue
            text = inline(value, LONGEST_ARGUMENT)
            if key == hidden:
                text = "out"
            elif isinstance(value, np.ndarray) and value.size > 6:
                text = next(letters, "a")
                arrays.setdefault(text, value)
            parts.append(text if isinstance(key, int) else f"{key}={text}")
        return f"{name}({', '.join(parts)})", arrays


class Words(Phrase, Shown):
    """Something expected that is a description rather than a value."""

    def __repr__(self) -> str:
        return str(self)

    def shown(self) -> str:
        return said(self)


def calling(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Call:
    """A call to be judged: ``calling(impl.im2col, x, 3).gives([[...]])``.

    ``function`` is a function of ``impl``, or one of the test's own whose first argument is ``impl``: that one runs
    beside the student's code, gets the exercise's module, and returns plain values: what was seen, never a verdict, for
    beside it the student's code may have changed what equality means.
    """
    return Call(function, args, kwargs)


def same(what: str, got: Any, expected: Any, tolerance: float = 0.0) -> None:
    """Fail unless a value that the test has in hand is the expected one; ``what`` names it."""
    __tracebackhide__ = True
    words = difference(got, expected, tolerance)
    if words:
        raise Mismatch([what], expected, got, words, tolerance=tolerance)


__all__ = ["Mismatch", "StudentError", "calling", "same"]

"""What tests of exercises are written with: ``calling(impl.offset, (1, 2), (3, 1)).gives(5)``.

The call runs wherever the student's code runs; the comparison runs here. A test that fails raises ``Mismatch``, which
holds the call, what was expected and what came, so that the plugin can draw it, and can ask the bug bank who else
answers like that.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from kuiper.course.comparison import difference, first_difference, place_in_words
from kuiper.course.grids import WIDEST, Shown, grid, inline, side_by_side
from kuiper.course.implementation import Function, Implementation, StudentError
from kuiper.course.observation import Observation, Raised, observe
from kuiper.course.phrases import Phrase, phrase, said
from kuiper.course.wire import type_name
from kuiper.language import _, noop
from kuiper.printable import printable

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_LINES = 8  # of a failure: the call and both values
MIN_SHOWN = 5  # for the values, if the arguments are drawn, too
MAX_SHOWN = 5
LONGEST_CALL = 2  # lines
LONGEST_ARGUMENT = 100
SHORT = 64  # signs of a value that is shown whole
NOT_FILLED, OVERWRITTEN = "nothing was written", "an argument was changed"
UNREFUSED = NO_ERROR, ANOTHER_ERROR = "no error", "another error"  # in words, where a call is to raise


class Mismatch(AssertionError):
    """A call did not do what the test expects."""

    def __init__(
        self, call: list[str], expected: Any, got: Any, words: str, function: str = "", tolerance: float = 0.0
    ) -> None:
        self.call, self.expected, self.got, self.words = call, expected, got, words
        self.function, self.tolerance = function, tolerance
        self.made: Call | None = None
        super().__init__()

    def __str__(self) -> str:  # only when it is asked for: most of these are made to be compared
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """The call, what was expected, what came: at most MAX_LINES, whatever they are made of."""
        try:
            lines = self._lines()
        except Exception as error:  # an answer may be any object
            words = _("got an object of type {type}, which cannot be shown ({error})")
            lines = [*self.call[:1], words.format(type=type_name(self.got), error=type_name(error))]
        return [printable(line) for line in lines]

    def _lines(self) -> list[str]:
        """Of the pictures of arguments only those that leave room for both values."""
        if isinstance(self.got, Raised):
            words = str(self.got).splitlines()[: MAX_LINES - 3] or [""]
            expected = _("expected {value}").format(value=inline(self.expected))
            shown = [expected, _("raised   {error}").format(error=words[0]), *words[1:]]
        else:
            tells = "dtype" in self.words or "where" in self.words
            words = [_("({words})").format(words=said(self.words))] if tells else []
            shown = [*self._difference(max(MAX_LINES - len(self.call) - len(words), MIN_SHOWN)), *words]
        drawn = self.call[1:]
        room = MAX_LINES - len(shown)
        call = textwrap.wrap(self.call[0], WIDEST, subsequent_indent="    ", break_on_hyphens=False)
        if len(call) > min(room, LONGEST_CALL):
            call = [*call[: min(room, LONGEST_CALL) - 1], call[min(room, LONGEST_CALL) - 1][: WIDEST - 4] + " ..."]
        return [*call, *(drawn if len(drawn) <= room - len(call) else ()), *shown]

    def _difference(self, most: int) -> list[str]:
        """Both values; of nested ones that are too long for a glance, the first element that differs, and its place."""
        if max(len(inline(value)) for value in (self.expected, self.got)) <= SHORT:
            return side_by_side(self.expected, self.got, most, self.tolerance)
        where, got, expected = first_difference(self.got, self.expected, self.tolerance)
        if not where:
            return side_by_side(self.expected, self.got, most, self.tolerance)
        shown = side_by_side(expected, got, most - 1, self.tolerance)
        outer = self.expected, self.got
        for key in where[:-1]:  # the smallest part around it that can be read at a glance tells more than one number
            outer = outer[0][key], outer[1][key]
            if max(len(inline(value)) for value in outer) <= SHORT:
                shown = side_by_side(*outer, most - 1, self.tolerance)
                break
        return [_("the first difference is at {place}").format(place=place_in_words(where)), *shown]


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
            raise self._mismatch(self._text(), expected, seen.value, words, tolerance)
        for key in seen.changed:
            raise self._overwritten(key)

    def keeps(self, given: Any) -> None:
        """The function returns what it has handed to another one, which must be as it was ``given``."""
        __tracebackhide__ = True
        self.judgement = lambda call: call.keeps(given)
        seen = self._observe(given)
        if difference(seen.value, given):
            raise self._mismatch(self._text(), given, seen.value, OVERWRITTEN)

    def fills(self, out: np.ndarray, expected: Any, tolerance: float = 0.0) -> None:
        """It writes this into ``out``, one of the arguments, and leaves the others as they are."""
        __tracebackhide__ = True
        self.judgement = lambda call: call.fills(out, expected, tolerance)
        seen = self._observe(expected)
        key = next(key for key, value in self._arguments().items() if value is out)
        words = difference(np.asarray(seen.changed.get(key, out)), expected, tolerance)
        if words:
            words = words if key in seen.changed else NOT_FILLED
            raise self._mismatch(self._text(hidden=key), expected, np.asarray(seen.changed.get(key, out)), words)
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
            raise self._mismatch(self._text(), expected, seen.value, NO_ERROR)
        if kind.__name__ not in seen.raised.bases or words.lower() not in seen.raised.message.lower():
            raise self._mismatch(self._text(), expected, seen.raised, ANOTHER_ERROR)

    def answer(self) -> Any:
        """What it returns, for a test that has more to say of it than that it is equal to something."""
        __tracebackhide__ = True
        self.judgement = lambda call: cast("None", call.answer())
        return self._observe(Words(noop("an answer"), {})).value

    def _observe(self, expected: Any) -> Observation:
        __tracebackhide__ = True
        seen = self._call()
        if seen.raised:
            raise self._mismatch(self._text(), expected, seen.raised, "an error")
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

    def _mismatch(self, call: list[str], expected: Any, got: Any, words: str, tolerance: float = 0.0) -> Mismatch:
        function = self.function.name if isinstance(self.function, Function) else ""
        mismatch = Mismatch(call, expected, got, words, function, tolerance)
        mismatch.made = self
        return mismatch

    def _overwritten(self, key: int | str) -> Mismatch:
        name = self._name(key)
        untouched, overwritten = phrase("{name} untouched", name=name), phrase("{name} overwritten", name=name)
        return self._mismatch(self._text(), said(untouched), said(overwritten), OVERWRITTEN)

    def _arguments(self) -> dict[int | str, Any]:
        return dict([*enumerate(self.args), *self.kwargs.items()])

    def _name(self, key: int | str) -> str:
        return _("argument {number}").format(number=key + 1) if isinstance(key, int) else key

    def _text(self, hidden: int | str | None = None) -> list[str]:
        """``im2col(x, 3, stride=2)``; small arrays are drawn below, under the names x, y, z."""
        name = getattr(self.function, "name", getattr(self.function, "__name__", "call"))
        parts: list[str] = []
        drawn: list[str] = []
        letters = iter("xyzuvw")
        for key, value in self._arguments().items():
            if isinstance(value, Implementation):
                continue
            text = inline(value, LONGEST_ARGUMENT)
            if key == hidden:
                text = "out"
            elif isinstance(value, np.ndarray) and value.size > 6:
                letter = next(letters, "a")
                text = letter
                drawn += _drawn(letter, value)
            parts.append(text if isinstance(key, int) else f"{key}={text}")
        return [f"{name}({', '.join(parts)})", *drawn[:MAX_SHOWN]]


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


def _drawn(letter: str, array: np.ndarray) -> list[str]:
    lines = grid(array)
    first = f"{letter} = {lines[0]}"
    first = first if array.ndim == 2 else _("{array}  shape {shape}").format(array=first, shape=array.shape)
    return [f"  {first}", *(f"      {line}" for line in lines[1:])]


__all__ = ["Mismatch", "StudentError", "calling", "same"]

"""Whether a plain value is what was expected: strict about types and shapes, tolerant only where the test says so."""

from __future__ import annotations

import cmath
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.course.grids import WIDEST, Shown, close, inline
from kuiper.course.phrases import phrase
from kuiper.course.wire import type_name
from kuiper.language import _, noop

if TYPE_CHECKING:
    from collections.abc import Iterator

ANOTHER, ANOTHER_KIND = noop("another value"), noop("{got} where {expected} is expected")
AT_KEY, OTHER_SHAPE = noop("{words} at key {key}"), noop("shape {got} where {expected} is expected")


def difference(got: Any, expected: Any, tolerance: float = 0.0) -> str | None:
    """What is different, in a few words; None if nothing is.

    A list of numbers may stand for an array that is expected. ``tolerance`` is relative to the largest expected number.

    >>> difference((2, 3), (3, 2))
    'another value'
    >>> difference([1.0], [1])
    'float where int is expected'
    """
    try:
        return _difference(got, expected, tolerance)
    except Exception as error:  # an answer may be any object, and such an object may raise whatever is asked of it
        return phrase("{got}, which cannot be compared ({error})", got=_kind(got), error=type(error).__name__)


def _difference(got: Any, expected: Any, tolerance: float) -> str | None:
    if isinstance(got, np.ndarray) and isinstance(expected, tuple) and any(isinstance(x, np.ndarray) for x in expected):
        return phrase(ANOTHER_KIND, got=_kind(got), expected="tuple")
    if isinstance(got, np.ndarray) or isinstance(expected, np.ndarray):
        return _array_difference(got, expected, tolerance)
    if isinstance(expected, (list, tuple)) and isinstance(got, (list, tuple)):
        return _sequence_difference(got, expected, tolerance)
    if isinstance(expected, dict) and isinstance(got, dict):
        if got.keys() != expected.keys():
            return phrase("other keys")
        parts = ((key, _difference(got[key], expected[key], tolerance)) for key in expected)
        return next((phrase(AT_KEY, words=words, key=inline(key)) for key, words in parts if words), None)
    if _kind(got) != _kind(expected) and (_kind(got), _kind(expected)) != ("int", "float"):
        return phrase(ANOTHER_KIND, got=_kind(got), expected=_kind(expected))
    if _kind(expected) in ("int", "float", "complex"):
        return None if _is_close(_plain_number(got), _plain_number(expected), tolerance) else phrase(ANOTHER)
    return None if got == expected else phrase(ANOTHER)


class Nothing(Shown):
    """Stands for an element that is expected and did not come, or the other way round."""

    def __str__(self) -> str:
        return "nothing"

    def shown(self) -> str:
        return _("nothing")


def first_difference(got: Any, expected: Any, tolerance: float = 0.0) -> tuple[tuple[Any, ...], Any, Any]:
    """Where two values that differ do so first: the way there, index by index and key by key, and what stands there.

    >>> first_difference([("a", 1), ("b", 2)], [("a", 1), ("b", 3)])
    ((1, 1), 2, 3)
    >>> where, *parts = first_difference([5], [5, 6])
    >>> where, *map(str, parts)
    ((1,), 'nothing', '6')
    """
    where: list[Any] = []
    while True:
        for key, part, wanted in _parts(got, expected):
            if Nothing in (type(part), type(wanted)):
                return (*where, key), part, wanted
            if difference(part, wanted, tolerance):
                where.append(key)
                got, expected = part, wanted
                break
        else:
            return tuple(where), got, expected


def place_of_kind(got: Any, expected: Any, tolerance: float = 0.0) -> tuple[Any, ...]:
    """Where two values first differ in type, dtype, shape or length: the way to these, and not into a list of another.

    >>> place_of_kind({"a": [[1, 2]]}, {"a": [[5]]})
    ('a', 0)
    """
    where, *_parts_there = first_difference(got, expected, tolerance)
    for depth, key in enumerate(where):
        if isinstance(expected, (list, tuple)) and len(got) != len(expected):
            return where[:depth]
        got, expected = got[key], expected[key]
    return where


def place_in_words(where: tuple[Any, ...]) -> str:
    """A way as ``first_difference`` gives it, for a reader.

    >>> place_in_words((2, 1))
    'element 2, in it element 1 (counted from 0)'
    >>> place_in_words(("boxes",))
    "key 'boxes'"
    """
    words = way_in_words(where)
    counted = any(isinstance(key, int) for key in where)
    return _("{place} (counted from 0)").format(place=words) if counted else words


def way_in_words(where: tuple[Any, ...]) -> str:
    """The same without the rule by which elements are counted; "" for a value as a whole.

    >>> way_in_words(("boxes", 2))
    "key 'boxes', in it element 2"
    """
    words = ""
    for key in where:
        element, at_key = _("element {number}").format(number=key), _("key {key}").format(key=inline(key))
        inner = element if isinstance(key, int) else at_key
        words = _("{outer}, in it {inner}").format(outer=words, inner=inner) if words else inner
    return words if len(words) <= WIDEST else words[: WIDEST - 4] + " ..."


def _parts(got: Any, expected: Any) -> Iterator[tuple[Any, Any, Any]]:
    """The elements of two lists, tuples or dicts, side by side, with their index or key."""
    if isinstance(expected, (list, tuple)) and type(got) is type(expected):
        for index, (part, wanted) in enumerate(zip_longest(got, expected, fillvalue=Nothing())):
            yield index, part, wanted
    elif isinstance(expected, dict) and isinstance(got, dict):
        for key in [*expected, *(key for key in got if key not in expected)]:
            yield key, got.get(key, Nothing()), expected.get(key, Nothing())


def _kind(value: Any) -> str:
    if issubclass(type(value), np.generic):
        value = value.item()
    return type_name(value)


def _plain_number(value: Any) -> Any:
    """Python's own number: whole ones have any size, and a class of another name is no number."""
    value = value.item() if isinstance(value, np.generic) else value
    if type(value) not in (int, float, complex):
        raise TypeError(type_name(value))
    return value


def _is_close(got: complex, expected: complex, tolerance: float) -> bool:
    if got == expected or (got != got and expected != expected):
        return True
    try:
        return bool(tolerance) and cmath.isfinite(expected) and abs(got - expected) <= tolerance * (abs(expected) or 1)
    except OverflowError:  # an integer that no float is as large as
        return False


def _sequence_difference(got: Any, expected: Any, tolerance: float) -> str | None:
    if type(got) is not type(expected):
        return phrase(ANOTHER_KIND, got=_kind(got), expected=_kind(expected))
    if len(got) != len(expected):
        return phrase("length {got} where {expected} is expected", got=len(got), expected=len(expected))
    parts = (_difference(a, b, tolerance) for a, b in zip(got, expected, strict=True))
    return next((words for words in parts if words), None)


def _array_difference(got: Any, expected: Any, tolerance: float) -> str | None:
    if not isinstance(got, np.ndarray):
        return phrase("{got} where an array is expected", got=_kind(got))
    wanted = np.asarray(expected)
    if isinstance(expected, np.ndarray) and got.dtype != wanted.dtype:
        return phrase("dtype {got} where {expected} is expected", got=str(got.dtype), expected=str(wanted.dtype))
    if got.shape != wanted.shape:
        return phrase(OTHER_SHAPE, got=got.shape, expected=wanted.shape)
    if got.dtype.kind not in "biufc" or wanted.dtype.kind not in "biufc":
        return None if np.array_equal(got, wanted) else phrase("other values")
    wrong = int((~close(got, wanted, tolerance)).sum())
    return phrase("{wrong} of {all} values differ", wrong=wrong, all=got.size) if wrong else None

"""How a wrong text, number, list or dict resembles the right one, as ``resemblance`` says it of arrays."""

from __future__ import annotations

from typing import Any

from kuiper.course.comparison import difference, first_difference
from kuiper.course.grids import inline
from kuiper.course.phrases import phrase
from kuiper.language import noop

NUMBERS = (int, float)
MISSING = (noop("the last element is missing"), noop("the first element is missing"))
TOO_MANY = (noop("the last element is one too many"), noop("the first element is one too many"))
LEFT = (
    noop("{text} is left in front of a text"),
    noop("{text} is left behind a text"),
    noop("{one} and {other} are left around a text"),
)
CUT_OFF = (
    noop("{text} is cut off in front of a text"),
    noop("{text} is cut off behind a text"),
    noop("{one} and {other} are cut off around a text"),
)
TOO_LARGE = noop("an integer is one too large: counted from 1 instead of 0, or rounded the wrong way")
TOO_SMALL = noop("an integer is one too small: counted from 0 instead of 1, or rounded the wrong way")
SHORT = 30  # signs of a value within a sentence


def plain_resemblance(got: Any, expected: Any) -> str:
    """Completes "this is what you get when ..." of the first place where they differ; "" where nothing is alike.

    >>> plain_resemblance({"shape": ("3", 4)}, {"shape": (3, 4)})
    'a number is left as text: int(...) or float(...) makes one of it'
    >>> plain_resemblance(["@bias"], ["bias"])
    "'@' is left in front of a text"
    >>> plain_resemblance([1, 2, 3], [3, 2, 1])
    'the elements come in reversed order'
    """
    where, part, wanted = first_difference(got, expected)
    outer = got, expected
    for depth, key in enumerate(where):  # what is said of a whole list tells more than what is said of its element
        words = _of_dicts(*outer) or _of_sequences(*outer)
        if words:
            return words
        if depth + 1 < len(where):
            outer = outer[0][key], outer[1][key]
    return _of_types(part, wanted) or _of_texts(part, wanted) or _of_numbers(part, wanted)


def _of_sequences(got: Any, expected: Any) -> str:
    if type(got) is not type(expected) or type(got) not in (list, tuple) or not got or not expected:
        return ""
    if len(got) == len(expected) > 1:
        if _equal(got, expected[::-1]):
            return phrase("the elements come in reversed order")
        if sorted(map(inline, got)) == sorted(map(inline, expected)):
            return phrase("the elements are the right ones, but come in another order")
    for more, fewer, last, first in ((expected, got, *MISSING), (got, expected, *TOO_MANY)):
        if len(more) == len(fewer) + 1 and len(fewer) > 1:
            if _equal(more[:-1], fewer):
                return phrase(last)
            if _equal(more[1:], fewer):
                return phrase(first)
    return ""


def _of_dicts(got: Any, expected: Any) -> str:
    if type(got) is not dict or type(expected) is not dict:
        return ""
    missing = [key for key in expected if key not in got]
    strange = [key for key in got if key not in expected]
    if missing and strange:
        words = _of_texts(strange[0], missing[0])
        return phrase("in the key {key} {words}", key=inline(strange[0], SHORT), words=words) if words else ""
    if missing:
        return phrase("the key {key} is left out", key=inline(missing[0], SHORT))
    if not strange:
        return ""
    return phrase("there is a key {key}, which should not be there", key=inline(strange[0], SHORT))


def _of_types(got: Any, expected: Any) -> str:
    if type(got) is str and type(expected) in NUMBERS:
        return phrase("a number is left as text: int(...) or float(...) makes one of it")
    if type(got) in NUMBERS and type(expected) is str:
        return phrase("a text is made a number, and should stay what it is")
    if type(got) is str and expected is None:
        return phrase("the text {text} stands where None is asked for", text=inline(got, SHORT))
    if type(got) is str and type(expected) is list:
        return phrase("the text {text} is not taken apart into a list", text=inline(got, SHORT))
    if type(got) is list and type(expected) is str:
        return phrase("a text is taken apart into a list, and should stay what it is")
    if type(expected) is bool and type(got) in (*NUMBERS, str):
        return phrase("{value} stands where True or False is asked for", value=inline(got, SHORT))
    if got is None:
        return phrase("None stands where {value} is asked for", value=inline(expected, SHORT))
    return ""


def _of_texts(got: Any, expected: Any) -> str:
    if type(got) is not str or type(expected) is not str or not got or not expected:
        return ""
    if got.lower() == expected.lower():
        return phrase("upper and lower case are not those asked for")
    for longer, shorter, (before, behind, around) in ((got, expected, LEFT), (expected, got, CUT_OFF)):
        rest = len(longer) - len(shorter)
        if rest > 0 and longer.endswith(shorter):
            return phrase(before, text=inline(longer[:rest], SHORT))
        if rest > 0 and longer.startswith(shorter):
            return phrase(behind, text=inline(longer[-rest:], SHORT))
        if rest == 2 and longer[1:-1] == shorter:
            return phrase(around, one=repr(longer[0]), other=repr(longer[-1]))
    return ""


def _of_numbers(got: Any, expected: Any) -> str:
    if type(got) not in NUMBERS or type(expected) not in NUMBERS:
        return ""
    if got == -expected:
        return phrase("a sign is turned")
    if type(got) is int and type(expected) is int and abs(got - expected) == 1:
        return phrase(TOO_LARGE if got > expected else TOO_SMALL)
    return ""


def _equal(got: Any, expected: Any) -> bool:
    return difference(got, expected) is None

"""How a wrong text, number, list or dict resembles the right one, as ``resemblance`` says it of arrays."""

from __future__ import annotations

from typing import Any

from kuiper.course.comparison import difference, first_difference
from kuiper.course.grids import inline

NUMBERS = (int, float)
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
            return "the elements come in reversed order"
        if sorted(map(inline, got)) == sorted(map(inline, expected)):
            return "the elements are the right ones, but come in another order"
    for more, fewer, what in ((expected, got, "is missing"), (got, expected, "is one too many")):
        if len(more) == len(fewer) + 1 and len(fewer) > 1:
            if _equal(more[:-1], fewer):
                return f"the last element {what}"
            if _equal(more[1:], fewer):
                return f"the first element {what}"
    return ""


def _of_dicts(got: Any, expected: Any) -> str:
    if type(got) is not dict or type(expected) is not dict:
        return ""
    missing = [key for key in expected if key not in got]
    strange = [key for key in got if key not in expected]
    if missing and strange:
        words = _of_texts(strange[0], missing[0])
        return f"in the key {inline(strange[0], SHORT)} {words}" if words else ""
    if missing:
        return f"the key {inline(missing[0], SHORT)} is left out"
    return f"there is a key {inline(strange[0], SHORT)}, which should not be there" if strange else ""


def _of_types(got: Any, expected: Any) -> str:
    if type(got) is str and type(expected) in NUMBERS:
        return "a number is left as text: int(...) or float(...) makes one of it"
    if type(got) in NUMBERS and type(expected) is str:
        return "a text is made a number, and should stay what it is"
    if type(got) is str and expected is None:
        return f"the text {inline(got, SHORT)} stands where None is asked for"
    if type(got) is str and type(expected) is list:
        return f"the text {inline(got, SHORT)} is not taken apart into a list"
    if type(got) is list and type(expected) is str:
        return "a text is taken apart into a list, and should stay what it is"
    if type(expected) is bool and type(got) in (*NUMBERS, str):
        return f"{inline(got, SHORT)} stands where True or False is asked for"
    if got is None:
        return f"None stands where {inline(expected, SHORT)} is asked for"
    return ""


def _of_texts(got: Any, expected: Any) -> str:
    if type(got) is not str or type(expected) is not str or not got or not expected:
        return ""
    if got.lower() == expected.lower():
        return "upper and lower case are not those asked for"
    for longer, shorter, verb in ((got, expected, "left"), (expected, got, "cut off")):
        rest = len(longer) - len(shorter)
        if rest > 0 and longer.endswith(shorter):
            return f"{inline(longer[:rest], SHORT)} is {verb} in front of a text"
        if rest > 0 and longer.startswith(shorter):
            return f"{inline(longer[-rest:], SHORT)} is {verb} behind a text"
        if rest == 2 and longer[1:-1] == shorter:
            return f"{longer[0]!r} and {longer[-1]!r} are {verb} around a text"
    return ""


def _of_numbers(got: Any, expected: Any) -> str:
    if type(got) not in NUMBERS or type(expected) not in NUMBERS:
        return ""
    if got == -expected:
        return "a sign is turned"
    if type(got) is int and type(expected) is int and abs(got - expected) == 1:
        size = "large" if got > expected else "small"
        return f"an integer is one too {size}: counted from the wrong end, or rounded the wrong way"
    return ""


def _equal(got: Any, expected: Any) -> bool:
    return difference(got, expected) is None

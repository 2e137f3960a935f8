"""How far a wrong answer, or an error, is that of a mistake."""

from __future__ import annotations

import re
from enum import IntEnum
from typing import Any

from kuiper.course.comparison import difference
from kuiper.course.implementation import StudentError
from kuiper.course.observation import Raised
from kuiper.course.testing import UNREFUSED, Mismatch

VARIANT = re.compile(r"__\d+\b|(?<=')[^'\n]*[/\\](?=[^'/\\\n]+')")
"""What two runs of the same mistake say otherwise: numbers of variants, and folders that were made for one run."""
QUOTED = re.compile(r"'([^']*)'")
WORDS = re.compile(r"[\w.@]*\w|[^\w\s]")
NUMBER = re.compile(r"\d+")
TOLERANCE = 1e-6


class Likeness(IntEnum):
    """How far an answer is that of a mistake."""

    NONE = 0
    LOOSE = 1  # as IN_KIND, but no number is in the words of both, or only the student's error is raised on purpose
    IN_KIND = 2  # both raise an error of this type on purpose, each in words of its own; or both fail to refuse a case
    EXACT = 3


BEST_FIRST = (Likeness.EXACT, Likeness.IN_KIND, Likeness.LOOSE)


def likeness(error: Mismatch | StudentError, other: BaseException | None) -> Likeness:
    """How far the second error, of a mistake, is like the first one, of a student."""
    if isinstance(error, StudentError):
        if not isinstance(other, StudentError) or other.function != error.function:
            return Likeness.NONE
        return _raised_alike(error.raised, other.raised)
    if not isinstance(other, Mismatch) or other.call != error.call:
        return Likeness.NONE
    if error.words in UNREFUSED and other.words in UNREFUSED:
        return _unrefused_alike(error.got, other.got)
    if isinstance(other.got, Raised) or isinstance(error.got, Raised):
        return _raised_alike(error.got, other.got, error.call[0])
    # Both ways: an array is also expected where a list of the same numbers stands.
    is_equal = not (difference(other.got, error.got, TOLERANCE) or difference(error.got, other.got, TOLERANCE))
    return Likeness.EXACT if is_equal else Likeness.NONE


def _raised_alike(one: Any, other: Any, call: str = "") -> Likeness:
    """By type and message; of a loop only the type, for each may have another limit.

    Messages in words of their own may not speak of different texts of the call.
    """
    if not isinstance(one, Raised) or not isinstance(other, Raised) or one.type != other.type:
        return Likeness.NONE
    if one.type == "EndlessLoop" or VARIANT.sub("", one.message) == VARIANT.sub("", other.message):
        return Likeness.EXACT
    if not one.is_on_purpose:
        return Likeness.NONE
    texts = [text for quoted in QUOTED.findall(call) for text in (quoted, *quoted)]
    named, others = ({text for text in texts if text in WORDS.findall(raised.message)} for raised in (one, other))
    if named and others and not named & others:
        return Likeness.NONE
    counted, others = (set(NUMBER.findall(raised.message)) for raised in (one, other))
    is_of_another = counted and others and not counted & others
    return Likeness.LOOSE if is_of_another or not other.is_on_purpose else Likeness.IN_KIND


def _unrefused_alike(one: Any, other: Any) -> Likeness:
    """What comes of a case that nobody refuses depends on how the rest is written. A wrong message must be the same."""
    if _raised_alike(one, other) == Likeness.EXACT:
        return Likeness.EXACT
    raised = [got for got in (one, other) if isinstance(got, Raised)]
    if any(got.is_on_purpose or got.type == "EndlessLoop" for got in raised):
        return Likeness.NONE
    return Likeness.IN_KIND if raised or difference(other, one, TOLERANCE) else Likeness.EXACT

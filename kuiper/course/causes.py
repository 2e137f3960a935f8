"""What most often is behind an error that no known mistake explains: a sentence for what compilers and Python say."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.course.compile_causes import COMPILING
from kuiper.course.error_causes import ANSWERING, NOTHING_RETURNED, RAISING
from kuiper.course.implementation import StudentError
from kuiper.course.observation import Raised
from kuiper.course.phrases import phrase
from kuiper.course.plain_resemblance import plain_resemblance
from kuiper.course.resemblance import resemblance
from kuiper.course.testing import UNREFUSED, Mismatch

if TYPE_CHECKING:
    from collections.abc import Sequence

NEVER_CHECKED = ("EndlessLoop", "Crash", "ExerciseSyntaxError", "BuildError", "NameError", "UnboundLocalError")
PRECISE = re.compile(
    r"^(?:NameError|UnboundLocalError|ImportError|ModuleNotFoundError|SystemExit|EOFError): "
    r"|NoneType|Buffer (?:dtype|has wrong number)|arguments? \(\d+ given\)|missing \d+ required|values to unpack"
    r"|core dimension|not aligned|truth value of an array|no attribute|not callable|not subscriptable|not iterable"
    r"|unhashable|item assignment|dictionary changed"
)
"""Errors whose cause is certain: any change that leaves the failing expression out makes them go away."""
MENTIONS = re.compile(r"^(?P<type>\w+)(?: that mentions (?P<word>.*))?$", re.DOTALL)
"""What ``raises`` of a test asks for, in its words."""
FRAME = re.compile(r'^  File "[^"]*\bexercises[/\\][^"]*", line \d+, in (?:[\w.]*\.)?(\w+)$', re.MULTILINE)
"""A function of the student's, in a trace."""
SHAPES = re.compile(r"^shape \(([\d, ]*)\) where \(([\d, ]*)\) is expected")


def cause_of(raised: Raised) -> str:
    """The words for an error; "" if it has no typical cause.

    >>> cause_of(Raised("NameError", (), "name 'np' is not defined"))
    '`import numpy as np` is missing at the top of the file'
    """
    if raised.type == "ExerciseSyntaxError":
        return _first(COMPILING, raised.message)
    if raised.is_on_purpose:
        return _of_own_check(raised)
    line = re.search(r":\d+: (.*)$", raised.place)  # the student's, which some sentences go by, too
    return _first(RAISING, f"{raised.type}: {raised.message}" + (f"\n{line[1]}" if line else ""))


def _of_own_check(raised: Raised) -> str:
    """A check refuses too much; or it is right, and what its function is called with is not."""
    called = FRAME.findall(raised.trace)
    if len(called) > 1 and called[-2] != called[-1]:
        return phrase(
            "`{inner}` refuses what `{outer}` hands to it: its check, in the line shown, may be right",
            inner=called[-1],
            outer=called[-2],
        )
    return phrase("your own check, in the line shown, refuses what is allowed")


def typical_cause(error: BaseException) -> str:
    """The words for what a test has raised: for the student's error, or for an answer that is wrong in a typical way.

    >>> from kuiper.course.testing import Mismatch
    >>> typical_cause(Mismatch(["f()"], (1, 2), [1, 2], "list where tuple is expected"))
    'a list is returned where a tuple is asked for: tuple(...) makes one of it'
    """
    try:
        return _typical_cause(error)
    except Exception:  # an answer may be any object, and such an object may raise whatever is asked of it
        return ""


def certain_cause(error: BaseException) -> str:
    """The words for an answer of another type or dtype, or for an array that should be written to, or should not.

    Nothing else explains these as well.
    """
    return _of_answer(error) if isinstance(error, Mismatch) else ""


def has_precise_cause(error: BaseException) -> bool:
    """Whether an error says itself what is wrong, so that no slip elsewhere explains it better."""
    raised = raised_in(error)
    if raised is None or raised.is_on_purpose or not typical_cause(error):
        return False
    return PRECISE.search(f"{raised.type}: {raised.message}") is not None


def _typical_cause(error: BaseException) -> str:
    if isinstance(error, StudentError):
        return cause_of(error.raised)
    if not isinstance(error, Mismatch):
        return ""
    if error.words in UNREFUSED:
        return _of_no_refusal(error) or (cause_of(error.got) if isinstance(error.got, Raised) else "")
    if isinstance(error.got, Raised):
        return cause_of(error.got)
    return (
        _of_shapes(error)
        or _of_answer(error)
        or resemblance(error.got, error.expected)
        or plain_resemblance(error.got, error.expected)
    )


def _of_answer(error: Mismatch) -> str:
    """Why an answer is of another type, or a part of it."""
    words = _first(ANSWERING, error.words)
    is_part = words == NOTHING_RETURNED and error.got is not None
    return phrase("a part of what is returned is None") if is_part else words


def _of_no_refusal(error: Mismatch) -> str:
    """Why the error that a test asks for does not come: it has other words or another type, or nothing looks for it."""
    asked, got = MENTIONS.match(str(error.expected)), error.got
    if asked is None or (isinstance(got, Raised) and got.type in NEVER_CHECKED):
        return ""
    if not isinstance(got, Raised):
        return phrase(
            "nothing checks for this case: an `if` with `raise {type}(...)` is missing, or asks too little",
            type=asked["type"],
        )
    if asked["type"] in got.bases:
        return phrase("the error is the right one, but its message does not have {word}", word=asked["word"])
    if got.is_on_purpose:
        return phrase(
            "the error that is raised is a {got}, where a {type} is asked for", got=got.type, type=asked["type"]
        )
    return phrase(
        "nothing checks for this case, so that Python's own {got} comes: `raise` one of yours before it", got=got.type
    )


def raised_in(error: BaseException | None) -> Raised | None:
    """What the student's code has raised, within the error of a test."""
    if isinstance(error, StudentError):
        return error.raised
    return error.got if isinstance(error, Mismatch) and isinstance(error.got, Raised) else None


def is_python_s_own(error: BaseException) -> bool:
    """Whether a test asks for an error of the student's own, and what comes is one that Python raises by itself."""
    if not isinstance(error, Mismatch) or error.words not in UNREFUSED or not isinstance(error.got, Raised):
        return False
    return not error.got.is_on_purpose and error.got.type not in NEVER_CHECKED


def _of_shapes(error: Mismatch) -> str:
    """What happened to the axes."""
    found = SHAPES.match(error.words)
    if found is None:
        return ""
    got, wanted = ([int(size) for size in text.split(",") if size.strip()] for text in found.groups())
    if len(got) != len(wanted) and [n for n in got if n != 1] == [n for n in wanted if n != 1]:
        if len(got) > len(wanted):
            return phrase("an axis of length 1 is left over (keepdims, or None as an index)")
        return phrase("an axis of length 1 is missing")
    if len(got) == len(wanted) + 1:
        return phrase("the answer has an axis too many")
    if len(got) == len(wanted) - 1:
        return phrase(
            "the answer lacks an axis: an index or a sum takes one away, `[None]` and `keepdims=True` keep it"
        )
    if sorted(got) == sorted(wanted):
        return phrase("the axes of the answer are in another order: a transpose is missing, or one is too many")
    if math.prod(got) == math.prod(wanted) and _has_the_numbers(error.got, error.expected):
        return phrase(
            "the numbers are as many as they should be, but their shape is another: a `reshape` is missing, or wrong"
        )
    return ""


def _has_the_numbers(got: Any, expected: Any) -> bool:
    """Whether an array has those of another one, in whatever places."""
    return np.array_equal(np.sort(np.ravel(got)), np.sort(np.ravel(np.asarray(expected, np.asarray(got).dtype))))


def _first(table: Sequence[tuple[str, str]], text: str) -> str:
    for pattern, words in table:
        found = re.search(pattern, text)
        if found:
            return phrase(words, **dict(zip(("one", "two", "three"), found.groups(), strict=False)))
    return ""

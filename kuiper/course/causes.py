"""What most often is behind an error that no known mistake explains: a sentence for what compilers and Python say."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from kuiper.course.compile_causes import COMPILING
from kuiper.course.implementation import StudentError
from kuiper.course.observation import Raised
from kuiper.course.plain_resemblance import plain_resemblance
from kuiper.course.resemblance import resemblance
from kuiper.course.testing import NOT_FILLED, OVERWRITTEN, UNREFUSED, Mismatch

if TYPE_CHECKING:
    from collections.abc import Sequence

SOMETHING_IS_NONE = "something is None: a function without `return`, or an argument that may be left out"
# As COMPILING: each completes "this is what you get when ...", and the first that fits is taken.
RAISING: Sequence[tuple[str, str]] = (
    (
        r"EndlessLoop: ",
        "a loop never ends: does its condition become false, does its counter change in each turn, does the list "
        "that it goes through grow?",
    ),
    (r"NameError: name '(np|numpy)' is not defined", "`import numpy as np` is missing at the top of the file"),
    (r"NameError: name '(\w+)' is not defined", "`{0}` has no value yet, or its name is spelled in another way"),
    (r"UnboundLocalError: .*variable '(\w+)'", "`{0}` is read before it has a value, in this call at least"),
    (
        r"(?:TypeError|AttributeError): .*'?NoneType'?",
        SOMETHING_IS_NONE,
    ),
    (
        r"ValueError: Buffer dtype mismatch, expected '([\w ]+)' but got '([\w ]+)'",
        "an array of {1} is handed to a function that takes {0}: NumPy makes float64 where no dtype is given",
    ),
    (
        r"ValueError: Buffer has wrong number of dimensions \(expected (\d+), got (\d+)\)",
        "an array with {1} axes is handed to a function that takes {0}",
    ),
    (r"IndexError: Out of bounds on buffer access \(axis (\d)\)", "an index of axis {0} is too large, or negative"),
    (r"ArrayIndexError: ", "an index is too large, or negative"),
    (r"(?:IndexError|KeyError): .*pop from (?:an )?empty", "something is taken out of a list that is empty by now"),
    (r"IndexError: (list|tuple|string) index out of range", "an index is not smaller than the length of the {0}"),
    (r"RuntimeError: dictionary changed size during", "a dictionary is changed while a loop goes through it"),
    (
        r"RecursionError: ",
        "a function calls itself without end, or deeper than Python allows (a thousand calls, one within the other)",
    ),
    (r"ZeroDivisionError: ", "something is divided by 0: what if there is nothing to count?"),
    (r"TypeError: unhashable type: '(\w+)'", "a {0} is put into a set, or is the key of a dictionary: a tuple can be"),
    (r"TypeError: '(\w+)' object is not subscriptable", "an index is used on a {0}, which has no elements"),
    (r"TypeError: '(\w+)' object is not iterable", "a loop goes through a {0}, which has no elements"),
    (
        r"TypeError: '(float|numpy\.float\d+)' object cannot be interpreted",
        "an index or a length is a {0}: `/` makes one, `//` does not",
    ),
    (
        r"(?:TypeError|IndexError): .*indices must be integers",
        "an index is no integer: `/` makes a float, `//` does not",
    ),
    (r"ValueError: .*truth value of an array", "an array is asked whether it is true: `any()` or `all()` is missing"),
    (
        r"ValueError: operands could not be broadcast together with shapes (\([\d, ]*\)) (\([\d, ]*\))",
        "arrays of the shapes {0} and {1} are combined number by number: the sizes must agree from the last axis "
        "on, so one of them needs another shape",
    ),
    (
        r"shape mismatch: indexing arrays could not be broadcast",
        "two arrays of indices are used at once: NumPy takes them in pairs, not as rows and columns",
    ),
    (
        r"inhomogeneous shape",
        "parts of several lengths are to become one array: np.concatenate joins them",
    ),
    (
        r"array dimensions (?:except for|for) the concatenation axis must match|same number of dimensions",
        "arrays are joined whose other axes do not have the same lengths: is it the right `axis`?",
    ),
    (
        r"mismatch in its core dimension|shapes \(.*\) and \(.*\) not aligned",
        "the rows of the left side of a product do not fit the columns of the right one: is one to be transposed?",
    ),
    (
        r"could not broadcast input array from shape (\(.*?\)) into shape (\(.*?\))",
        "an array of the shape {0} is stored where there is room for the shape {1}",
    ),
    (
        r"cannot reshape array of size (\d+) into shape (\([\d, -]*\))",
        "an array of {0} numbers is to get the shape {1}, which has a different number",
    ),
    (
        r"Cannot cast ufunc '\w+' output from dtype\('(\w+)'\) to dtype\('(\w+)'\)",
        "an array of {1} is changed in place by numbers that are {0}: `x = x / y` makes a new array, `x /= y` does not",
    ),
    (
        r"only (?:0-dimensional|length-1|size-1) arrays can be converted",
        "an array is handed to a function that takes one number, as those of `math` do",
    ),
    (r"invalid literal for int\(\) with base 10: (.+)", "{0} is read by int, which takes digits and a sign"),
    (r"could not convert string to float: (.+)", "float() gets {0}, which is no number"),
    (
        r"too many values to unpack \(expected (\d+)",
        "something has more parts than the {0} names that stand on the left of the `=`",
    ),
    (
        r"not enough values to unpack \(expected (\d+), got (\d+)\)",
        "something has {1} parts where {0} names stand on the left of the `=`",
    ),
    (r"list\.remove\(x\): x not in list", "something is removed from a list that does not hold it"),
    (r"(?:assignment destination|source array) is read-only", "an array that may only be read is written to"),
    (
        r"IndexError: index (-?\d+) is out of bounds for axis (\d+) with size (\d+)",
        "axis {1} of an array has the length {2}, and is asked for the index {0}",
    ),
    (r"IndexError: too many indices for array: array is (\d+)-dimensional", "an array of {0} axes gets more indices"),
    (
        r"TypeError: (?:unsupported operand type\(s\) for .*: '(?:int|float)' and 'str'|.*'str' and '(?:int|float)')",
        "a text is taken for a number: int(...) or float(...) makes one of it",
    ),
    (
        r"TypeError: .*(?:can only concatenate str|must be str, not)",
        "a text and something else are joined by `+`: str(...) or an f-string makes a text of it",
    ),
    (
        r"TypeError: unsupported operand type\(s\) for (\S+): '([\w.]+)' and '([\w.]+)'",
        "`{0}` is used on a {1} and a {2}, which do not go together",
    ),
    (r"TypeError: .* missing \d+ required .* arguments?: (.+)", "a function is called without its {0}"),
    (
        r"TypeError: .*takes (?:exactly|at most|at least) (\d+) positional arguments? \((\d+) given\)",
        "a function that takes {0} arguments is called with {1}",
    ),
    (
        r"TypeError: .* takes .* but (\d+) (?:was|were) given",
        "a function is called with {0} arguments, which it does not take",
    ),
    (r"TypeError: '(\w+)' object is not callable", "a {0} is called like a function: brackets behind it are too many"),
    (
        r"TypeError: '(\w+)' object does not support item assignment",
        "a place in a {0} is written to, which cannot change",
    ),
    (
        r"AttributeError: '([\w.]+)' object has no attribute '(\w+)'",
        "a {0} is asked for its `{1}`, which it has not: nothing has set it, or something else was to be asked",
    ),
    (r"KeyError: (.+)", "a dictionary is asked for {0}, which it does not have: is it asked first whether it has it?"),
    (
        r"CourseError: .*expected a plain value .*, got (generator|map|filter|zip|reversed|enumerate|dict_\w+)",
        "a {0} is returned, which makes its elements only when asked: list(...) makes a list of them",
    ),
    (
        r"CourseError: .*expected a plain value .*, got (\S+)",
        "an object of type {0} is returned, or a part of what is returned: numbers, texts, arrays, lists are asked for",
    ),
    (r"Crash: .*segmentation fault", "memory is touched that is not yours: an index is too large, or a pointer wrong"),
)
NOTHING_RETURNED = "nothing is returned: the `return` is missing"
ANSWERING: Sequence[tuple[str, str]] = (
    (r"^ndarray where tuple", "one array is returned where several are asked for: return a, b"),
    (r"^(?:generator|map|filter|range) where", "something is returned that makes elements only when asked"),
    (r"^NoneType where", NOTHING_RETURNED),
    (r"^list where tuple", "a list is returned where a tuple is asked for: tuple(...) makes one of it"),
    (r"^tuple where list", "a tuple is returned where a list is asked for: list(...) makes one of it"),
    (r"^float where int", "a float is returned where an integer is asked for: `/` makes a float, `//` does not"),
    (
        r"^(?:list|tuple|int|float) where an array",
        "no array is returned: np.array(..., np.float32) makes one of numbers",
    ),
    (
        r"^dtype float64 where float32",
        "the numbers are float64: NumPy makes these where no dtype is given, and of float32 with float64",
    ),
    (r"^dtype (\S+) where (\S+) is", "the numbers are {0}, and {1} is asked for: `.astype` or `dtype=` makes it"),
    (
        rf"^{NOT_FILLED}$",
        "nothing is written into the array that is to be filled: `out[...] = ` writes into it, `out = ` does not",
    ),
    (rf"^{OVERWRITTEN}$", "what was handed in is changed: it belongs to the caller, so a copy is to be changed"),
)
NEVER_CHECKED = ("EndlessLoop", "Crash", "ExerciseSyntaxError", "BuildError", "NameError", "UnboundLocalError")
MENTIONS = re.compile(r"^(?P<type>\w+)(?: that mentions (?P<word>.*))?$", re.DOTALL)
"""What ``raises`` of a test asks for, in its words."""
SHAPES = re.compile(r"^shape \(([\d, ]*)\) where \(([\d, ]*)\) is expected")


def cause_of(raised: Raised) -> str:
    """The words for an error; "" if it has no typical cause.

    >>> cause_of(Raised("NameError", (), "name 'np' is not defined"))
    '`import numpy as np` is missing at the top of the file'
    """
    if raised.type == "ExerciseSyntaxError":
        return _first(COMPILING, raised.message)
    if raised.is_on_purpose:
        return "your own check, in the line shown, refuses what is allowed"
    return _first(RAISING, f"{raised.type}: {raised.message}")


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
        _of_shapes(error.words)
        or _of_answer(error)
        or resemblance(error.got, error.expected)
        or plain_resemblance(error.got, error.expected)
    )


def _of_answer(error: Mismatch) -> str:
    """Why an answer is of another type, or a part of it."""
    words = _first(ANSWERING, error.words)
    return "a part of what is returned is None" if words == NOTHING_RETURNED and error.got is not None else words


def _of_no_refusal(error: Mismatch) -> str:
    """Why the error that a test asks for does not come: it has other words or another type, or nothing looks for it."""
    asked, got = MENTIONS.match(str(error.expected)), error.got
    if asked is None or (isinstance(got, Raised) and got.type in NEVER_CHECKED):
        return ""
    if not isinstance(got, Raised):
        return f"nothing checks for this case: an `if` with `raise {asked['type']}(...)` is missing, or asks too little"
    if asked["type"] in got.bases:
        return f"the error is the right one, but its message does not have {asked['word']}"
    if got.is_on_purpose:
        return f"the error that is raised is a {got.type}, where a {asked['type']} is asked for"
    return f"nothing checks for this case, so that Python's own {got.type} comes: `raise` one of yours before it"


def _of_shapes(words: str) -> str:
    """What happened to the axes."""
    found = SHAPES.match(words)
    if found is None:
        return ""
    got, wanted = ([int(size) for size in text.split(",") if size.strip()] for text in found.groups())
    if len(got) != len(wanted) and [n for n in got if n != 1] == [n for n in wanted if n != 1]:
        what = "left over (keepdims, or None as an index)" if len(got) > len(wanted) else "missing"
        return f"an axis of length 1 is {what}"
    if len(got) == len(wanted) + 1:
        return "the answer has an axis too many"
    if len(got) == len(wanted) - 1:
        return "the answer lacks an axis: an index or a sum takes one away, `[None]` and `keepdims=True` keep it"
    if sorted(got) == sorted(wanted):
        return "the axes of the answer are in another order: a transpose is missing, or one is too many"
    if math.prod(got) == math.prod(wanted):
        return "the numbers are as many as they should be, but their shape is another: a `reshape` is missing, or wrong"
    return ""


def _first(table: Sequence[tuple[str, str]], text: str) -> str:
    for pattern, words in table:
        found = re.search(pattern, text)
        if found:
            return words.format(*found.groups())
    return ""

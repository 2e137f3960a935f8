"""What most often is behind an error that no known mistake explains: a sentence for what compilers and Python say."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kuiper.course.implementation import StudentError
from kuiper.course.observation import Raised
from kuiper.course.testing import Mismatch

if TYPE_CHECKING:
    from collections.abc import Sequence

# Each completes "this is what you get when ..."; the first that fits is taken. {0} and {1} are what the brackets found.
COMPILING: Sequence[tuple[str, str]] = (
    (r"Found the C operator '(\S+)', did you mean the Python operator '(\w+)'", "`{0}` is C: Python says `{1}`"),
    (r"Expected ':', found '='|Maybe you meant '==' or ':='", "`=` is written where `==` is meant"),
    (r"Expected ':', found 'if'", "`else if` is C: Python says `elif`"),
    (
        r"Expected ':', found|expected ':'|Expected ':' after",
        "the colon is missing at the end of an `if`, `for`, `while` or `def`",
    ),
    (r"undeclared name not builtin: (np|numpy)\b", "`import numpy as np` is missing at the top of the file"),
    (
        r"undeclared name not builtin: (INFINITY|\w+f)\b",
        "`{0}` is not imported (`from libc.math cimport {0}` at the top), or its name is spelled in another way",
    ),
    (r"undeclared name not builtin: (\w+)", "`{0}` has no value yet, or its name is spelled in another way"),
    (
        r"cdef statement not allowed here",
        "`cdef` stands inside of a loop or an `if`: all `cdef` lines stand at the beginning of the function",
    ),
    (
        r"Cannot assign type '(?:const )?float' to '(?:const )?float ?\*'",
        "the `&` is missing: `load` and `store` take an address, as in load(&row[i])",
    ),
    (
        r"incompatible types when assigning to type .{0,3}kuiper_vec|assigning to 'kuiper_vec'",
        "a vec is set to one number: splat(number) makes a vec of it",
    ),
    (
        r"incompatible types when assigning to type .{0,3}float.{0,3} from type .{0,3}kuiper_vec",
        "a vec is stored in one number: store(&row[i], x) writes all of its numbers",
    ),
    (
        r"PyFloat_(?:From|As)Double",
        "the `cdef` of a vec is missing: a variable that holds one needs its type, as in `cdef vec x`",
    ),
    (
        r"Cannot convert '?(.*?\*)'? to Python object|Cannot take address of Python",
        "the `cdef` of a variable is missing: one without holds a Python object, which has no address",
    ),
    (
        r"Cannot assign type '\w+' to '(\w+) \[",
        "a whole C array is set at once: a loop sets one number after the other",
    ),
    (r"without gil|nogil has Python", "a `cdef` is missing: a variable without one is a Python object"),
    (r"Assignment to const", "an array that is `const`, which may only be read, is written to"),
    (r"'(\w+)' redeclared", "`{0}` is declared twice: one `cdef` is enough"),
    (r"'(\w+)' is not a type identifier", "`{0}` is no type of C: float, double, int and Py_ssize_t are"),
    (r"Expected '[)\]}]', found|was never closed", "a bracket is opened and not closed, or closed by another one"),
    (r"unmatched '(.)'", "a `{0}` closes a bracket that was not opened"),
    (
        r"Expected an increase in indentation|xpected an indented block",
        "what belongs to an `if`, `for`, `while` or `def` is not indented",
    ),
    (
        r"[Ii]nconsistent indentation|unindent does not match|unexpected indent",
        "lines of one block are not indented alike",
    ),
    (r"tabs and spaces", "some lines are indented by tabs and others by spaces: use spaces only"),
    (r"Unclosed string|unterminated", "a string is opened and not closed"),
    (
        r"Syntax error in simple statement list",
        "a line is no statement: a bracket too many, or a type without `cdef` in front of it",
    ),
)
RAISING: Sequence[tuple[str, str]] = (
    (
        r"EndlessLoop: ",
        "a loop never ends: does its condition become false, does its counter change in each turn, does the list "
        "that it goes through grow?",
    ),
    (r"NameError: name '(np|numpy)' is not defined", "`import numpy as np` is missing at the top of the file"),
    (r"NameError: name '(\w+)' is not defined", "`{0}` has no value yet, or its name is spelled in another way"),
    (r"UnboundLocalError: .*variable '(\w+)'", "`{0}` is read before it has a value, in this call at least"),
    (r"(?:TypeError|AttributeError): .*'?NoneType'?", "something is None: often a function without `return`"),
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
    (r"IndexError: list index out of range", "an index is not smaller than the length of the list"),
    (r"RuntimeError: dictionary changed size during", "a dictionary is changed while a loop goes through it"),
    (r"RecursionError: ", "a function calls itself without end: is there a case in which it does not?"),
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
        "an index is no whole number: `/` makes a float, `//` does not",
    ),
    (r"ValueError: .*truth value of an array", "an array is asked whether it is true: `any()` or `all()` is missing"),
    (
        r"ValueError: operands could not be broadcast together with shapes (\([\d, ]*\)) (\([\d, ]*\))",
        "arrays of the shapes {0} and {1} are to be combined, number by number",
    ),
    (r"Crash: .*segmentation fault", "memory is touched that is not yours: an index is too large, or a pointer wrong"),
)
ANSWERING: Sequence[tuple[str, str]] = (
    (r"^NoneType where", "nothing is returned: the `return` is missing"),
    (r"^list where tuple", "a list is returned where a tuple is asked for: tuple(...) makes one of it"),
    (r"^tuple where list", "a tuple is returned where a list is asked for: list(...) makes one of it"),
    (r"^float where int", "a float is returned where a whole number is asked for: `/` makes a float, `//` does not"),
    (
        r"^(?:list|tuple|int|float) where an array",
        "no array is returned: np.array(..., np.float32) makes one of numbers",
    ),
    (
        r"^dtype float64 where float32",
        "the numbers are float64: NumPy makes these where no dtype is given, and of float32 with float64",
    ),
    (
        r"^generator where|^map where|^filter where|^range where",
        "something is returned that makes elements only when asked",
    ),
)


def cause_of(raised: Raised) -> str:
    """The words for an error; "" if it has no typical cause.

    >>> cause_of(Raised("NameError", (), "name 'np' is not defined"))
    '`import numpy as np` is missing at the top of the file'
    """
    if raised.type == "ExerciseSyntaxError":
        return _first(COMPILING, raised.message)
    return _first(RAISING, f"{raised.type}: {raised.message}")


def typical_cause(error: BaseException) -> str:
    """The words for what a test has raised: for the student's error, or for an answer of a wrong type.

    >>> from kuiper.course.testing import Mismatch
    >>> typical_cause(Mismatch(["f()"], (1, 2), [1, 2], "list where tuple is expected"))
    'a list is returned where a tuple is asked for: tuple(...) makes one of it'
    """
    if isinstance(error, StudentError):
        return cause_of(error.raised)
    if not isinstance(error, Mismatch):
        return ""
    return cause_of(error.got) if isinstance(error.got, Raised) else _first(ANSWERING, error.words)


def _first(table: Sequence[tuple[str, str]], text: str) -> str:
    for pattern, words in table:
        found = re.search(pattern, text)
        if found:
            return words.format(*found.groups())
    return ""

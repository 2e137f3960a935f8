"""What most often is behind an error that no known mistake explains: a sentence for what compilers and Python say."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kuiper.course.implementation import StudentError
from kuiper.course.observation import Raised
from kuiper.course.testing import ANOTHER_ERROR, NOT_FILLED, OVERWRITTEN, Mismatch

if TYPE_CHECKING:
    from collections.abc import Sequence

NO_STATEMENT = r"(?:Expected an identifier or literal|simple statement list|invalid syntax)"

# Each completes "this is what you get when ..."; the first that fits is taken. {0} and {1} are what the brackets found.
COMPILING: Sequence[tuple[str, str]] = (
    (r"Found the C operator '(\S+)', did you mean the Python operator '(\w+)'", "`{0}` is C: Python says `{1}`"),
    (r"Expected ':', found '='|Maybe you meant '==' or ':='", "`=` is written where `==` is meant"),
    (r"Expected ':', found 'if'", "`else if` is C: Python says `elif`"),
    (r"Expected ':', found '\{'", "`{{` is C: in Python a colon stands there, and the block is indented"),
    (r"\bfor \([^\n]*;", "`for (i = 0; i < n; i++)` is C: Python says `for i in range(n):`"),
    (rf"{NO_STATEMENT}\s[^\n]*(\+\+|--)\s", "`{0}` is C: Python says `+= 1` or `-= 1`"),
    (rf"{NO_STATEMENT}\s+//", "`//` begins no comment in Python: `#` does"),
    (rf"{NO_STATEMENT}\s[^\n]*!\w", "`!` is C: Python says `not`"),
    (rf"{NO_STATEMENT}\s[^\n]*\?[^\n]*:", "`a ? b : c` is C: Python says `b if a else c`"),
    (
        rf"{NO_STATEMENT}\s+(int|float|double|Py_ssize_t|unsigned \w+) \w",
        "`cdef` is missing in front of `{0}`: all `cdef` lines stand at the beginning of the function",
    ),
    (r"undeclared name not builtin: (true|false)\b", "`{0}` is C: Python begins it with a capital letter"),
    (
        r"Cannot assign type '(?:const )?(\w+)\[[^']*\]' to '(?:const )?\w+'",
        "a whole array of {0} is put into one number: an index is missing",
    ),
    (
        r"Cannot assign type '(?:const )?(float|double)' to '(int|long|Py_ssize_t|(?:un)?signed char)'",
        "a number with a point is put into a variable of type {1}: `cdef {0}` holds it",
    ),
    (r"Assignment to slice of wrong length", "a C array is set to a list of another length: a loop sets its numbers"),
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
    (
        r"Invalid operand types for '(\S+)' \([^)]*\[:",
        "`{0}` is used on a whole memoryview, which is no NumPy array: a loop takes one number after the other",
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
        "an index is no whole number: `/` makes a float, `//` does not",
    ),
    (r"ValueError: .*truth value of an array", "an array is asked whether it is true: `any()` or `all()` is missing"),
    (
        r"ValueError: operands could not be broadcast together with shapes (\([\d, ]*\)) (\([\d, ]*\))",
        "arrays of the shapes {0} and {1} are to be combined, number by number",
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
        r"cannot reshape array of size (\d+) into shape (\([\d, -]*\))",
        "an array of {0} numbers is to get the shape {1}, which has not so many",
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
    (r"could not convert string to float: (.+)", "{0} is read as a number"),
    (r"too many values to unpack", "more values come than there are names in front of the `=`"),
    (r"not enough values to unpack", "fewer values come than there are names in front of the `=`"),
    (r"list\.remove\(x\): x not in list", "something is removed from a list that does not hold it"),
    (r"(?:assignment destination|source array) is read-only", "an array that may only be read is written to"),
    (
        r"IndexError: index (-?\d+) is out of bounds for axis (\d+) with size (\d+)",
        "axis {1} of an array has the length {2}, and is asked for the index {0}",
    ),
    (r"IndexError: too many indices for array: array is (\d+)-dimensional", "an array of {0} axes gets more indices"),
    (
        r"TypeError: unsupported operand type\(s\) for (\S+): '([\w.]+)' and '([\w.]+)'",
        "`{0}` is used on a {1} and a {2}, which do not go together",
    ),
    (r"TypeError: .* missing \d+ required .* arguments?: (.+)", "a function is called without its {0}"),
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
    (r"^dtype (\S+) where (\S+) is", "the numbers are {0}, and {1} is asked for: `.astype` or `dtype=` makes it"),
    (
        rf"^{NOT_FILLED}$",
        "nothing is written into the array that is to be filled: `out[...] = ` writes into it, `out = ` does not",
    ),
    (rf"^{OVERWRITTEN}$", "what was handed in is changed: it belongs to the caller, so a copy is to be changed"),
)
SHAPES = re.compile(r"shape (\(.*\)) where (\(.*\)) is expected")


def cause_of(raised: Raised) -> str:
    """The words for an error; "" if it has no typical cause, or was raised on purpose.

    >>> cause_of(Raised("NameError", (), "name 'np' is not defined"))
    '`import numpy as np` is missing at the top of the file'
    """
    if raised.type == "ExerciseSyntaxError":
        return _first(COMPILING, raised.message)
    if raised.is_on_purpose:
        return ""
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
    if error.words == ANOTHER_ERROR:
        return _of_another_error(str(error.expected), error.got)
    if isinstance(error.got, Raised):
        return cause_of(error.got)
    return _first(ANSWERING, error.words) or _of_shapes(error.words)


def _of_another_error(expected: str, got: Raised) -> str:
    kind, _, words = expected.partition(" that mentions ")
    if kind in got.bases:
        return f"the error is the right one, but its message does not have {words}"
    if got.is_on_purpose:
        return f"the error that is raised is a {got.type}, where a {kind} is asked for"
    return cause_of(got)


def _of_shapes(words: str) -> str:
    shapes = SHAPES.match(words)
    if not shapes:
        return ""
    got, wanted = (re.findall(r"\d+", shape) for shape in shapes.groups())
    if len(got) == len(wanted) + 1:
        return "the answer has an axis too many"
    if len(got) == len(wanted) - 1:
        return "the answer lacks an axis: an index or a sum takes one away, `[None]` and `keepdims=True` keep it"
    if sorted(got) == sorted(wanted):
        return "the axes of the answer are in another order: a transpose is missing, or one is too many"
    return ""


def _first(table: Sequence[tuple[str, str]], text: str) -> str:
    for pattern, words in table:
        found = re.search(pattern, text)
        if found:
            return words.format(*found.groups())
    return ""

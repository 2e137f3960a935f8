"""What most often is behind what Python raises, and behind answers of a wrong type: a sentence for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.course.testing import NOT_FILLED, OVERWRITTEN
from kuiper.language import noop

if TYPE_CHECKING:
    from collections.abc import Sequence

SOMETHING_IS_NONE = noop("something is None: a function without `return`, or an argument that may be left out")
# As COMPILING: each completes "this is what you get when ...", and the first that fits is taken.
OBJECTS = noop(
    "an object that holds others, and these hold more, is returned: numbers, texts, arrays, lists are asked for"
)
ENDING_ALIKE = (SOMETHING_IS_NONE, OBJECTS)
"""Causes of errors that are the same for many mistakes."""
RAISING: Sequence[tuple[str, str]] = (
    (
        r"EndlessLoop: ",
        noop(
            "a loop never ends: does its condition become false, does its counter change in each turn, does the list "
            "that it goes through grow?"
        ),
    ),
    (r"NameError: name '(np|numpy)' is not defined", noop("`import numpy as np` is missing at the top of the file")),
    (
        r"NameError: name '(bisect|collections|copy|functools|heapq|itertools|json|math|random|re|struct|time)' is not",
        noop("`import {one}` is missing at the top of the file"),
    ),
    (
        r"NameError: name '(\w+)' is not defined",
        noop("`{one}` has no value yet, or its name is spelled in another way"),
    ),
    (r"UnboundLocalError: .*variable '(\w+)'", noop("`{one}` is read before it has a value, in this call at least")),
    (
        r"(?:TypeError|AttributeError): .*'?NoneType'?",
        SOMETHING_IS_NONE,
    ),
    (
        r"ValueError: Buffer dtype mismatch, expected '([\w ]+)' but got '([\w ]+)'",
        noop("an array of {two} is handed to a function that takes {one}: NumPy makes float64 where no dtype is given"),
    ),
    (
        r"ValueError: Buffer has wrong number of dimensions \(expected (\d+), got (\d+)\)",
        noop("an array with {two} axes is handed to a function that takes {one}"),
    ),
    (
        r"IndexError: Out of bounds on buffer access \(axis (\d)\)",
        noop("an index of axis {one} is too large, or negative"),
    ),
    (r"ArrayIndexError: ", noop("an index is too large, or negative")),
    (
        r"(?:IndexError|KeyError): .*pop from (?:an )?empty",
        noop("something is taken out of a list that is empty by now"),
    ),
    (
        r"IndexError: (list|tuple|string) index out of range",
        noop("an index is not smaller than the length of the {one}"),
    ),
    (r"RuntimeError: dictionary changed size during", noop("a dictionary is changed while a loop goes through it")),
    (
        r"RecursionError: ",
        noop(
            "a function calls itself without end, or deeper than Python allows (a thousand calls, one within the other)"
        ),
    ),
    (r"ZeroDivisionError: ", noop("something is divided by 0: what if there is nothing to count?")),
    (
        r"TypeError: unhashable type: '(\w+)'",
        noop("a {one} is put into a set, or is the key of a dictionary: a tuple can be"),
    ),
    (
        r"TypeError: (?:object of type )?'(generator|map|filter|zip)' (?:has no len|object is not subscriptable)",
        noop("a {one} has no length and no index, as it makes its elements one by one: list(...) makes a list of them"),
    ),
    (
        r"TypeError: (\w+)\.(\w+)\(\) takes 0 positional arguments but 1 was given",
        noop("the method `{two}` lacks its first parameter, `self`"),
    ),
    (r"TypeError: '(\w+)' object is not subscriptable", noop("an index is used on a {one}, which has no elements")),
    (r"TypeError: '(\w+)' object is not iterable", noop("a loop goes through a {one}, which has no elements")),
    (
        r"TypeError: '(float|numpy\.float\d+)' object cannot be interpreted",
        noop("an index or a length is a {one}: `/` makes one, `//` of two integers does not"),
    ),
    (
        r"(?:TypeError|IndexError): .*indices must be integers",
        noop("an index is no integer: `/` makes a float, `//` of two integers does not"),
    ),
    (
        r"ValueError: .*truth value of an array.*\n.*(?<![\w.])(max|min)\(",
        noop("`{one}` gets arrays: it compares two numbers, and np.{one}imum does so number by number"),
    ),
    (
        r"ValueError: .*truth value of an array.*\n.*[=!]= None\b",
        noop("an array is compared with None by `==` or `!=`: `is None` or `is not None` asks whether it is there"),
    ),
    (
        r"ValueError: .*truth value of an array",
        noop("an array is asked whether it is true: `any()` or `all()` is missing"),
    ),
    (
        r"ValueError: operands could not be broadcast together with shapes (\([\d, ]*\)) (\([\d, ]*\))",
        noop(
            "arrays of the shapes {one} and {two} are combined number by number: the sizes must agree from the last "
            "axis on, so one of them needs another shape"
        ),
    ),
    (
        r"shape mismatch: indexing arrays could not be broadcast",
        noop("two arrays of indices are used at once: NumPy takes them in pairs, not as rows and columns"),
    ),
    (
        r"inhomogeneous shape",
        noop("parts of several lengths are to become one array: np.concatenate joins them"),
    ),
    (
        r"array dimensions (?:except for|for) the concatenation axis must match|same number of dimensions",
        noop("arrays are joined whose other axes do not have the same lengths: is it the right `axis`?"),
    ),
    (
        r"mismatch in its core dimension|shapes \(.*\) and \(.*\) not aligned",
        noop(
            "the rows of the left side of a product do not fit the columns of the right one: is one to be transposed?"
        ),
    ),
    (
        r"could not broadcast input array from shape (\(.*?\)) into shape (\(.*?\))",
        noop("an array of the shape {one} is stored where there is room for the shape {two}"),
    ),
    (
        r"cannot reshape array of size (\d+) into shape (\([\d, -]*\))",
        noop("an array of {one} numbers is to get the shape {two}, which has a different number"),
    ),
    (
        r"cannot reshape array of size (\d+) into shape \(.*newaxis",
        noop("{one} numbers are reshaped with a -1, and cannot be shared out evenly among the other lengths"),
    ),
    (
        r"Cannot cast ufunc '\w+' output from dtype\('(\w+)'\) to dtype\('(\w+)'\)",
        noop(
            "an array of {two} is changed in place by numbers that are {one}: `x = x / y` makes a new array, "
            "`x /= y` does not"
        ),
    ),
    (
        r"only (?:0-dimensional|length-1|size-1) arrays can be converted",
        noop("an array is handed to a function that takes one number, as those of `math` do"),
    ),
    (r"invalid literal for int\(\) with base 10: (.+)", noop("{one} is read by int, which takes digits and a sign")),
    (r"could not convert string to float: (.+)", noop("float() gets {one}, which is no number")),
    (
        r"too many values to unpack \(expected (\d+)",
        noop("something has more parts than the {one} names that stand on the left of the `=`"),
    ),
    (
        r"not enough values to unpack \(expected (\d+), got (\d+)\)",
        noop("something has {two} parts where {one} names stand on the left of the `=`"),
    ),
    (r"list\.remove\(x\): x not in list", noop("something is removed from a list that does not hold it")),
    (r"(?:assignment destination|source array) is read-only", noop("an array that may only be read is written to")),
    (
        r"IndexError: index (-?\d+) is out of bounds for axis (\d+) with size (\d+)",
        noop("axis {two} of an array has the length {three}, and is asked for the index {one}"),
    ),
    (
        r"IndexError: too many indices for array: array is (\d+)-dimensional",
        noop("an array of {one} axes gets more indices"),
    ),
    (
        r"TypeError: (?:unsupported operand type\(s\) for .*: '(?:int|float)' and 'str'|.*'str' and '(?:int|float)')",
        noop("a text is taken for a number: int(...) or float(...) makes one of it"),
    ),
    (
        r"TypeError: can only concatenate tuple \(not \"(\w+)\"\) to tuple",
        noop("something of type {one} is joined to a tuple by `+`: `(x,)` with its comma is a tuple, `(x)` is not"),
    ),
    (
        r"TypeError: can only concatenate list \(not \"(\w+)\"\) to list",
        noop("something of type {one} is joined to a list by `+`: `[x]` is a list, and `append` takes one thing"),
    ),
    (
        r"TypeError: .*(?:can only concatenate str|must be str, not)",
        noop("a text and something else are joined by `+`: str(...) or an f-string makes a text of it"),
    ),
    (
        r"TypeError: unsupported operand type\(s\) for (\S+): '([\w.]+)' and '([\w.]+)'",
        noop("`{one}` is used on a {two} and a {three}, which do not go together"),
    ),
    (r"TypeError: .* missing \d+ required .* arguments?: (.+)", noop("a function is called without its {one}")),
    (
        r"TypeError: .*takes (?:exactly|at most|at least) (\d+) positional arguments? \((\d+) given\)",
        noop("a function that takes {one} arguments is called with {two}"),
    ),
    (
        r"TypeError: .* takes .* but (\d+) (?:was|were) given",
        noop("a function is called with {one} arguments, which it does not take"),
    ),
    (
        r"TypeError: '(\w+)' object is not callable",
        noop("a {one} is called like a function: brackets behind it are too many"),
    ),
    (
        r"TypeError: '(\w+)' object does not support item assignment",
        noop("a place in a {one} is written to, which cannot change"),
    ),
    (
        r"AttributeError: '([\w.]+)' object has no attribute '(\w+)'",
        noop(
            "a {one} is asked for its `{two}`, which it has not: nothing has set it, or something else was to be asked"
        ),
    ),
    (
        r"KeyError: (.+)",
        noop("a dictionary is asked for {one}, which it does not have: is it asked first whether it has it?"),
    ),
    (
        r"CourseError: .*expected a plain value .*, got (generator|map|filter|zip|reversed|enumerate|dict_\w+)",
        noop("a {one} is returned, which makes its elements only when asked: list(...) makes a list of them"),
    ),
    (
        r"CourseError: .*expected a plain value .*, got (\S+)",
        noop(
            "an object of type {one} is returned, or a part of what is returned: "
            "numbers, texts, arrays, lists are asked for"
        ),
    ),
    (r"CourseError: .*levels of nesting", OBJECTS),
    (
        r"ModuleNotFoundError: No module named '([\w.]+)'",
        noop("`{one}` is not installed here: an exercise needs no more than its file imports at the top"),
    ),
    (r"SystemExit: ", noop("exit() ends the whole program: `return` ends a function")),
    (r"EOFError: ", noop("input() waits for somebody who types: what a function needs are its arguments")),
    (
        r"Crash: .*segmentation fault",
        noop("memory is touched that is not yours: an index is too large, or a pointer wrong"),
    ),
)
NOTHING_RETURNED = noop("nothing is returned: the `return` is missing")
ANSWERING: Sequence[tuple[str, str]] = (
    (r"^ndarray where tuple", noop("one array is returned where several are asked for: return a, b")),
    (r"^(?:generator|map|filter|range) where", noop("something is returned that makes elements only when asked")),
    (r"^NoneType where", NOTHING_RETURNED),
    (r"^list where tuple", noop("a list is returned where a tuple is asked for: tuple(...) makes one of it")),
    (r"^tuple where list", noop("a tuple is returned where a list is asked for: list(...) makes one of it")),
    (
        r"^float where int",
        noop("a float is returned where an integer is asked for: `/` makes a float, `//` of two integers does not"),
    ),
    (
        r"^(?:list|tuple|int|float) where an array",
        noop("no array is returned: np.array(..., np.float32) makes one of numbers"),
    ),
    (
        r"^dtype float64 where float32",
        noop("the numbers are float64: NumPy makes these where no dtype is given, and of float32 with float64"),
    ),
    (
        r"^dtype (\S+) where (\S+) is",
        noop("the numbers are {one}, and {two} is asked for: `.astype` or `dtype=` makes it"),
    ),
    (
        rf"^{NOT_FILLED}$",
        noop("nothing is written into the array that is to be filled: `out[...] = ` writes into it, `out = ` does not"),
    ),
    (rf"^{OVERWRITTEN}$", noop("what was handed in is changed: it belongs to the caller, so a copy is to be changed")),
)

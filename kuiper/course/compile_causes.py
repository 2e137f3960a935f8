"""What most often is behind what Cython and the C compiler refuse: a sentence for each of their messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.language import noop

if TYPE_CHECKING:
    from collections.abc import Sequence

CLOSED = r"(?:[^()\[\]{}\n]|[(\[{](?:[^()\[\]{}\n]|[(\[{][^()\[\]{}\n]*[)\]}])*[)\]}])*"  # brackets that are closed
NO_STATEMENT = r"(?:Expected an identifier or literal|simple statement list|invalid syntax)"

# Each completes "this is what you get when ..."; the first that fits is taken. {one} and {two} are what the brackets
# found.
COMPILING: Sequence[tuple[str, str]] = (
    (
        r"invalid character '(.)' \(U\+",
        noop("`{one}` is no sign of an English keyboard, whose colons, commas, brackets, quotes and digits code has"),
    ),
    (
        r"invalid non-printable character U\+|Unrecognized character",
        noop("a blank, colon, comma, bracket, quote or digit is not that of an English keyboard"),
    ),
    (
        r"Found the C operator '(\S+)', did you mean the Python operator '(\w+)'",
        noop("`{one}` is C: Python says `{two}`"),
    ),
    (r"Expected ':', found '='|Maybe you meant '==' or ':='", noop("`=` is written where `==` is meant")),
    (r"Expected ':', found 'if'", noop("`else if` is C: Python says `elif`")),
    (r"Expected ':', found '\{'", noop("`{{` is C: in Python a colon stands there, and the block is indented")),
    (r"\bfor \([^\n]*;", noop("`for (i = 0; i < n; i++)` is C: Python says `for i in range(n):`")),
    (rf"{NO_STATEMENT}\s[^\n]*(\+\+|--)\s", noop("`{one}` is C: Python says `+= 1` or `-= 1`")),
    (rf"{NO_STATEMENT}\s+//", noop("`//` begins no comment in Python: `#` does")),
    (rf"{NO_STATEMENT}\s[^\n]*!\w", noop("`!` is C: Python says `not`")),
    (rf"{NO_STATEMENT}\s[^\n]*\?[^\n]*:", noop("`a ? b : c` is C: Python says `b if a else c`")),
    (
        rf"{NO_STATEMENT}\s+(int|float|double|Py_ssize_t|unsigned \w+) \w",
        noop("`cdef` is missing in front of `{one}`: all `cdef` lines stand at the beginning of the function"),
    ),
    (r"undeclared name not builtin: (true|false)\b", noop("`{one}` is C: Python begins it with a capital letter")),
    (
        r"Cannot assign type 'Py_ssize_t (?:\*|\[8\])'",
        noop("`.shape` is written without an index: it has all lengths, and x.shape[0] is that of axis 0"),
    ),
    (
        r"Cannot assign type '(?:const )?\w+\[:.*' to '(?:const )?(?:float|double|int|Py_ssize_t)'",
        noop("a whole array stands where one number is asked for: an index is missing"),
    ),
    (
        r"Cannot assign type '(?:const )?(\w+)\[[^']*\]' to '(?:const )?\w+'",
        noop("a whole array of {one} is put into one number: an index is missing"),
    ),
    (
        r"Cannot assign type '(?:const )?(float|double)' to '(int|long|Py_ssize_t|(?:un)?signed char)'",
        noop(
            "a number with a point is put where a value of type {two} belongs: "
            "`cdef {one}` holds it, `<{two}>x` cuts it off"
        ),
    ),
    (
        r"Invalid index for memoryview specified, type (\w+)",
        noop("an index is a {one}: `cdef int` or `cdef Py_ssize_t` holds one, and `//` of two of these is one"),
    ),
    (
        r"Cannot convert '\w+' to memoryviewslice\s+(?:cdef [^=]*?)?(\w+) = ",
        noop("one number is put in the place of a whole array: `{one}[:] = ` writes it into each of its numbers"),
    ),
    (
        r"Cannot coerce list to type '(?:float|double|int)'",
        noop("a list is put into one number, or into a part of an array: a loop sets its numbers"),
    ),
    (
        r"Assignment to slice of wrong length",
        noop("a C array is set to a list of another length: a loop sets its numbers"),
    ),
    (
        r"Expected ':', found|expected ':'|Expected ':' after",
        noop("the colon is missing at the end of an `if`, `for`, `while` or `def`"),
    ),
    (r"undeclared name not builtin: (np|numpy)\b", noop("`import numpy as np` is missing at the top of the file")),
    (
        r"undeclared name not builtin: (INFINITY|\w+f)\b",
        noop(
            "`{one}` is not imported (`from libc.math cimport {one}` at the top), or its name is spelled in another way"
        ),
    ),
    (r"undeclared name not builtin: (\w+)", noop("`{one}` has no value yet, or its name is spelled in another way")),
    (
        r"cdef statement not allowed here",
        noop("`cdef` stands inside of a loop or an `if`: all `cdef` lines stand at the beginning of the function"),
    ),
    (
        r"Cannot assign type '(?:const )?float' to '(?:const )?float ?\*'",
        noop("the `&` is missing: `load` and `store` take an address, as in load(&row[i])"),
    ),
    (
        r"Cannot assign type 'vec'[^\n]* to '(?:const )?float \*'",
        noop("the vec stands where the address belongs: store(&row[i], x) takes the address first"),
    ),
    (
        r"incompatible type for argument \d of .{0,3}kuiper_fma|to parameter of incompatible type 'kuiper_vec'",
        noop("one number stands where a vec is asked for: splat(number) makes a vec of it"),
    ),
    (
        r"Invalid index type '\(",
        noop("an array of C has brackets of its own for each index: a[i][j], not a[i, j]"),
    ),
    (
        r"incompatible types when assigning to type .{0,3}kuiper_vec|assigning to 'kuiper_vec'",
        noop("a vec is set to one number: splat(number) makes a vec of it"),
    ),
    (
        r"incompatible types when assigning to type .{0,3}float.{0,3} from type .{0,3}kuiper_vec",
        noop("a vec is stored in one number: store(&row[i], x) writes all of its numbers"),
    ),
    (
        r"PyFloat_(?:From|As)Double",
        noop("the `cdef` of a vec is missing: a variable that holds one needs its type, as in `cdef vec x`"),
    ),
    (
        r"Cannot convert '?(.*?\*)'? to Python object|Cannot take address of Python",
        noop("the `cdef` of a variable is missing: one without holds a Python object, which has no address"),
    ),
    (
        r"Cannot assign type '\w+' to '(\w+) \[",
        noop("a whole C array is set at once: a loop sets one number after the other"),
    ),
    (
        r"Invalid operand types for '(\S+)' \([^)]*\[:",
        noop("`{one}` is used on a whole memoryview, which is no NumPy array: a loop takes one number after the other"),
    ),
    (r"without gil|nogil has Python", noop("a `cdef` is missing: a variable without one is a Python object")),
    (r"Assignment to const", noop("an array that is `const`, which may only be read, is written to")),
    (r"'(\w+)' redeclared", noop("`{one}` is declared twice: one `cdef` is enough")),
    (r"'(\w+)' is not a type identifier", noop("`{one}` is no type of C: float, double, int and Py_ssize_t are")),
    (
        rf"Perhaps you forgot a comma\?\n[^\n]*[(\[{{]{CLOSED}\n",
        noop("a bracket is opened and not closed, or a comma is missing between two values"),
    ),
    (r"Perhaps you forgot a comma", noop("a comma or an operator is missing between two values")),
    (
        r"Expected '[)\]}]', found|was never closed",
        noop("a bracket is opened and not closed, or closed by another one"),
    ),
    (r"unmatched '(.)'", noop("a `{one}` closes a bracket that was not opened")),
    (
        r"Expected an increase in indentation|xpected an indented block",
        noop("what belongs to an `if`, `for`, `while` or `def` is not indented"),
    ),
    (
        r"[Ii]nconsistent indentation|unindent does not match|unexpected indent",
        noop("lines of one block are not indented alike"),
    ),
    (r"tabs and spaces", noop("some lines are indented by tabs and others by spaces: use spaces only")),
    (r"Unclosed string|unterminated", noop("a string is opened and not closed")),
    (
        r"Syntax error in simple statement list",
        noop("a line is no statement: a bracket too many, or a type without `cdef` in front of it"),
    ),
)

"""An index outside of a local C array (``cdef float sums[8]``): Cython checks memoryviews, and leaves C arrays alone.

gcc and clang can check them where the length is known (``-fsanitize=bounds``), and call a function of their sanitizer's
library with the place. That library is not needed: the function stands here, in C, and is compiled into the exercise.
It costs no memory and no address space (the address sanitizer reserves terabytes, which the limits of a worker forbid),
and nothing has to be loaded before Python.

A variable that is not set holds whatever lay in memory before: a sum that is never set to 0 may be right by chance, and
is another number each time. Where the compiler can, it fills local variables with one pattern (a float becomes -1.7e38
with gcc and NaN with clang), so that such a mistake always shows, with the same answer on each run.
"""

from __future__ import annotations

import linecache
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from kuiper.course.compile_errors import shown

if TYPE_CHECKING:
    from collections.abc import Callable

FLAG = "-fsanitize=bounds"  # zig lets the processor stop the process instead: a crash, without the line
OLD_NUMBERS = "-ftrivial-auto-var-init=pattern"  # gcc 12 or later, clang 8 or later


@cache
def fills_variables(compiler: tuple[str, ...]) -> bool:
    """Whether a compiler, given by the words of its command, can fill local variables with a pattern."""
    words = [*compiler, OLD_NUMBERS, "-x", "c", "-c", os.devnull, "-o", os.devnull]
    return subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=False).returncode == 0


C_CODE = r"""
#include <Python.h>
#include <stdint.h>

/* What both compilers hand over; the names are those of LLVM's compiler-rt, lib/ubsan/ubsan_handlers.h. */
typedef struct { const char *file; uint32_t line, column; } SourceLocation;
typedef struct { uint16_t kind, info; char name[1]; } TypeDescriptor;
typedef struct { SourceLocation place; const TypeDescriptor *array, *index; } OutOfBoundsData;

#define HIDDEN __attribute__((visibility("hidden")))
HIDDEN void __ubsan_handle_out_of_bounds(OutOfBoundsData *found, uintptr_t value);
HIDDEN void __ubsan_handle_out_of_bounds_abort(OutOfBoundsData *found, uintptr_t value);

void __ubsan_handle_out_of_bounds(OutOfBoundsData *found, uintptr_t value)
{
    int bits = 1 << (found->index->info >> 1);      /* of the index's type; the lowest bit says: it has a sign */
    long long index = (long long)value;
    if ((found->index->info & 1) && bits < 64)
        index = (long long)((unsigned long long)index << (64 - bits)) >> (64 - bits);
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *module = PyImport_ImportModule("kuiper.course.local_arrays");
    PyObject *done = module ? PyObject_CallMethod(module, "outside", "sIsL", found->place.file,
        (unsigned int)found->place.line, found->array->name, index) : NULL;
    if (!done)
        PyErr_WriteUnraisable(NULL);
    Py_XDECREF(done);
    Py_XDECREF(module);
    PyGILState_Release(state);
}

void __ubsan_handle_out_of_bounds_abort(OutOfBoundsData *found, uintptr_t value)
{
    __ubsan_handle_out_of_bounds(found, value);
}
"""


class ArrayIndexError(IndexError):
    """An index outside of a local C array; ``place`` is the line of the exercise."""

    def __init__(self, message: str, place: str) -> None:
        super().__init__(message)
        self.place = place


def outside(file: str, line: int, array: str, index: int) -> None:
    """Report an index; ``array`` is the compiler's name for the array's type, such as ``'float [4][8]'``."""
    length = re.search(r"\[(\d+)\]", array)
    count = f" of {length[1]} elements" if length else ""
    text = linecache.getline(file, line).strip()
    place = f"{shown(Path(file))}:{line}" + (f": {text}" if text else "")
    on_outside(ArrayIndexError(f"index {index} is outside of a local C array{count}", place))


def _continue(error: ArrayIndexError) -> None:
    """In a process that must live on, the error counts as one in a ``noexcept`` function does."""
    hook: Callable[[Any], object] = sys.unraisablehook
    hook(SimpleNamespace(exc_type=type(error), exc_value=error, exc_traceback=None, err_msg=None, object=None))


on_outside: Callable[[ArrayIndexError], None] = _continue
"""What happens then. A worker answers with the error and ends, before the memory beside the array is overwritten."""

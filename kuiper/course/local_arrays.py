"""An index outside of a local C array (``cdef float sums[8]``): Cython checks memoryviews, and leaves C arrays alone.

gcc and clang can check them where the length is known (``-fsanitize=bounds``), and call a function of their sanitizer's
library with the place. That library is not needed: the function stands here, in C, and is compiled into the exercise.
It costs no memory and no address space (the address sanitizer reserves terabytes, which the limits of a worker forbid),
and nothing has to be loaded before Python.
"""

from __future__ import annotations

import linecache
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from kuiper.course.compile_errors import shown

if TYPE_CHECKING:
    from collections.abc import Callable

FLAG = "-fsanitize=bounds"  # zig lets the processor stop the process instead: a crash, without the line

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

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

import ctypes
import functools
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
from kuiper.language import noop

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

IS_WEBASSEMBLY = sys.platform == "emscripten"
FLAG = "-fsanitize=bounds"  # zig lets the processor stop the process instead: a crash, without the line
FLAGS_OF_CLANG = (
    "-fsanitize=array-bounds",
    "-fsanitize-recover=array-bounds",
)  # bounds are local-bounds, too, which stop
OLD_NUMBERS = "-ftrivial-auto-var-init=pattern"  # gcc 12 or later, clang 8 or later


STORE = re.compile(r"^( *)\(+(__pyx_v_\w+)((?:\[[^][\n]*\]\))+)( [-+*/]?= )", re.MULTILINE)


def with_checked_stores(c_code: str) -> str:
    """Cython's C code without brackets around what is stored into: in them clang accepts an index behind the last one.

    >>> with_checked_stores("  ((__pyx_v_s[__pyx_v_i])[(i + 1)]) = 1.0;")
    '  __pyx_v_s[__pyx_v_i][(i + 1)] = 1.0;'
    """
    return STORE.sub(lambda found: found[1] + found[2] + found[3].replace("])", "]") + found[4], c_code)


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

#ifdef __wasm__
/* WebAssembly's memory has no walls inside, and no process can be given up: the call is left before the access. */
#include <setjmp.h>
static jmp_buf *way_out;
PyObject *kuiper_guarded(PyObject *function, PyObject *args, PyObject *kwargs);
PyObject *kuiper_guarded(PyObject *function, PyObject *args, PyObject *kwargs)
{
    jmp_buf here, *volatile before = way_out;
    PyObject *volatile answer = NULL;
    way_out = &here;
    if (!setjmp(here))
        answer = PyObject_Call(function, args, kwargs);
    way_out = before;
    return answer;
}
static void leave_the_call(void)
{
    if (way_out)
        longjmp(*way_out, 1);
}
#else
static void leave_the_call(void) {}
#endif

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
    if (!done) {
        leave_the_call();
        PyErr_WriteUnraisable(NULL);
    }
    Py_XDECREF(done);
    Py_XDECREF(module);
    PyGILState_Release(state);
}

void __ubsan_handle_out_of_bounds_abort(OutOfBoundsData *found, uintptr_t value)
{
    __ubsan_handle_out_of_bounds(found, value);
}
"""

OUTSIDE = (
    noop("index {index} is outside of a local C array of {count} elements"),
    noop("index {index} is outside of a local C array"),
)


class ArrayIndexError(IndexError):
    """An index outside of a local C array; ``place`` is the line of the exercise."""

    def __init__(self, message: str, place: str) -> None:
        super().__init__(message)
        self.place = place


def outside(file: str, line: int, array: str, index: int) -> None:
    """Report an index; ``array`` is the compiler's name for the array's type, such as ``'float [4][8]'``."""
    length = re.search(r"\[(\d+)\]", array)
    words = OUTSIDE[0].format(index=index, count=length[1]) if length else OUTSIDE[1].format(index=index)
    text = linecache.getline(file, line).strip()
    place = f"{shown(Path(file))}:{line}" + (f": {text}" if text else "")
    on_outside(ArrayIndexError(words, place))


def _continue(error: ArrayIndexError) -> None:
    """In a process that must live on, the error counts as one in a ``noexcept`` function does."""
    hook: Callable[[Any], object] = sys.unraisablehook
    hook(SimpleNamespace(exc_type=type(error), exc_value=error, exc_traceback=None, err_msg=None, object=None))


def _refuse(error: ArrayIndexError) -> None:
    """In WebAssembly it is the answer of the call."""
    raise error


def guard(module: ModuleType) -> None:
    """Let an index outside of a local C array end the call of a function of this module, where ``C_CODE`` can do that.

    What the function has held then is lost: memory of some arrays is never given back.
    """
    if not IS_WEBASSEMBLY or not module.__file__:
        return
    call = getattr(ctypes.PyDLL(module.__file__), "kuiper_guarded", None)
    if call is None:  # the fast build checks nothing
        return
    call.restype, call.argtypes = ctypes.py_object, [ctypes.py_object] * 3
    for name, function in vars(module).copy().items():
        if type(function).__name__ == "cython_function_or_method":
            setattr(module, name, _guarded(call, function))


def _guarded(call: Callable[..., Any], function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        return call(function, args, kwargs)

    return guarded


on_outside: Callable[[ArrayIndexError], None] = _refuse if IS_WEBASSEMBLY else _continue
"""What happens then. A worker answers with the error and ends, before the memory beside the array is overwritten."""

"""The most that one core of this machine can do: what the report of an exercise compares the student's speed with.

A multiply-add takes about four cycles, and a core starts two of them in each. So one loop keeps as many vectors of sums
as there are registers for, each of which waits for itself alone, and touches no memory. The other one adds up numbers
that no cache holds, and waits for nothing but the memory. Lecture 3c has the same loops.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.course.builder import load_pyx
from kuiper.course.places import folder
from kuiper.course.state_file import keep_text

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import ModuleType

STEPS = 100_000  # about a millisecond
MEMORY = 1 << 27  # bytes: more than the caches of nearly all machines hold
SOURCE = '''
from kuiper.simd.vector cimport LANES, vec, load, splat, store

cdef extern from *:
    """
    #if !defined(KUIPER_VECTORS)
    enum { CHAINS = 128 };                 /* single numbers, which the compiler may put into vectors */
    #elif defined(__AVX512F__) || defined(__aarch64__)
    enum { CHAINS = 24 };                  /* of 32 registers */
    #else
    enum { CHAINS = 12 };                  /* of 16 */
    #endif
    static void peak_turns(kuiper_vec *sums, Py_ssize_t steps, kuiper_vec factor, kuiper_vec term) {
        kuiper_vec s[CHAINS];
        KUIPER_EACH(i, CHAINS) s[i] = sums[i];
        for (Py_ssize_t step = 0; step < steps; step++)
            KUIPER_EACH(i, CHAINS) s[i] = kuiper_fma(s[i], factor, term);
        KUIPER_EACH(i, CHAINS) sums[i] = s[i];
    }
    """
    enum:
        CHAINS
    void peak_turns(vec* sums, Py_ssize_t steps, vec factor, vec term) noexcept nogil

OPERATIONS = 2 * CHAINS * LANES  # of one step


def multiply_adds(Py_ssize_t steps):
    cdef vec[CHAINS] sums
    cdef float[LANES] numbers
    cdef int i
    for i in range(CHAINS):
        sums[i] = splat(i)  # of sums that begin alike the compiler would keep one
    peak_turns(sums, steps, splat(0.5), splat(1))
    for i in range(1, CHAINS):
        sums[0] = sums[0] + sums[i]
    store(numbers, sums[0])
    return numbers[0]


TURN = 8 * LANES  # numbers; what is read must be a multiple of it


def read(const float[::1] data):
    cdef vec[8] sums
    cdef float[LANES] numbers
    cdef Py_ssize_t turn, s
    for s in range(8):
        sums[s] = splat(0)
    for turn in range(data.shape[0] // (8 * LANES)):
        for s in range(8):
            sums[s] += load(&data[turn * 8 * LANES + s * LANES])
    for s in range(1, 8):
        sums[0] += sums[s]
    store(numbers, sums[0])
    return sum([numbers[s] for s in range(LANES)])
'''


def multiply_adds(root: Path) -> tuple[Callable[[], object], int]:
    """A call that does nothing but multiply and add, with the vectors that kuiper's build has, and its operations.

    Parameters
    ----------
    root : the folder of the courses, below which the compiled loop is kept

    Raises
    ------
    BuildError
        If Cython or a C compiler is missing.
    """
    loop = _loops(root)
    return lambda: loop.multiply_adds(STEPS), loop.OPERATIONS * STEPS


def reads(root: Path) -> tuple[Callable[[], object], int]:
    """A call that does nothing but read what lies in no cache, and how many bytes it reads.

    Parameters
    ----------
    root : the folder of the courses, below which the compiled loop is kept

    Raises
    ------
    BuildError
        If Cython or a C compiler is missing.
    """
    loop = _loops(root)
    data = np.ones(MEMORY // 4, np.float32)
    return lambda: loop.read(data), data.nbytes


def _loops(root: Path) -> ModuleType:
    path = folder(root, "lectures", "peak") / "peak.pyx"
    keep_text(path, SOURCE)
    return load_pyx(path, folder(root, "build"), "fast")

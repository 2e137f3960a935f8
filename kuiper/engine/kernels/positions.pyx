"""Integers of a session's state, as int64 on the arena: as they stand there, or counted on from the first.

    counts_on   length, length + 1, ...     the positions of the tokens of one text
    else        p[0], p[1], ...             those of the rows of a step, which are tokens of several texts
"""

from libc.string cimport memcpy

from kuiper.engine.step cimport Memory, Step

cdef struct Geometry:
    Py_ssize_t source  # the binding with the integers
    Py_ssize_t out  # bytes from the beginning of the arena
    Py_ssize_t count
    bint counts_on


cdef class Positions(Step):
    """See the head of this file. ``numbers`` names the fields of Geometry.

    Parameters
    ----------
    numbers : dict of integers
    """

    cdef Geometry geometry

    def __init__(self, dict numbers):
        self.geometry = numbers
        self.tasks = 1
        self.numbers, self.run = &self.geometry, positions


cdef void positions(const void* numbers, Py_ssize_t task, const Memory* memory) noexcept nogil:
    """All of them: they are few."""
    cdef const Geometry* g = <const Geometry*> numbers
    cdef char* out = <char*> memory.arena + g.out
    cdef const long long* source = <const long long*> memory.bindings[g.source]
    cdef long long position
    cdef Py_ssize_t i
    for i in range(g.count):
        position = source[0] + i if g.counts_on else source[i]
        memcpy(out + 8 * i, &position, 8)

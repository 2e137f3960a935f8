"""The positions of the tokens of a call: length, length + 1, ..., as int64."""

from libc.string cimport memcpy

from kuiper.engine.step cimport Memory, Step

cdef struct Geometry:
    Py_ssize_t position  # the binding that says how many positions are filled
    Py_ssize_t out  # bytes from the beginning of the arena
    Py_ssize_t count


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
    cdef long long position = (<const long long*> memory.bindings[g.position])[0]
    cdef Py_ssize_t i
    for i in range(g.count):
        memcpy(out + 8 * i, &position, 8)
        position += 1

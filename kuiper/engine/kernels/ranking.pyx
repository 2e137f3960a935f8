"""The largest numbers of each row and where they are: topk, max and argmax; how they are found is in ranking.pxd.

    x (rows, count)  --->  values (rows, k) as floats, indices (rows, k) as int64, both in the arena
"""

from libc.string cimport memcpy

from kuiper.engine.step cimport Memory, Step

cdef enum:
    TASK = 4096  # numbers

cdef struct Geometry:
    Py_ssize_t rows, count, k
    Py_ssize_t source, in_row  # offsets in floats, also that of the indices
    Py_ssize_t values, values_row  # -1: they are not wanted
    Py_ssize_t indices
    bint largest, single  # single: k is 1, and a NaN is found in any case

cdef struct Work:
    Geometry geometry
    Py_ssize_t tasks


cdef class Ranking(Step):
    """See the head of this file. ``numbers`` names the fields of Geometry; indices lie row behind row."""

    cdef Work work

    def __init__(self, dict numbers):
        cdef Work* w = &self.work
        w.geometry = numbers
        self.tasks = w.tasks = max(1, min(w.geometry.rows, w.geometry.rows * w.geometry.count // TASK))
        self.numbers, self.run = w, rank
        self.scratch_floats = 2 * w.geometry.k


cdef void rank(const void* numbers, Py_ssize_t task, const Memory* memory) noexcept nogil:
    """Some rows."""
    cdef const Work* w = <const Work*> numbers
    cdef const Geometry* g = &w.geometry
    cdef long long* best = <long long*> memory.scratch
    cdef const float* x
    cdef Py_ssize_t row, i
    for row in range(task * g.rows // w.tasks, (task + 1) * g.rows // w.tasks):
        x = memory.arena + g.source + row * g.in_row
        if g.single:
            best[0] = extreme(x, g.count, g.largest)
        else:
            top(x, g.count, g.k, g.largest, best)
        memcpy(<char*> (memory.arena + g.indices) + row * g.k * 8, best, g.k * 8)
        if g.values >= 0:
            for i in range(g.k):
                memory.arena[g.values + row * g.values_row + i] = x[best[i]]

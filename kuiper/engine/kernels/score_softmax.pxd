"""The softmax of a row of scores of which a query sees a part: what attention does between its two products."""

from libc.math cimport INFINITY

from kuiper.simd.functions cimport exp_up_to
from kuiper.simd.sums cimport PARTS, Sums, largest, sums_of, total
from kuiper.simd.vector cimport LANES, at_least, load, store, vec

cdef enum:
    SUMS = 16  # numbers that a sum takes at a time (sums.pxd)


cdef inline void softmax_row(float* x, Py_ssize_t low, Py_ssize_t high, Py_ssize_t end) noexcept nogil:
    """The softmax of the scores from ``low`` to ``high``, in place; zeros in front, and behind up to ``end``.

    Up to a multiple of 16 is written to.
    """
    cdef Py_ssize_t blocks = (high + SUMS - 1) // SUMS, i, v
    cdef Sums top = sums_of(-INFINITY), added = sums_of(0)
    cdef vec e
    cdef float highest, factor
    for i in range(low):  # they change neither maximum nor sum, and become 0
        x[i] = -INFINITY
    for i in range(high, blocks * SUMS):
        x[i] = -INFINITY
    for i in range(blocks):
        for v in range(PARTS):
            top.part[v] = at_least(load(x + i * SUMS + v * LANES), top.part[v])
    highest = largest(top)
    for i in range(blocks):
        for v in range(PARTS):
            e = exp_up_to(load(x + i * SUMS + v * LANES) - highest)
            store(x + i * SUMS + v * LANES, e)
            added.part[v] = added.part[v] + e
    factor = 1 / total(added)
    for i in range(blocks * PARTS):
        store(x + i * LANES, load(x + i * LANES) * factor)
    for i in range(blocks * SUMS, end):
        x[i] = 0

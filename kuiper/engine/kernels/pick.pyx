"""Numbers picked by index along one axis: gather, and rows of a table (embedding).

    out[i, j, k] = x[i, index[i, j, k], k]        gather along axis 1
    out[i, k]    = x[index[i], k]                 a table: the index is the same for a whole row, which is copied at once

So every result belongs to a place of ``out``, of ``index`` and of ``x`` at index 0; each of them has its own strides, and one
more says how far it is in ``x`` from index to index. Where along the last axis the index does not change, and ``out`` and ``x``
have neighbours, it is a run.

An index that lies outside sets ``error_flag`` (index_check.pxd).
"""

import math

from libc.string cimport memcpy

from kuiper.engine.arrangement import arranged

from kuiper.engine.index_check cimport checked_index
from kuiper.engine.step cimport MAX_NDIM, Memory, Step
from kuiper.engine.typed_view cimport TypedView, first_of, whole_at

cdef enum:
    TASK = 16384  # bytes

cdef struct Geometry:
    Py_ssize_t step, size  # bytes from index to index, and how many there are
    Py_ssize_t lowest  # index: 0, or -size where one may count from the end
    Py_ssize_t element  # bytes of a number
    Py_ssize_t error_flag  # offset of the flag in the arena, in floats

cdef struct Work:
    Geometry geometry
    Py_ssize_t shape[MAX_NDIM]
    Py_ssize_t rows, tasks
    TypedView out, index, x
    bint run  # whether a row is a run


cdef class Pick(Step):
    """See the head of this file. ``numbers`` names the fields of Geometry.

    Parameters
    ----------
    numbers : dict of integers
    shape : of the result
    views : (binding, offset, type, strides) of result, index and x; offsets and strides in bytes, all strides along the
        axes of the result
    """

    cdef Work work

    def __init__(self, dict numbers, shape, views):
        cdef Work* w = &self.work
        w.geometry = numbers
        plan = arranged(shape, [strides for _, _, _, strides in views], 1, MAX_NDIM, 1)
        w.out, w.index, w.x = [
            {"binding": binding, "offset": offset, "type": type_code, "stride": strides}
            for (binding, offset, type_code, _), strides in zip(views, plan.strides)
        ]
        w.shape = plan.shape
        w.rows = math.prod(plan.shape) // w.shape[MAX_NDIM - 1]
        last = [strides[MAX_NDIM - 1] for strides in plan.strides]
        w.run = last == [w.geometry.element, 0, w.geometry.element]
        self.tasks = w.tasks = max(1, min(w.rows, math.prod(shape) * w.geometry.element // TASK))
        self.numbers, self.run = w, pick


cdef void pick(const void* numbers, Py_ssize_t task, const Memory* memory) noexcept nogil:
    """Some rows."""
    cdef const Work* w = <const Work*> numbers
    cdef Py_ssize_t row
    for row in range(task * w.rows // w.tasks, (task + 1) * w.rows // w.tasks):
        pick_row(w, row, memory)


cdef inline void pick_row(const Work* w, Py_ssize_t row, const Memory* memory) noexcept nogil:
    """The numbers of the last axis."""
    cdef const Geometry* g = &w.geometry
    cdef char* out = first_of(&w.out, memory)
    cdef const char* index = first_of(&w.index, memory)
    cdef const char* x = first_of(&w.x, memory)
    cdef Py_ssize_t axis, at, i, last = MAX_NDIM - 1
    for axis in range(MAX_NDIM - 2, -1, -1):
        at = row % w.shape[axis]
        row = row // w.shape[axis]
        out += at * w.out.stride[axis]
        index += at * w.index.stride[axis]
        x += at * w.x.stride[axis]
    if w.run:
        memcpy(out, x + index_at(index, w, memory) * g.step, w.shape[last] * g.element)
        return
    for i in range(w.shape[last]):
        at = index_at(index + i * w.index.stride[last], w, memory)
        copy_element(x + i * w.x.stride[last] + at * g.step, out + i * w.out.stride[last], g.element)


cdef inline Py_ssize_t index_at(const char* place, const Work* w, const Memory* memory) noexcept nogil:
    """The index that lies there; 0 and a flag if it lies outside."""
    cdef const Geometry* g = &w.geometry
    return checked_index(whole_at(place, w.index.type), g.lowest, g.size, g.error_flag, memory)


cdef inline void copy_element(const char* x, char* out, Py_ssize_t element) noexcept nogil:
    """One number; a copy of constant length is one instruction."""
    if element == 4:
        memcpy(out, x, 4)
    elif element == 8:
        memcpy(out, x, 8)
    else:
        out[0] = x[0]

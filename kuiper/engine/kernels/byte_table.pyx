"""A function of bytes by a table of what it makes of all 256: QLinearSigmoid, QLinearLeakyRelu, the parts of QLinearConcat, ...

    out[i] = table[x[i]]          x and out lie in memory in any way; an int8 counts as the uint8 of the same bits
"""

import math

from kuiper.engine.arrangement import arranged

from kuiper.engine.byte_lookup cimport look_up_run
from kuiper.engine.step cimport MAX_NDIM, Memory, Step

cdef enum:
    RUN = 8192  # bytes along the last axis
    TASK = 32768  # bytes

cdef struct Work:
    Py_ssize_t x, out  # bytes
    Py_ssize_t shape[MAX_NDIM]
    Py_ssize_t x_stride[MAX_NDIM]
    Py_ssize_t out_stride[MAX_NDIM]
    Py_ssize_t runs, pieces, tasks  # a piece is a run along the last axis
    const unsigned char* table


cdef class ByteTable(Step):
    """See the head of this file.

    Parameters
    ----------
    shape : of both tensors
    x, out : the offset in bytes and the strides in bytes of each
    table : uint8 (256)
    """

    cdef Work work

    def __init__(self, shape, x, out, const unsigned char[::1] table):
        cdef Work* w = &self.work
        plan = arranged(shape, [out[1], x[1]], 1, MAX_NDIM, RUN)
        w.x, w.out, w.shape = x[0], out[0], plan.shape
        w.out_stride = plan.strides[0]
        w.x_stride = plan.strides[1]
        w.runs = (w.shape[MAX_NDIM - 1] + RUN - 1) // RUN
        w.pieces = math.prod(plan.shape[:-1]) * w.runs
        self.tasks = w.tasks = max(1, min(w.pieces, math.prod(shape) // TASK))
        w.table = &table[0]
        self.keeps = table
        self.numbers, self.run = w, look_up


cdef void look_up(const void* numbers, Py_ssize_t task, const Memory* memory) noexcept nogil:
    """Some runs."""
    cdef const Work* w = <const Work*> numbers
    cdef const unsigned char* x
    cdef unsigned char* out
    cdef Py_ssize_t piece, outer, axis, place, first, count, k
    cdef Py_ssize_t from_step = w.x_stride[MAX_NDIM - 1], to_step = w.out_stride[MAX_NDIM - 1]
    for piece in range(task * w.pieces // w.tasks, (task + 1) * w.pieces // w.tasks):
        first = piece % w.runs * RUN
        count = min(<Py_ssize_t> RUN, w.shape[MAX_NDIM - 1] - first)
        x = <const unsigned char*> memory.arena + w.x + first * from_step
        out = <unsigned char*> memory.arena + w.out + first * to_step
        outer = piece // w.runs
        for axis in range(MAX_NDIM - 2, -1, -1):
            place = outer % w.shape[axis]
            outer = outer // w.shape[axis]
            x += place * w.x_stride[axis]
            out += place * w.out_stride[axis]
        if from_step == 1 and to_step == 1:
            look_up_run(w.table, x, count, out)
        else:
            for k in range(count):
                out[k * to_step] = w.table[x[k * from_step]]

"""Floats as bytes whose scale and zero point suit the numbers that there are: DynamicQuantizeLinear.

    low, high = the least and the greatest number, and 0        scale = (high - low) / 255        zero = round(-low / scale)

    ByteRange    scale and zero point, in one task that reads each number once
    ToBytes      x / scale, rounded, plus the zero point
"""

from kuiper.engine.integer_tile cimport quantise
from kuiper.engine.number_range cimport Range, range_of_rows, scale_of, zero_of
from kuiper.engine.step cimport Memory, Step

cdef enum:
    TASK = 16384  # numbers

cdef struct Numbers:
    Py_ssize_t x, row, rows, columns  # offset and stride, in floats
    Py_ssize_t scale, zero  # where they go, in floats and in bytes
    bint spreads_nan  # whether a range without an end makes the scale NaN

cdef struct Rows:
    Py_ssize_t x, row, rows, columns  # offset and stride, in floats
    Py_ssize_t out, out_row  # in bytes
    Py_ssize_t scale, zero  # where they lie, in floats and in bytes

cdef struct Cut:
    Rows rows
    Py_ssize_t tasks


cdef class ByteRange(Step):
    """See the head of this file. ``numbers`` names the fields of Numbers."""

    cdef Numbers work

    def __init__(self, dict numbers):
        self.work = numbers
        self.tasks = 1
        self.numbers, self.run = &self.work, find_range


cdef void find_range(const void* numbers, Py_ssize_t task, const Memory* memory) noexcept nogil:
    """Of all rows."""
    cdef const Numbers* w = <const Numbers*> numbers
    cdef Range found = range_of_rows(memory.arena + w.x, w.row, w.rows, w.columns)
    cdef float scale = scale_of(found, w.spreads_nan)
    memory.arena[w.scale] = scale
    (<unsigned char*> memory.arena)[w.zero] = <unsigned char> zero_of(found, scale)


cdef class ToBytes(Step):
    """See the head of this file. ``numbers`` names the fields of Rows."""

    cdef Cut work

    def __init__(self, dict numbers):
        cdef Rows* w = &self.work.rows
        w[0] = numbers
        if w.row == w.columns == w.out_row:  # without gaps, tasks may begin within a row
            w.rows, w.columns, w.row, w.out_row = w.rows * w.columns, 1, 1, 1
        self.tasks = self.work.tasks = max(1, min(w.rows, w.rows * w.columns // TASK))
        self.numbers, self.run = &self.work, quantise_rows


cdef void quantise_rows(const void* numbers, Py_ssize_t task, const Memory* memory) noexcept nogil:
    """Some rows."""
    cdef const Cut* cut = <const Cut*> numbers
    cdef const Rows* w = &cut.rows
    cdef Py_ssize_t first = task * w.rows // cut.tasks, end = (task + 1) * w.rows // cut.tasks, row
    cdef const float* x = memory.arena + w.x + first * w.row
    cdef unsigned char* out = <unsigned char*> memory.arena + w.out + first * w.out_row
    cdef float scale = memory.arena[w.scale]
    cdef int zero = (<const unsigned char*> memory.arena)[w.zero]
    if w.row == w.columns == w.out_row:
        quantise(x, scale, (end - first) * w.columns, -zero, 255 - zero, zero, out)
        return
    for row in range(end - first):
        quantise(x + row * w.row, scale, w.columns, -zero, 255 - zero, zero, out + row * w.out_row)

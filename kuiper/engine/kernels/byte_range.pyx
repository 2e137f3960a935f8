"""Floats as bytes whose scale and zero point suit the numbers that there are: DynamicQuantizeLinear.

    low, high = the least and the greatest number, and 0        scale = (high - low) / 255        zero = round(-low / scale)

    ByteRange    low and high of each part of the numbers
    ToBytes      scale and zero point, and x / scale, rounded, plus the zero point

A step that has the numbers in its hands can find the range of what each of its tasks writes; then ByteRange has nothing to do.
"""

from kuiper.engine.byte_rounding cimport ByteScale, byte_scale, quantise, quantise_rows
from kuiper.engine.number_range cimport Range, range_of_parts, range_of_rows, scale_of, zero_of
from kuiper.engine.step cimport Memory, Step

cdef enum:
    TASK = 16384  # numbers

cdef struct Rows:
    Py_ssize_t x, row, rows, columns  # offset and stride, in floats
    Py_ssize_t ranges, parts  # where the ranges lie, in floats, and how many there are
    Py_ssize_t out  # in bytes; rows lie there one behind the other
    Py_ssize_t scale, zero  # where they go, in floats and in bytes
    bint spreads_nan  # whether a range without an end makes the scale NaN

cdef struct Cut:
    Rows rows
    Py_ssize_t tasks


cdef class ByteRange(Step):
    """See the head of this file. ``numbers`` names the fields of Rows; there are as many tasks as parts."""

    cdef Cut work

    def __init__(self, dict numbers):
        self.work.rows = numbers
        without_gaps(&self.work.rows)
        self.tasks = self.work.tasks = self.work.rows.parts
        self.numbers, self.run = &self.work, find_range


cdef void find_range(const void* numbers, Py_ssize_t task, const Memory* memory) noexcept nogil:
    """Of some rows, or of some neighbours where rows have no gaps."""
    cdef const Cut* cut = <const Cut*> numbers
    cdef const Rows* w = &cut.rows
    cdef Py_ssize_t first = task * w.rows // cut.tasks, end = (task + 1) * w.rows // cut.tasks
    cdef const float* x = memory.arena + w.x + first * w.row
    cdef Range found
    if w.row == w.columns == 1:
        found = range_of_rows(x, 0, 1, end - first)
    else:
        found = range_of_rows(x, w.row, end - first, w.columns)
    memory.arena[w.ranges + 2 * task] = found.low
    memory.arena[w.ranges + 2 * task + 1] = found.high


cdef inline void without_gaps(Rows* w) noexcept nogil:
    """So that tasks may begin within a row, if nothing lies between rows."""
    if w.row == w.columns:
        w.rows, w.columns, w.row = w.rows * w.columns, 1, 1


cdef class ToBytes(Step):
    """See the head of this file. ``numbers`` names the fields of Rows."""

    cdef Cut work

    def __init__(self, dict numbers):
        cdef Rows* w = &self.work.rows
        w[0] = numbers
        without_gaps(w)
        self.tasks = self.work.tasks = max(1, min(w.rows, w.rows * w.columns // TASK))
        self.numbers, self.run = &self.work, to_bytes


cdef void to_bytes(const void* numbers, Py_ssize_t task, const Memory* memory) noexcept nogil:
    """Some rows; the first task stores what all have found."""
    cdef const Cut* cut = <const Cut*> numbers
    cdef const Rows* w = &cut.rows
    cdef Py_ssize_t first = task * w.rows // cut.tasks, end = (task + 1) * w.rows // cut.tasks
    cdef const float* x = memory.arena + w.x + first * w.row
    cdef unsigned char* out = <unsigned char*> memory.arena + w.out + first * w.columns
    cdef Range found = range_of_parts(memory.arena + w.ranges, w.parts)
    cdef float scale = scale_of(found, w.spreads_nan)
    cdef int zero = zero_of(found, scale)
    cdef ByteScale to = byte_scale(scale, -zero, 255 - zero, zero)
    if task == 0:
        memory.arena[w.scale] = scale
        (<unsigned char*> memory.arena)[w.zero] = <unsigned char> zero
    if w.row == w.columns == 1:
        quantise(x, end - first, &to, out)
    else:
        quantise_rows(x, w.row, end - first, w.columns, &to, out)

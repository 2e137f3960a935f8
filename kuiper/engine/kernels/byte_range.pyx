"""Scale and zero point of bytes for the numbers that there are: DynamicQuantizeLinear.

    low, high = the least and the greatest number, and 0        scale = (high - low) / 255        zero = round(-low / scale)

One task: it reads each number once.
"""

from libc.math cimport rintf

from kuiper.engine.step cimport Memory, Step
from kuiper.simd.vector cimport LANES, larger, load, smaller, splat, store, vec

cdef struct Numbers:
    Py_ssize_t x, row, rows, columns  # offset and stride, in floats
    Py_ssize_t scale, zero  # where they go, in floats and in bytes


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
    cdef float low = 0, high = 0, scale = 1, zero
    cdef float[LANES] lows, highs
    cdef vec least = splat(0), greatest = splat(0), number
    cdef const float* x
    cdef Py_ssize_t row, k, vectors = w.columns // LANES
    for row in range(w.rows):
        x = memory.arena + w.x + row * w.row
        for k in range(vectors):
            number = load(x + k * LANES)
            least, greatest = smaller(number, least), larger(number, greatest)
        for k in range(vectors * LANES, w.columns):
            low, high = min(low, x[k]), max(high, x[k])
    store(lows, least)
    store(highs, greatest)
    for k in range(LANES):
        low, high = min(low, lows[k]), max(high, highs[k])
    if low != high:
        scale = (high - low) / <float> 255
    zero = -low / scale
    memory.arena[w.scale] = scale
    (<unsigned char*> memory.arena)[w.zero] = <unsigned char> rintf(max(<float> 0, min(zero, <float> 255)))

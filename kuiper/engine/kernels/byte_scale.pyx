"""Floats to bytes and back at one scale, which is known: most of QuantizeLinear and DequantizeLinear.

    Quantisation      out = round(x / scale) + zero        half to even, within what a byte holds; NaN is the least
    Dequantisation    out = (x - zero) * scale

Numbers lie in the same order at both ends, without gaps.
"""

from kuiper.engine.byte_rounding cimport ByteScale, byte_scale, quantise
from kuiper.engine.step cimport Memory, Step

cdef enum:
    TASK = 32768  # numbers

cdef struct Numbers:
    Py_ssize_t x, out, count  # where they begin in the arena: floats in floats, bytes in bytes
    float scale, low, high  # the bounds are those of a byte, less the zero point
    int zero
    int flip  # 128 for int8, whose sign it turns into the offset that uint8 has

cdef struct Work:
    Numbers numbers
    Py_ssize_t tasks


cdef class Rescaling(Step):
    """The base of both. ``numbers`` names the fields of Numbers."""

    cdef Work work

    def __init__(self, dict numbers):
        self.work.numbers = numbers
        self.tasks = self.work.tasks = max(1, self.work.numbers.count // TASK)
        self.numbers = &self.work


cdef class Quantisation(Rescaling):
    """See the head of this file."""

    def __init__(self, dict numbers):
        super().__init__(numbers)
        self.run = to_bytes


cdef class Dequantisation(Rescaling):
    """See the head of this file."""

    def __init__(self, dict numbers):
        super().__init__(numbers)
        self.run = to_floats


cdef void to_bytes(const void* numbers, Py_ssize_t task, const Memory* memory) noexcept nogil:
    """Some neighbours."""
    cdef const Work* w = <const Work*> numbers
    cdef const Numbers* n = &w.numbers
    cdef Py_ssize_t first = task * n.count // w.tasks, end = (task + 1) * n.count // w.tasks
    cdef unsigned char* out = <unsigned char*> memory.arena + n.out + first
    cdef ByteScale to = byte_scale(n.scale, n.low, n.high, n.zero)
    quantise(memory.arena + n.x + first, end - first, &to, out)


cdef void to_floats(const void* numbers, Py_ssize_t task, const Memory* memory) noexcept nogil:
    """Some neighbours."""
    cdef const Work* w = <const Work*> numbers
    cdef const Numbers* n = &w.numbers
    cdef Py_ssize_t first = task * n.count // w.tasks, end = (task + 1) * n.count // w.tasks, i
    cdef const unsigned char* x = <const unsigned char*> memory.arena + n.x
    cdef float* out = memory.arena + n.out
    cdef float scale = n.scale
    cdef int flip = n.flip, less = n.flip + n.zero
    for i in range(first, end):
        out[i] = <float> ((x[i] ^ flip) - less) * scale

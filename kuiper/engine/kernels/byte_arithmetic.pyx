"""The sum of two tensors of bytes, each with its scale and zero point, as bytes of a third scale: QLinearAdd.

    out = round(a * ratio_a + (b * ratio_b + fixed))        ratios to the scale of the sum; ``fixed`` has all zero points

Both products are fused with their additions. The three tensors lie in memory in the same way, without gaps.
"""

from kuiper.engine.step cimport Memory, Step
from kuiper.simd.vector cimport fma_of_one

cdef enum:
    TASK = 32768  # numbers

cdef struct Numbers:
    Py_ssize_t a, b, out, count  # where they begin in the arena, in bytes
    float ratio_a, ratio_b, fixed, low, high
    int flip  # 128 for int8, whose sign it turns into the offset that uint8 has
    Py_ssize_t tasks


cdef class ByteSum(Step):
    """See the head of this file. ``numbers`` names the fields of Numbers, but for the tasks."""

    cdef Numbers work

    def __init__(self, dict numbers):
        cdef Py_ssize_t count = numbers["count"]
        self.tasks = max(1, count // TASK)
        self.work = {**numbers, "tasks": self.tasks}
        self.numbers, self.run = &self.work, add


cdef void add(const void* numbers, Py_ssize_t task, const Memory* memory) noexcept nogil:
    """Some neighbours."""
    cdef const Numbers* w = <const Numbers*> numbers
    cdef Py_ssize_t first = task * w.count // w.tasks, end = (task + 1) * w.count // w.tasks, i
    cdef const unsigned char* a = <const unsigned char*> memory.arena + w.a
    cdef const unsigned char* b = <const unsigned char*> memory.arena + w.b
    cdef unsigned char* out = <unsigned char*> memory.arena + w.out
    cdef float ratio_a = w.ratio_a, ratio_b = w.ratio_b, fixed = w.fixed, low = w.low, high = w.high, total
    cdef float unit = 12582912  # 1.5 * 2**23: beside it a float has no room for a fraction
    cdef int flip = w.flip
    for i in range(first, end):
        total = fma_of_one(<float> ((b[i] ^ flip) - flip), ratio_b, fixed)
        total = fma_of_one(<float> ((a[i] ^ flip) - flip), ratio_a, total)
        total = total if total > low else low
        total = total if total < high else high
        out[i] = <unsigned char> <int> (total + unit - unit)

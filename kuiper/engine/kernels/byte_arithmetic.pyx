"""Sums and products of two tensors of bytes, each with its scale and zero point, as bytes of a third scale.

    ByteSum        out = round(a * ratio_a + (b * ratio_b + fixed))     ratios to the scale of the sum; ``fixed`` has all
                                                                       zero points
    ByteProduct    out = round((a - zero_a) * (b - zero_b) * ratio + zero)

The products of a sum are fused with their additions, that of a product is rounded first, as in onnxruntime. The tensors lie in
memory in any way; a stride of 0 repeats.
"""

import math

from kuiper.engine.arrangement import arranged

from kuiper.engine.step cimport MAX_NDIM, Memory, Step
from kuiper.simd.vector cimport FUSES, fma_of_one

cdef enum:
    RUN = 8192  # numbers along the last axis
    TASK = 32768  # numbers

cdef struct Walk:
    Py_ssize_t place[3]  # where the result and both operands begin in the arena, in bytes
    Py_ssize_t shape[MAX_NDIM]
    Py_ssize_t stride[3][MAX_NDIM]
    Py_ssize_t runs, pieces, tasks  # a piece is a run along the last axis

cdef struct Numbers:
    float ratio_a, ratio_b, fixed  # of a sum
    float ratio, zero  # of a product
    int zero_a, zero_b
    float low, high
    int flip  # 128 for int8, whose sign it turns into the offset that uint8 has

cdef struct Work:
    Walk walk
    Numbers numbers

# The beginning of a run: where each tensor is, and how far its numbers are apart.
cdef struct Ends:
    unsigned char* out
    const unsigned char* a
    const unsigned char* b
    Py_ssize_t out_step, a_step, b_step, count


cdef class ByteArithmetic(Step):
    """The base of both.

    Parameters
    ----------
    numbers : dict of numbers, those fields of Numbers that the operation reads
    shape : of the result
    places : the offset in bytes and the strides in bytes of the result and of both operands
    """

    cdef Work work

    def __init__(self, dict numbers, shape, places):
        cdef Walk* w = &self.work.walk
        plan = arranged(shape, [strides for _, strides in places], 1, MAX_NDIM, RUN)
        neutral = dict.fromkeys(("ratio_a", "ratio_b", "fixed", "ratio", "zero", "zero_a", "zero_b"), 0)
        self.work.numbers = {**neutral, **numbers}
        w.place, w.shape, w.stride = [offset for offset, _ in places], plan.shape, plan.strides
        w.runs = (w.shape[MAX_NDIM - 1] + RUN - 1) // RUN
        w.pieces = math.prod(plan.shape[:-1]) * w.runs
        self.tasks = w.tasks = max(1, min(w.pieces, math.prod(shape) // TASK))
        self.numbers = &self.work


cdef class ByteSum(ByteArithmetic):
    """See the head of this file."""

    def __init__(self, dict numbers, shape, places):
        super().__init__(numbers, shape, places)
        self.run = add


cdef class ByteProduct(ByteArithmetic):
    """See the head of this file."""

    def __init__(self, dict numbers, shape, places):
        super().__init__(numbers, shape, places)
        self.run = multiply


cdef inline Ends run_of(const Walk* w, Py_ssize_t piece, const Memory* memory) noexcept nogil:
    """Where a run begins."""
    cdef Py_ssize_t at[3]
    cdef Py_ssize_t first = piece % w.runs * RUN, outer = piece // w.runs, axis, place, k
    cdef char* arena = <char*> memory.arena
    cdef Ends ends
    for k in range(3):
        at[k] = w.place[k] + first * w.stride[k][MAX_NDIM - 1]
    for axis in range(MAX_NDIM - 2, -1, -1):
        place = outer % w.shape[axis]
        outer = outer // w.shape[axis]
        for k in range(3):
            at[k] += place * w.stride[k][axis]
    ends.out, ends.a, ends.b = <unsigned char*> (arena + at[0]), <unsigned char*> (arena + at[1]), <unsigned char*> (arena + at[2])
    ends.out_step, ends.a_step, ends.b_step = w.stride[0][MAX_NDIM - 1], w.stride[1][MAX_NDIM - 1], w.stride[2][MAX_NDIM - 1]
    ends.count = min(<Py_ssize_t> RUN, w.shape[MAX_NDIM - 1] - first)
    return ends


cdef inline unsigned char byte_of(float number, float low, float high) noexcept nogil:
    """The nearest integer within the bounds, half to even."""
    cdef float unit = 12582912  # 1.5 * 2**23: beside it a float has no room for a fraction
    cdef float kept = number if number > low else low
    kept = kept if kept < high else high
    return <unsigned char> <int> (kept + unit - unit)


cdef inline float rounded_once(float a, float b, float c) noexcept nogil:
    """``a * b + c`` on every build: a product of floats fits into a double."""
    cdef double product
    if FUSES:
        return fma_of_one(a, b, c)
    product = <double> a * b
    return <float> (product + c)


cdef inline unsigned char sum_of(const Numbers* n, unsigned char a, unsigned char b) noexcept nogil:
    cdef float total = rounded_once(<float> ((b ^ n.flip) - n.flip), n.ratio_b, n.fixed)
    return byte_of(rounded_once(<float> ((a ^ n.flip) - n.flip), n.ratio_a, total), n.low, n.high)


cdef inline unsigned char product_of(const Numbers* n, unsigned char a, unsigned char b) noexcept nogil:
    cdef int whole = ((a ^ n.flip) - n.flip - n.zero_a) * ((b ^ n.flip) - n.flip - n.zero_b)
    cdef float steps = <float> whole * n.ratio
    return byte_of(steps + n.zero, n.low, n.high)


cdef void add(const void* numbers, Py_ssize_t task, const Memory* memory) noexcept nogil:
    """Some runs."""
    cdef const Work* w = <const Work*> numbers
    cdef Numbers n = w.numbers  # a copy, so that no byte that is written can be one of it
    cdef Py_ssize_t piece, i
    cdef Ends e
    for piece in range(task * w.walk.pieces // w.walk.tasks, (task + 1) * w.walk.pieces // w.walk.tasks):
        e = run_of(&w.walk, piece, memory)
        if e.out_step == 1 and e.a_step == 1 and e.b_step == 1:
            for i in range(e.count):
                e.out[i] = sum_of(&n, e.a[i], e.b[i])
        elif e.out_step == 1 and e.a_step == 1 and e.b_step == 0:
            for i in range(e.count):
                e.out[i] = sum_of(&n, e.a[i], e.b[0])
        else:
            for i in range(e.count):
                e.out[i * e.out_step] = sum_of(&n, e.a[i * e.a_step], e.b[i * e.b_step])


cdef void multiply(const void* numbers, Py_ssize_t task, const Memory* memory) noexcept nogil:
    """Some runs."""
    cdef const Work* w = <const Work*> numbers
    cdef Numbers n = w.numbers
    cdef Py_ssize_t piece, i
    cdef Ends e
    for piece in range(task * w.walk.pieces // w.walk.tasks, (task + 1) * w.walk.pieces // w.walk.tasks):
        e = run_of(&w.walk, piece, memory)
        if e.out_step == 1 and e.a_step == 1 and e.b_step == 1:
            for i in range(e.count):
                e.out[i] = product_of(&n, e.a[i], e.b[i])
        elif e.out_step == 1 and e.a_step == 1 and e.b_step == 0:
            for i in range(e.count):
                e.out[i] = product_of(&n, e.a[i], e.b[0])
        else:
            for i in range(e.count):
                e.out[i * e.out_step] = product_of(&n, e.a[i * e.a_step], e.b[i * e.b_step])

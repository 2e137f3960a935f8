"""Elementwise arithmetic: one pass over memory, as fast as memory allows.

Broadcasting is a stride of 0. To add b of shape (c, 1, 1) to a of shape (c, h, w), walk both with one index and let b
stand still where its axis has length 1:

    axis            c   h   w                       c   h*w
    shape           3   4   5                       3    20
    strides of a   20   5   1     neighbours       20     1     <- each row of a: contiguous
    strides of b    1   0   0     that fit          1     0     <- each row of b: one number
                                  are merged

The wrapper (broadcasting.py) merges axes until, nearly always, long contiguous rows remain, and hands over four axes,
outermost first. Here each row is cut into blocks, the work items of the threads, and a block meets one of four loops:

    a  + + + +     + + + +     + . . .     +   +   +   +
    b  + + + +     + . . .     + + + +     +  +  +  +
       together    b stands    a stands    any strides

In the first three the steps are known to be 0 or 1, and the compiler turns them into vector instructions.

The exponential is that of ``kuiper/simd/scalar.pxd``, because the C library's ``expf`` takes one number at a time.
"""

from cython.parallel cimport prange

from kuiper.simd.scalar cimport exp
from kuiper.simd.vector cimport fma_of_one

cdef enum:
    BLOCK = 8192  # numbers; three such blocks take 96 KB and stay in the core's own cache

cdef enum Operation:
    ADD
    SUB
    MUL
    DIV

ctypedef void (*Row)(const float*, Py_ssize_t, const float*, Py_ssize_t, float*, Py_ssize_t) noexcept nogil


def add(const float[:, :, :, :] a, const float[:, :, :, :] b, float[:, :, :, ::1] out, int num_threads):
    """out = a + b, all of one shape."""
    for_each_block(add_row, a, b, out, num_threads)


def sub(const float[:, :, :, :] a, const float[:, :, :, :] b, float[:, :, :, ::1] out, int num_threads):
    """out = a - b, all of one shape."""
    for_each_block(sub_row, a, b, out, num_threads)


def mul(const float[:, :, :, :] a, const float[:, :, :, :] b, float[:, :, :, ::1] out, int num_threads):
    """out = a * b, all of one shape."""
    for_each_block(mul_row, a, b, out, num_threads)


def div(const float[:, :, :, :] a, const float[:, :, :, :] b, float[:, :, :, ::1] out, int num_threads):
    """out = a / b, all of one shape; x / 0 is an infinity or NaN, as IEEE 754 has it."""
    for_each_block(div_row, a, b, out, num_threads)


def axpy(float a, const float[::1] x, const float[::1] y, float[::1] out, int num_threads):
    """out = a * x + y, all of one length."""
    cdef Py_ssize_t block, start, n = out.shape[0]
    for block in prange((n + BLOCK - 1) // BLOCK, nogil=True, schedule="static", num_threads=num_threads):
        start = block * BLOCK
        axpy_row(a, &x[start], &y[start], &out[start], min(BLOCK, n - start))


def exp_negative(const float[::1] x, float[::1] out, int num_threads):
    """out = exp(-x), both of one length."""
    cdef Py_ssize_t block, start, n = out.shape[0]
    for block in prange((n + BLOCK - 1) // BLOCK, nogil=True, schedule="static", num_threads=num_threads):
        start = block * BLOCK
        exp_negative_row(&x[start], &out[start], min(BLOCK, n - start))


cdef void for_each_block(
    Row row, const float[:, :, :, :] a, const float[:, :, :, :] b, float[:, :, :, ::1] out, int num_threads
) except *:
    cdef Py_ssize_t float_size = sizeof(float)
    cdef Py_ssize_t a_step = a.strides[3] // float_size, b_step = b.strides[3] // float_size
    cdef Py_ssize_t blocks = (out.shape[3] + BLOCK - 1) // BLOCK
    cdef Py_ssize_t items = out.shape[0] * out.shape[1] * out.shape[2] * blocks
    cdef Py_ssize_t item, line, i, j, k, start
    for item in prange(items, nogil=True, schedule="static", num_threads=num_threads):
        line = item // blocks
        start = item % blocks * BLOCK
        i = line // (out.shape[1] * out.shape[2])
        j = line // out.shape[2] % out.shape[1]
        k = line % out.shape[2]
        row(&a[i, j, k, start], a_step, &b[i, j, k, start], b_step, &out[i, j, k, start],
            min(BLOCK, out.shape[3] - start))


cdef void add_row(
    const float* a, Py_ssize_t a_step, const float* b, Py_ssize_t b_step, float* out, Py_ssize_t n
) noexcept nogil:
    combine_row(ADD, a, a_step, b, b_step, out, n)


cdef void sub_row(
    const float* a, Py_ssize_t a_step, const float* b, Py_ssize_t b_step, float* out, Py_ssize_t n
) noexcept nogil:
    combine_row(SUB, a, a_step, b, b_step, out, n)


cdef void mul_row(
    const float* a, Py_ssize_t a_step, const float* b, Py_ssize_t b_step, float* out, Py_ssize_t n
) noexcept nogil:
    combine_row(MUL, a, a_step, b, b_step, out, n)


cdef void div_row(
    const float* a, Py_ssize_t a_step, const float* b, Py_ssize_t b_step, float* out, Py_ssize_t n
) noexcept nogil:
    combine_row(DIV, a, a_step, b, b_step, out, n)


cdef inline void combine_row(
    Operation op, const float* a, Py_ssize_t a_step, const float* b, Py_ssize_t b_step, float* out, Py_ssize_t n
) noexcept nogil:
    """The four loops. Each caller passes a constant ``op``, so its test is gone after inlining."""
    cdef Py_ssize_t i
    cdef float constant
    if a_step == 1 and b_step == 1:
        for i in range(n):
            out[i] = combine(op, a[i], b[i])
    elif a_step == 1 and b_step == 0:
        constant = b[0]
        for i in range(n):
            out[i] = combine(op, a[i], constant)
    elif a_step == 0 and b_step == 1:
        constant = a[0]
        for i in range(n):
            out[i] = combine(op, constant, b[i])
    else:
        for i in range(n):
            out[i] = combine(op, a[i * a_step], b[i * b_step])


cdef inline float combine(Operation op, float x, float y) noexcept nogil:
    if op == ADD:
        return x + y
    if op == SUB:
        return x - y
    if op == MUL:
        return x * y
    return x / y


cdef inline void axpy_row(float a, const float* x, const float* y, float* out, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        out[i] = fma_of_one(a, x[i], y[i])


cdef inline void exp_negative_row(const float* x, float* out, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        out[i] = exp(-x[i])

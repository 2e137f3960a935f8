"""The activation family: one loop for each function, over numbers that lie one after the other in memory.

A function of one number does not care about axes: the doorway hands over any dense array as one long row. The row is
cut into blocks, which threads share out; within a block the compiler turns the loop into vector code:

    x   [ 4096 numbers | 4096 | 4096 | ... | the rest ]
          thread 0       0      1            1            each: y[i] = f(x[i]) for 16 numbers at once

A block is always the same stretch of the row, however many threads there are: the answer is the same to the last bit.
The formulas stand in ``activation_formulas.pxd`` and ``kuiper/simd/scalar.pxd``. A call through a pointer for each number would
keep the loop scalar: that is why each function has a loop of its own.
"""

from cython.parallel cimport prange

from kuiper.layers.kernels cimport activation_formulas as formulas
from kuiper.simd cimport scalar

cdef enum:
    BLOCK = 4096

# y[i] = f(x[i]; a, b, c) for i < count; what a function has no use for, its loop ignores.
ctypedef void (*Loop)(const float* x, float* y, Py_ssize_t count, float a, float b, float c) noexcept nogil


cdef void run(
    Loop loop, const float[::1] x, float[::1] y, int num_threads, float a = 0, float b = 0, float c = 0
) noexcept:
    """Let a loop run over every block of x (IN) into y (OUT)."""
    cdef Py_ssize_t count = x.shape[0], blocks = (count + BLOCK - 1) // BLOCK
    cdef Py_ssize_t block, start
    for block in prange(blocks, nogil=True, schedule="static", num_threads=num_threads):
        start = block * BLOCK
        loop(&x[start], &y[start], min(<Py_ssize_t> BLOCK, count - start), a, b, c)


cdef void relu_loop(const float* x, float* y, Py_ssize_t count, float a, float b, float c) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(count):
        y[i] = formulas.relu(x[i])


def relu(const float[::1] x, float[::1] y, int num_threads):
    run(relu_loop, x, y, num_threads)


cdef void leaky_relu_loop(const float* x, float* y, Py_ssize_t count, float a, float b, float c) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(count):
        y[i] = formulas.leaky_relu(x[i], a)


def leaky_relu(const float[::1] x, float[::1] y, float negative_slope, int num_threads):
    run(leaky_relu_loop, x, y, num_threads, negative_slope)


cdef void elu_loop(const float* x, float* y, Py_ssize_t count, float a, float b, float c) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(count):
        y[i] = formulas.elu(x[i], a, b, c)


def elu(const float[::1] x, float[::1] y, float positive, float negative, float inner, int num_threads):
    run(elu_loop, x, y, num_threads, positive, negative, inner)


cdef void hardtanh_loop(const float* x, float* y, Py_ssize_t count, float a, float b, float c) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(count):
        y[i] = formulas.hardtanh(x[i], a, b)


def hardtanh(const float[::1] x, float[::1] y, float min_val, float max_val, int num_threads):
    run(hardtanh_loop, x, y, num_threads, min_val, max_val)


cdef void hardsigmoid_loop(const float* x, float* y, Py_ssize_t count, float a, float b, float c) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(count):
        y[i] = formulas.hardsigmoid(x[i])


def hardsigmoid(const float[::1] x, float[::1] y, int num_threads):
    run(hardsigmoid_loop, x, y, num_threads)


cdef void hardswish_loop(const float* x, float* y, Py_ssize_t count, float a, float b, float c) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(count):
        y[i] = formulas.hardswish(x[i])


def hardswish(const float[::1] x, float[::1] y, int num_threads):
    run(hardswish_loop, x, y, num_threads)


cdef void sigmoid_loop(const float* x, float* y, Py_ssize_t count, float a, float b, float c) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(count):
        y[i] = scalar.sigmoid(x[i])


def sigmoid(const float[::1] x, float[::1] y, int num_threads):
    run(sigmoid_loop, x, y, num_threads)


cdef void logsigmoid_loop(const float* x, float* y, Py_ssize_t count, float a, float b, float c) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(count):
        y[i] = formulas.logsigmoid(x[i])


def logsigmoid(const float[::1] x, float[::1] y, int num_threads):
    run(logsigmoid_loop, x, y, num_threads)


cdef void tanh_loop(const float* x, float* y, Py_ssize_t count, float a, float b, float c) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(count):
        y[i] = scalar.tanh(x[i])


def tanh(const float[::1] x, float[::1] y, int num_threads):
    run(tanh_loop, x, y, num_threads)


cdef void silu_loop(const float* x, float* y, Py_ssize_t count, float a, float b, float c) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(count):
        y[i] = formulas.silu(x[i])


def silu(const float[::1] x, float[::1] y, int num_threads):
    run(silu_loop, x, y, num_threads)


cdef void gelu_loop(const float* x, float* y, Py_ssize_t count, float a, float b, float c) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(count):
        y[i] = formulas.gelu(x[i])


def gelu(const float[::1] x, float[::1] y, int num_threads):
    run(gelu_loop, x, y, num_threads)


cdef void gelu_tanh_loop(const float* x, float* y, Py_ssize_t count, float a, float b, float c) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(count):
        y[i] = formulas.gelu_tanh(x[i])


def gelu_tanh(const float[::1] x, float[::1] y, int num_threads):
    run(gelu_tanh_loop, x, y, num_threads)


cdef void mish_loop(const float* x, float* y, Py_ssize_t count, float a, float b, float c) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(count):
        y[i] = formulas.mish(x[i])


def mish(const float[::1] x, float[::1] y, int num_threads):
    run(mish_loop, x, y, num_threads)


cdef void softplus_loop(const float* x, float* y, Py_ssize_t count, float a, float b, float c) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(count):
        y[i] = formulas.softplus_beta(x[i], a, b)


def softplus(const float[::1] x, float[::1] y, float beta, float threshold, int num_threads):
    run(softplus_loop, x, y, num_threads, beta, threshold)


cdef void softsign_loop(const float* x, float* y, Py_ssize_t count, float a, float b, float c) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(count):
        y[i] = formulas.softsign(x[i])


def softsign(const float[::1] x, float[::1] y, int num_threads):
    run(softsign_loop, x, y, num_threads)


cdef void tanhshrink_loop(const float* x, float* y, Py_ssize_t count, float a, float b, float c) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(count):
        y[i] = formulas.tanhshrink(x[i])


def tanhshrink(const float[::1] x, float[::1] y, int num_threads):
    run(tanhshrink_loop, x, y, num_threads)


cdef void hardshrink_loop(const float* x, float* y, Py_ssize_t count, float a, float b, float c) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(count):
        y[i] = formulas.hardshrink(x[i], a)


def hardshrink(const float[::1] x, float[::1] y, float lambd, int num_threads):
    run(hardshrink_loop, x, y, num_threads, lambd)


cdef void softshrink_loop(const float* x, float* y, Py_ssize_t count, float a, float b, float c) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(count):
        y[i] = formulas.softshrink(x[i], a)


def softshrink(const float[::1] x, float[::1] y, float lambd, int num_threads):
    run(softshrink_loop, x, y, num_threads, lambd)


cdef void threshold_loop(const float* x, float* y, Py_ssize_t count, float a, float b, float c) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(count):
        y[i] = formulas.threshold(x[i], a, b)


def threshold(const float[::1] x, float[::1] y, float limit, float value, int num_threads):
    run(threshold_loop, x, y, num_threads, limit, value)

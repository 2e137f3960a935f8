"""Softmax and log-softmax over the middle axis of (outer, size, inner).

    softmax(x)_k = e**(x_k - m) / s,    log_softmax(x)_k = x_k - m - ln s,    m = max_j x_j,   s = sum_j e**(x_j - m)

Without the maximum, e**89 would be inf already; with it the largest term is e**0 = 1, and the result is the same.
Two loops, since memory has two cases:

    inner == 1: a softmax lies in one row.          inner > 1: neighbours belong to different softmaxes.
      [x x x x x x x x x x x]                         [x x x x|x x]     COLUMNS of them at a time: each keeps
       0 1 2 3 0 1 2 3 0 1 2  <- CHAINS partial       [x x x x|x x]     its own m and s, and the loops run
                                 maxima and sums      [x x x x|x x]     along the rows.

Both ways the innermost loop walks over neighbours without one step waiting for the last: vector code. Sums are double.
A row with NaN or +inf in it, or with nothing but -inf, becomes NaN throughout, as in torch.

Source: M. Milakov and N. Gimelshein, Online normalizer calculation for softmax, 2018, section 2 (the safe softmax).
"""

from cython.parallel cimport prange
from libc.math cimport INFINITY, log

from kuiper.layers.kernels.row_sums cimport CHAINS, sum_of
from kuiper.simd.scalar cimport exp

cdef enum:
    COLUMNS = 64


cdef inline float largest(const float* x, Py_ssize_t size) noexcept nogil:
    """The maximum of a row; NaN is passed over (its own exponential will spread it)."""
    cdef float chains[CHAINS]
    cdef float top = -INFINITY
    cdef Py_ssize_t i, block, chain, whole = size // CHAINS
    for chain in range(CHAINS):
        chains[chain] = -INFINITY
    for block in range(whole):
        for chain in range(CHAINS):
            chains[chain] = x[block * CHAINS + chain] if x[block * CHAINS + chain] > chains[chain] else chains[chain]
    for i in range(whole * CHAINS, size):
        top = x[i] if x[i] > top else top
    for chain in range(CHAINS):
        top = chains[chain] if chains[chain] > top else top
    return top


cdef void row(const float* x, float* y, Py_ssize_t size, bint logarithm) noexcept nogil:
    """One softmax whose numbers are neighbours."""
    cdef float top = largest(x, size), factor, shift
    cdef double added
    cdef Py_ssize_t i
    for i in range(size):
        y[i] = exp(x[i] - top)
    added = sum_of(y, size)
    if logarithm:
        shift = <float> log(added)
        for i in range(size):
            y[i] = (x[i] - top) - shift
    else:
        factor = <float> (1 / added)
        for i in range(size):
            y[i] = y[i] * factor


cdef void columns(
    const float* x, float* y, Py_ssize_t size, Py_ssize_t inner, Py_ssize_t width, bint logarithm
) noexcept nogil:
    """``width`` <= COLUMNS softmaxes side by side; the numbers of each lie ``inner`` apart."""
    cdef float top[COLUMNS]
    cdef float last[COLUMNS]
    cdef double added[COLUMNS]
    cdef Py_ssize_t k, lane
    for lane in range(width):
        top[lane] = -INFINITY
        added[lane] = 0
    for k in range(size):
        for lane in range(width):
            top[lane] = x[k * inner + lane] if x[k * inner + lane] > top[lane] else top[lane]
    for k in range(size):
        for lane in range(width):
            y[k * inner + lane] = exp(x[k * inner + lane] - top[lane])
        for lane in range(width):
            added[lane] += y[k * inner + lane]
    for lane in range(width):
        last[lane] = <float> (log(added[lane]) if logarithm else 1 / added[lane])
    for k in range(size):
        if logarithm:
            for lane in range(width):
                y[k * inner + lane] = (x[k * inner + lane] - top[lane]) - last[lane]
        else:
            for lane in range(width):
                y[k * inner + lane] = y[k * inner + lane] * last[lane]


cdef void every(const float[:, :, ::1] x, float[:, :, ::1] y, bint logarithm, int num_threads) noexcept:
    """All softmaxes of x (IN) into y (OUT), both (outer, size, inner)."""
    cdef Py_ssize_t outer = x.shape[0], size = x.shape[1], inner = x.shape[2]
    cdef Py_ssize_t strips = (inner + COLUMNS - 1) // COLUMNS
    cdef Py_ssize_t task, o, start
    for task in prange(outer * strips, nogil=True, schedule="static", num_threads=num_threads):
        if inner == 1:
            row(&x[task, 0, 0], &y[task, 0, 0], size, logarithm)
        else:
            o = task // strips
            start = (task - o * strips) * COLUMNS
            columns(&x[o, 0, start], &y[o, 0, start], size, inner, min(<Py_ssize_t> COLUMNS, inner - start), logarithm)


def softmax(const float[:, :, ::1] x, float[:, :, ::1] y, int num_threads):
    every(x, y, False, num_threads)


def log_softmax(const float[:, :, ::1] x, float[:, :, ::1] y, int num_threads):
    every(x, y, True, num_threads)

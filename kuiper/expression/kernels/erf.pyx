"""The error function over a row of numbers: y[i] = 2 / sqrt(pi) times the integral of e**(-t**2) from 0 to x[i].

NumPy has no erf. The formula of one number is shared with GELU (``kuiper/layers/kernels/vector_math.pxd``): a quotient of two
polynomials, without calls and branches, so that the loop over a block becomes vector code.

    x   [ 4096 numbers | 4096 | ... | the rest ]        each block by one thread, always the same blocks:
          thread 0       1                              the answer does not depend on the number of threads
"""

from cython.parallel cimport prange

from kuiper.layers.kernels cimport vector_math

cdef enum:
    BLOCK = 4096


cdef void erf_loop(const float* x, float* y, Py_ssize_t count) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(count):
        y[i] = vector_math.erf(x[i])


def erf(const float[::1] x, float[::1] y, int num_threads):
    """erf of x (IN) into y (OUT)."""
    cdef Py_ssize_t count = x.shape[0], blocks = (count + BLOCK - 1) // BLOCK
    cdef Py_ssize_t block, start
    for block in prange(blocks, nogil=True, schedule="static", num_threads=num_threads):
        start = block * BLOCK
        erf_loop(&x[start], &y[start], min(<Py_ssize_t> BLOCK, count - start))

"""The error function over a row of numbers: y[i] = 2 / sqrt(pi) times the integral of e**(-t**2) from 0 to x[i].

NumPy has no erf; the C library has one. It works in double, so what comes out is the nearest float (or its neighbour). GELU
uses a faster one, in ``kuiper/simd/scalar.pxd``, whose error of 3e-7 suits it; here 1e-7 is promised.

    x   [ 0 1 2 3 | 4 5 6 7 | ... ]        one stretch for each thread, and no number depends on another:
          thread 0  thread 1               the answer is the same for any number of threads
"""

from cython.parallel cimport prange
from libc.math cimport erf as erf_of_number


def erf(const float[::1] x, float[::1] y, int num_threads):
    """erf of x (IN) into y (OUT)."""
    cdef Py_ssize_t i
    for i in prange(x.shape[0], nogil=True, schedule="static", num_threads=num_threads):
        y[i] = <float> erf_of_number(x[i])

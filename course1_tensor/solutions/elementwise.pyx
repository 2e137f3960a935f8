"""Exercise 1.6: a loop that runs at the speed of C.

    axpy           a times x, plus y        the name is from the BLAS: "a x plus y"
    exp_negative   e to the power of -x     the heart of sigmoid, 1 / (1 + exp(-x))

The three memoryviews have the same length; the caller has checked that. ``out`` is there already and is to be filled:
a kernel allocates nothing. ``const`` means that the compiler stops you from writing to an input.

A worked example:   a = 2,  x = 1 2 3,  y = 10 20 30    ->    out = 12 24 36
"""

from libc.math cimport expf


def axpy(float a, const float[:] x, const float[:] y, float[:] out):
    """out = a * x + y.

    >>> import numpy as np
    >>> out = np.zeros(3, np.float32)
    >>> axpy(2, np.array([1, 2, 3], np.float32), np.array([10, 20, 30], np.float32), out)
    >>> out.tolist()
    [12.0, 24.0, 36.0]
    """
    cdef Py_ssize_t i
    # BEGIN SOLUTION
    for i in range(out.shape[0]):
        out[i] = a * x[i] + y[i]
    # END SOLUTION


def exp_negative(const float[:] x, float[:] out):
    """out = exp(-x).

    >>> import numpy as np
    >>> out = np.zeros(2, np.float32)
    >>> exp_negative(np.array([0, -1], np.float32), out)
    >>> out.round(3).tolist()
    [1.0, 2.7179999351501465]
    """
    cdef Py_ssize_t i
    # BEGIN SOLUTION
    for i in range(out.shape[0]):
        out[i] = expf(-x[i])
    # END SOLUTION

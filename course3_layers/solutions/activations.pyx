"""Exercise 3.2: activations, one number at a time.

    relu      out[i] = 0 if x[i] is negative, else x[i]
    sigmoid   out[i] = 1 / (1 + exp(-x[i]))              squeezes every number between 0 and 1
    silu      out[i] = x[i] * sigmoid(x[i])              like relu, but smooth; also called swish

A worked example:       x        -2        0        3
                        relu      0        0        3
                        sigmoid   0.119    0.5      0.953
                        silu     -0.238    0        2.858

For all three: ``x`` and ``out`` have the same length; ``out`` is there already and is to be filled. ``out`` may be
``x`` itself: then the numbers are replaced in place. As in PyTorch, NaN gives NaN, and large numbers do no harm:
sigmoid(200) is 1, sigmoid(-200) is 0. (C's expf does not complain: expf(200) is infinity, and 1 / infinity is 0.)
"""

from libc.math cimport expf


def relu(const float[:] x, float[:] out):
    """out = max(x, 0); NaN stays NaN.

    >>> import numpy as np
    >>> out = np.zeros(3, np.float32)
    >>> relu(np.array([-2, 0, 3], np.float32), out)
    >>> out.tolist()
    [0.0, 0.0, 3.0]
    """
    cdef Py_ssize_t i
    # BEGIN SOLUTION
    for i in range(x.shape[0]):
        out[i] = 0 if x[i] < 0 else x[i]
    # END SOLUTION


def sigmoid(const float[:] x, float[:] out):
    """out = 1 / (1 + exp(-x)).

    >>> import numpy as np
    >>> out = np.zeros(2, np.float32)
    >>> sigmoid(np.array([0, 200], np.float32), out)
    >>> out.tolist()
    [0.5, 1.0]
    """
    cdef Py_ssize_t i
    # BEGIN SOLUTION
    for i in range(x.shape[0]):
        out[i] = 1 / (1 + expf(-x[i]))
    # END SOLUTION


def silu(const float[:] x, float[:] out):
    """out = x * sigmoid(x).

    >>> import numpy as np
    >>> out = np.zeros(2, np.float32)
    >>> silu(np.array([0, 100], np.float32), out)
    >>> out.tolist()
    [0.0, 100.0]
    """
    cdef Py_ssize_t i
    # BEGIN SOLUTION
    for i in range(x.shape[0]):
        out[i] = x[i] / (1 + expf(-x[i]))
    # END SOLUTION

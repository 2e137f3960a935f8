"""Activations that a kernel applies to what it has just stored, while it is still in the first-level cache.

``relu`` and other clamps are done by the tile in its registers; the curved ones cost tens of operations for each number, so
a pass over the stored row costs little beside them. The formulas are those of the layers, but for SiLU and the sigmoid, which
stand behind every convolution of some networks: they are written for whole vectors, without the division.
"""

from kuiper.engine.vector cimport LANES, at_least, at_most, load, power_of_two, reciprocal, splat, store, vec
from kuiper.layers.kernels.activation_formulas cimport (
    elu, gelu, gelu_tanh, hardsigmoid, hardswish, leaky_relu, mish,
)
from kuiper.layers.kernels.vector_math cimport clamped, tanh

cdef enum Activation:
    NONE, CLIP, LEAKY_RELU, SILU, SIGMOID, HARDSWISH, HARDSIGMOID, TANH, GELU, GELU_TANH, ELU, MISH


cdef inline vec logistic(vec x) noexcept nogil:
    """1 / (1 + e**-x) within 2e-7, for |x| <= 87.

    As in kuiper/layers/kernels/vector_math.pxd: -x = n ln 2 + r, and e**-x = 2**n times a polynomial in r.
    """
    cdef float log2_e = -1.4426950408889634, ln2_high = -0.693359375, ln2_low = 2.12194440054690583e-4
    cdef float shift = 12582912, one = 1
    cdef float c2 = 1.0 / 2, c3 = 1.0 / 6, c4 = 1.0 / 24, c5 = 1.0 / 120, c6 = 1.0 / 720, c7 = 1.0 / 5040
    cdef vec n = (x * log2_e + shift) - shift
    cdef vec r = (n * ln2_high - x) + n * ln2_low
    cdef vec p = ((((((c7 * r + c6) * r + c5) * r + c4) * r + c3) * r + c2) * r + one) * r + one
    return reciprocal(p * power_of_two(n) + one)


cdef inline void activate_silu(float* x, Py_ssize_t count) noexcept nogil:
    """x times its sigmoid; for -inf that is NaN, as in torch, and the difference at the end is 0 for all others."""
    cdef vec low = splat(-87), high = splat(87), zero = splat(0), bounded, below_zero
    cdef Py_ssize_t i = 0
    while i < count:
        bounded = at_least(load(x + i), low)
        below_zero = at_most(load(x + i), zero)
        store(x + i, bounded * logistic(at_most(bounded, high)) + (below_zero - below_zero))
        i += LANES


cdef inline void activate_sigmoid(float* x, Py_ssize_t count) noexcept nogil:
    cdef vec low = splat(-87), high = splat(87)
    cdef Py_ssize_t i = 0
    while i < count:
        store(x + i, logistic(at_most(at_least(load(x + i), low), high)))
        i += LANES


cdef inline void activate(float* x, Py_ssize_t count, int activation, float alpha, float beta) noexcept nogil:
    """Apply an activation in place to ``count`` numbers, whole vectors of them; alpha and beta are its parameters."""
    cdef Py_ssize_t i
    cdef float one = 1
    if activation == CLIP:
        for i in range(count):
            x[i] = clamped(x[i], alpha, beta)
    elif activation == LEAKY_RELU:
        for i in range(count):
            x[i] = leaky_relu(x[i], alpha)
    elif activation == SILU:
        activate_silu(x, count)
    elif activation == SIGMOID:
        activate_sigmoid(x, count)
    elif activation == HARDSWISH:
        for i in range(count):
            x[i] = hardswish(x[i])
    elif activation == HARDSIGMOID:
        for i in range(count):
            x[i] = hardsigmoid(x[i])
    elif activation == TANH:
        for i in range(count):
            x[i] = tanh(x[i])
    elif activation == GELU:
        for i in range(count):
            x[i] = gelu(x[i])
    elif activation == GELU_TANH:
        for i in range(count):
            x[i] = gelu_tanh(x[i])
    elif activation == ELU:
        for i in range(count):
            x[i] = elu(x[i], one, alpha, one)
    elif activation == MISH:
        for i in range(count):
            x[i] = mish(x[i])

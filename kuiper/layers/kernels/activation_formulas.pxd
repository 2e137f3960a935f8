"""The activation functions of one number: ``activations.pyx`` loops over them, fused kernels call them in their store.

Every choice is a comparison that is false for NaN, and stands so that NaN then takes the way through: relu(NaN) is NaN.
"""

from libc.math cimport fabsf

from kuiper.simd.scalar cimport clamped, erf, exp, expm1, horner, sigmoid, softplus, tanh


cdef inline float relu(float x) noexcept nogil:
    """max(x, 0)."""
    cdef float zero = 0
    return zero if x < 0 else x


cdef inline float leaky_relu(float x, float negative_slope) noexcept nogil:
    """x where x > 0, else negative_slope x."""
    return x if x > 0 else negative_slope * x


cdef inline float elu(float x, float positive, float negative, float inner) noexcept nogil:
    """positive x where x > 0, else negative (e**(inner x) - 1): ELU, CELU and SELU by their three factors."""
    return positive * x if x > 0 else negative * expm1(inner * x)


cdef inline float hardtanh(float x, float min_val, float max_val) noexcept nogil:
    """x, kept within min_val .. max_val."""
    return clamped(x, min_val, max_val)


cdef inline float hardsigmoid(float x) noexcept nogil:
    """min(max(x + 3, 0), 6) / 6: the sigmoid as three straight lines."""
    cdef float three = 3, six = 6, sixth = 1.0 / 6
    return clamped(x + three, 0, six) * sixth


cdef inline float hardswish(float x) noexcept nogil:
    """x min(max(x + 3, 0), 6) / 6."""
    cdef float three = 3, six = 6, sixth = 1.0 / 6
    return x * clamped(x + three, 0, six) * sixth


cdef inline float silu(float x) noexcept nogil:
    """x sigmoid(x)."""
    return x * sigmoid(x)


cdef inline float gelu(float x) noexcept nogil:
    """x Phi(x), with Phi the normal distribution: x (1 + erf(x / sqrt 2)) / 2."""
    cdef float one = 1, half = 0.5, sqrt_half = 0.7071067811865476
    return half * x * (one + erf(sqrt_half * x))


cdef inline float gelu_tanh(float x) noexcept nogil:
    """x (1 + tanh z) / 2 = x sigmoid(2 z), with z = sqrt(2 / pi) (x + 0.044715 x**3)."""
    cdef float twice_sqrt_2_pi = 1.5957691216057308, cubic = 0.044715
    return x * sigmoid(twice_sqrt_2_pi * horner(cubic * x * x, x, x))


cdef inline float mish(float x) noexcept nogil:
    """x tanh(ln(1 + e**x)); with e = e**x the tanh is (e**2 + 2 e) / (e**2 + 2 e + 2), and 1 from x = 20 on."""
    cdef float two = 2
    cdef float e = exp(20 if x > 20 else x)
    cdef float n = e * (e + two)
    return x * (n / (n + two))


cdef inline float softplus_beta(float x, float beta, float threshold) noexcept nogil:
    """ln(1 + e**(beta x)) / beta, and x itself where beta x > threshold."""
    cdef float scaled = beta * x
    return x if scaled > threshold else softplus(scaled) / beta


cdef inline float logsigmoid(float x) noexcept nogil:
    """ln(1 / (1 + e**-x)) = -softplus(-x)."""
    return -softplus(-x)


cdef inline float softsign(float x) noexcept nogil:
    """x / (1 + |x|)."""
    cdef float one = 1
    return x / (one + fabsf(x))


cdef inline float tanhshrink(float x) noexcept nogil:
    """x - tanh(x)."""
    return x - tanh(x)


cdef inline float hardshrink(float x, float lambd) noexcept nogil:
    """x, but 0 where |x| <= lambd."""
    cdef float zero = 0
    return zero if fabsf(x) <= lambd else x


cdef inline float softshrink(float x, float lambd) noexcept nogil:
    """x moved by lambd towards 0, and 0 where |x| <= lambd (NaN stays: x - lambd is NaN, too)."""
    cdef float zero = 0
    cdef float low = x + lambd if x < -lambd else zero
    return low if x <= lambd else x - lambd


cdef inline float threshold(float x, float limit, float value) noexcept nogil:
    """x where x > limit, else value."""
    return value if x <= limit else x

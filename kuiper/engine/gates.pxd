"""The two functions that the gates of a recurrent cell are made of, on whole vectors: sigmoid and tanh of any number."""

from kuiper.engine.activation cimport logistic
from kuiper.engine.vector cimport at_least, at_most, below, power_of_two, reciprocal, splat, vec


cdef inline vec gate_sigmoid(vec x) noexcept nogil:
    """1 / (1 + e**-x) within 2e-7; NaN for NaN."""
    return logistic(at_most(at_least(x, splat(-87)), splat(87)))


cdef inline vec gate_tanh(vec x) noexcept nogil:
    """The hyperbolic tangent, -t / (2 + t) with t = e**(-2 |x|) - 1, and the sign of x; relative error below 5e-7.

    As in kuiper/layers/kernels/vector_math.pxd, where e**y - 1 = 2**n (e**r - 1) + (2**n - 1): nothing cancels near 0.
    Beyond 10 the tangent is 1.
    """
    cdef float log2_e = 1.4426950408889634, ln2_high = -0.693359375, ln2_low = 2.12194440054690583e-4
    cdef float shift = 12582912, one = 1, two = 2, lowest = -10
    cdef float c2 = 1.0 / 2, c3 = 1.0 / 6, c4 = 1.0 / 24, c5 = 1.0 / 120, c6 = 1.0 / 720, c7 = 1.0 / 5040
    cdef vec zero = splat(0)
    cdef vec y = at_least(at_most(x, zero - x), splat(lowest)) * two
    cdef vec n = (y * log2_e + shift) - shift
    cdef vec r = (y + n * ln2_high) + n * ln2_low
    cdef vec p = ((((c7 * r + c6) * r + c5) * r + c4) * r + c3) * r + c2
    cdef vec power = power_of_two(n)
    cdef vec t = power * ((p * r) * r + r) + (power - one)
    cdef vec size = t * reciprocal(t + two)
    return below(x, zero, size, zero - size)

"""exp, expm1, log1p, tanh, sigmoid and erf of one float, written so that a loop over them becomes vector code.

A call into libm stops the vectoriser, and a branch does too. So here is no call and no branch: only arithmetic, and
choices between two computed values. All are within a few units in the last place (relative error below 5e-7), give
NaN for NaN, and reach their limits at +inf and -inf.

    x = n ln 2 + r,   |r| <= ln 2 / 2        exp(x) = 2**n exp(r)

2**n costs nothing (n goes into the exponent bits of a float), and exp(r) is a short polynomial since r is small:

    |----- n = -1 -----|------ n = 0 ------|----- n = 1 -----|        r is the distance from the middle of the cell
         -ln 2                   0               ln 2

``fma_of_one`` is one instruction of vectors, too, where the build has it.

A literal such as 0.5 is a double in C, and one double makes the whole loop double: constants are therefore bound to
float variables or passed as float arguments, which the compiler folds away.

Source: W. Cody and W. Waite, Software Manual for the Elementary Functions, 1980, chapter 6 (the reduction).
"""

from libc.math cimport copysignf, fabsf
from libc.string cimport memcpy

from kuiper.simd.vector cimport fma_of_one


cdef inline float horner(float p, float x, float c) noexcept nogil:
    """p x + c: one step of Horner's rule, in float."""
    return fma_of_one(p, x, c)


cdef inline float power_of_two(int n) noexcept nogil:
    """2**n for -127 < n < 128, by its bits: sign 0, exponent n + 127, fraction 0."""
    cdef unsigned int bits = (<unsigned int> (n + 127)) << 23
    cdef float power
    memcpy(&power, &bits, sizeof(float))
    return power


cdef inline float clamped(float x, float low, float high) noexcept nogil:
    """x within low..high; NaN stays NaN."""
    x = low if x < low else x
    return high if x > high else x


cdef inline int reduce(float x, float* r) noexcept nogil:
    """The n nearest to x / ln 2, and r = x - n ln 2. NaN gives some n, and NaN in r.

    Adding 1.5 * 2**23 leaves a float no room for a fraction: the sum is rounded, and its low bits are n.
    ln 2 is subtracted in two parts, the first so short that n times it is exact.
    """
    cdef float shift = 12582912, log2_e = 1.4426950408889634
    cdef float ln2_high = -0.693359375, ln2_low = 2.12194440054690583e-4
    cdef float shifted = horner(x, log2_e, shift)
    cdef float n = shifted - shift
    cdef unsigned int bits
    r[0] = horner(n, ln2_low, horner(n, ln2_high, x))
    memcpy(&bits, &shifted, sizeof(float))
    return <int> (bits - 0x4B400000u)


cdef inline float from_second_term(float r) noexcept nogil:
    """(exp(r) - 1 - r) / r**2 for |r| <= ln 2 / 2: nearly Taylor's series, 1 / 2! + r / 3! + ... + r**4 / 6!."""
    cdef float p = 1.3882510064447081e-3
    p = horner(p, r, 8.366580337728885e-3)
    p = horner(p, r, 4.1667201780197914e-2)
    p = horner(p, r, 1.6666543178022064e-1)
    return horner(p, r, 4.999999814406782e-1)


cdef inline float exp_near_zero(float r) noexcept nogil:
    """exp(r) for |r| <= ln 2 / 2."""
    return horner(horner(from_second_term(r), r, 1), r, 1)


cdef inline float expm1_near_zero(float r) noexcept nogil:
    """exp(r) - 1 for |r| <= ln 2 / 2, exact also where that is nearly 0."""
    return horner(from_second_term(r) * r, r, r)


cdef inline float exp(float x) noexcept nogil:
    """e**x. The power of two comes in two halves, so that 2**-149 is reached, and 2**128 becomes inf."""
    cdef float r
    cdef int n = reduce(clamped(x, -110, 100), &r)
    cdef int half = n >> 1
    return exp_near_zero(r) * power_of_two(half) * power_of_two(n - half)


cdef inline float expm1(float x) noexcept nogil:
    """e**x - 1, exact also where e**x is nearly 1: 2**n (e**r - 1) + (2**n - 1), computed at half its size."""
    cdef float r, power, half = 0.5, two = 2
    cdef int n = reduce(clamped(x, -30, 89), &r)
    power = power_of_two(n - 1)
    return two * horner(power, expm1_near_zero(r), power - half)


cdef inline float sigmoid(float x) noexcept nogil:
    """1 / (1 + e**-x).

    Beyond the bounds the answer is 1, or 0 as e**89 is inf: so the power of two needs no halves, which ``exp`` has for
    the smallest numbers. NaN stays NaN.
    """
    cdef float r, one = 1
    cdef int n = reduce(-clamped(x, -89, 87), &r)
    return one / horner(exp_near_zero(r), power_of_two(n), one)


cdef inline float tanh(float x) noexcept nogil:
    """The hyperbolic tangent, -t / (2 + t) with t = e**(-2 |x|) - 1, and the sign of x."""
    cdef float two = 2
    cdef float t = expm1(-two * fabsf(x))
    return copysignf(t / (two + t), x)


cdef inline float log1p_unit(float u) noexcept nogil:
    """ln(1 + u) for 0 <= u <= 1: 2 artanh(s) with s = u / (2 + u) <= 1/3, so s**2 <= 1/9 and eight terms do."""
    cdef float two = 2
    cdef float s = u / (two + u)
    cdef float square = s * s
    cdef float p = 2.0 / 15
    p = horner(p, square, 2.0 / 13)
    p = horner(p, square, 2.0 / 11)
    p = horner(p, square, 2.0 / 9)
    p = horner(p, square, 2.0 / 7)
    p = horner(p, square, 2.0 / 5)
    p = horner(p, square, 2.0 / 3)
    return horner(p * square, s, two * s)


cdef inline float softplus(float x) noexcept nogil:
    """ln(1 + e**x) = max(x, 0) + ln(1 + e**-|x|)."""
    cdef float zero = 0
    return (zero if x < 0 else x) + log1p_unit(exp(-fabsf(x)))


cdef inline float erf(float x) noexcept nogil:
    """The error function: x P(x**2) / Q(x**2) up to |x| = 3.925, where a float cannot tell it from 1.

    The coefficients were fitted for this file (least squares at 4000 Chebyshev nodes, reweighted until the largest
    relative error was smallest: 2e-8). All are positive: nothing cancels.
    """
    cdef float one = 1, bounded = clamped(x, -3.925, 3.925)
    cdef float square = bounded * bounded
    cdef float p = 2.04616572e-6, q = 3.80485841e-5
    p = horner(p, square, 2.84831276e-4)
    p = horner(p, square, 3.77191019e-3)
    p = horner(p, square, 5.27673043e-2)
    p = horner(p, square, 1.90578530e-1)
    p = horner(p, square, 1.12837915)
    q = horner(q, square, 1.16370725e-3)
    q = horner(q, square, 1.49819049e-2)
    q = horner(q, square, 1.14176448e-1)
    q = horner(q, square, 5.02228558e-1)
    q = horner(q, square, one)
    return clamped(bounded * p / q, -one, one)

"""Functions of a whole vector: exponential, sigmoid, tanh, erf, GELU and their kin, written for what limits a loop over vectors:
the multiply-adds, of which a core starts two in a cycle. NaN gives NaN, and infinities their limits.

**e**x** is 2**(m / 8) e**r with m an integer, r = x - m ln 2 / 8, |r| <= ln 2 / 16. To add 1.5 * 2**23 rounds a float to an
integer, which then stands in its lowest bits. A lookup by the last three of them gives 2**(j / 8), j = m mod 8. The bits above
are those of an exponent: shifted to their place and added, they make it 2**(m / 8). With 127 * 8 added to m beforehand,
nothing else is to be done; m = 128 * 8 gives infinity, and m = -127 * 8 gives 0. So small an r needs three terms of e**r - 1.

**Where e**x is divided anyway** (Mish), e**r needs no polynomial of its own. Since r coth(r / 2) is even,

    e**r = (g + r) / (g - r),   g = r coth(r / 2) = 2 + r**2 / 6 - ...

**GELU**, x Phi(x), where Phi is the normal distribution, is x / 2 + |x| P(|x|) with P(y) = Phi(y) - 1/2 = erf(y / sqrt 2) / 2.
A fraction that is good for all of P needs eleven coefficients and a division. Cut into eight pieces up to y = 5.5, a polynomial
of fifth degree does, as a lookup gives each lane the coefficients of its own piece:

    P   |              .  - ' ' ' ' ' 1/2        piece k: y = (k - t) h, |t| <= 1/2
        |       . '|       |
        |   . '    |       |                     largest error of P: 3e-7
        | '  |     |       |
        +-0--|--1--|--2----|--- ... y

The last piece is the number 1/2, so that all x below are 0 and all x above are x. t counts downwards from the middle, as that
gives -0.0 for -0.0: of x = 0 it is 0, by which the first derivative, then negative, gives -0.0, and the constant of the first
piece is -0.0.

Polynomials and fractions were fitted for this file: least squares at thousands of Chebyshev nodes, reweighted until the
largest error was smallest.

Sources: W. Cody, W. Waite, Software Manual for the Elementary Functions, 1980, chapter 6 (the reduction, and the fraction);
D. Hendrycks, K. Gimpel, "Gaussian Error Linear Units (GELUs)", 2016.
"""

from kuiper.simd.vector cimport vec

cdef extern from "kuiper/simd/functions.h":
    # x within low..high; NaN stays NaN
    vec clamped "kuiper_clamped"(vec x, float low, float high) noexcept nogil
    # p x + c, rounded once
    vec horner "kuiper_horner"(vec p, vec x, float c) noexcept nogil
    vec exp "kuiper_exp"(vec x) noexcept nogil
    # for x <= 88
    vec exp_up_to "kuiper_exp_up_to"(vec x) noexcept nogil
    # factor * over / under = e**x, for x in -88.029692..88.722839
    void exp_as_fraction "kuiper_exp_as_fraction"(vec x, vec* factor, vec* over, vec* under) noexcept nogil
    vec expm1 "kuiper_expm1"(vec x) noexcept nogil
    vec log "kuiper_log"(vec x) noexcept nogil
    # 1 + e**-x
    vec logistic_denominator "kuiper_logistic_denominator"(vec x) noexcept nogil
    vec sigmoid "kuiper_sigmoid"(vec x) noexcept nogil
    vec tanh "kuiper_tanh"(vec x) noexcept nogil
    vec erf "kuiper_erf"(vec x) noexcept nogil
    # ln(1 + e**x)
    vec softplus "kuiper_softplus"(vec x) noexcept nogil
    vec gelu "kuiper_gelu"(vec x) noexcept nogil

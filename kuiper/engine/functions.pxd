"""The functions of ``kernels/elementwise.pyx``: one loop for each, over a chunk that lies in the first-level cache.

    combine   out[i] = f(x[i], y[i])    in whole vectors; x and y are rows of numbers, or one vector that stands for all
    apply     x[i] = f(x[i])            in place

In place, since a loop that reads one array and writes another makes the compiler ask at run time whether the two
overlap, and answer a yes with scalar code. What needs a call of the C library (sin, pow) is scalar anyway. The formulas
are those of the layers.
"""

from libc.math cimport (
    INFINITY, NAN, acosf, acoshf, asinf, asinhf, atan2f, atanf, atanhf, ceilf, cosf, coshf, fabsf, floorf, fmodf,
    log1pf, log10f, powf, rintf, sinf, sinhf, sqrtf, tanf, truncf,
)
from libc.string cimport memcpy

from kuiper.engine.activation cimport activate
from kuiper.engine.vector cimport LANES, larger, load, smaller, store, vec
from kuiper.layers.kernels.activation_formulas cimport (
    elu, hardshrink, logsigmoid, softplus_beta, softshrink, softsign, tanhshrink, threshold,
)
from kuiper.layers.kernels.vector_math cimport erf, exp, expm1, horner

cdef extern from *:
    """
    #define KUIPER_PRELU(x, slope) KUIPER_CHOOSE((x) > 0, x, (slope) * (x))
    """
    vec prelu "KUIPER_PRELU"(vec x, vec slope) noexcept nogil

# The codes below FIRST_BINARY are those of activation.pxd, which then does the work.
cdef enum Code:
    LOAD = 32, CONSTANT
    FIRST_BINARY = 40, ADD = 40, SUB, MUL, DIV, MAX, MIN, PRELU, POW, FMOD, ATAN2
    FIRST_UNARY = 64, NEG = 64, ABS, SQRT, RSQRT, RECIPROCAL, FLOOR, CEIL, ROUND, TRUNC, SIGN, SQUARE, CUBE
    HARDSHRINK, SOFTSHRINK, THRESHOLD, SOFTSIGN
    FIRST_CURVED, EXP = FIRST_CURVED, EXPM1, LOG, ERF, SOFTPLUS, LOGSIGMOID, TANHSHRINK, SELU, CELU
    FIRST_CALL, LOG10 = FIRST_CALL, LOG1P, SIN, COS, TAN, SINH, COSH, ASIN, ACOS, ATAN, ASINH, ACOSH, ATANH


cdef inline void combine(
    int code, const float* x, Py_ssize_t dx, const float* y, Py_ssize_t dy, float* out, Py_ssize_t vectors
) noexcept nogil:
    """out = f(x, y), vector by vector; dx and dy are LANES, or 0 where one vector stands for all."""
    cdef Py_ssize_t i, lane
    if code == ADD:
        for i in range(vectors):
            store(out + i * LANES, load(x + i * dx) + load(y + i * dy))
    elif code == SUB:
        for i in range(vectors):
            store(out + i * LANES, load(x + i * dx) - load(y + i * dy))
    elif code == MUL:
        for i in range(vectors):
            store(out + i * LANES, load(x + i * dx) * load(y + i * dy))
    elif code == DIV:
        for i in range(vectors):
            store(out + i * LANES, load(x + i * dx) / load(y + i * dy))
    elif code == MAX:
        for i in range(vectors):
            store(out + i * LANES, larger(load(x + i * dx), load(y + i * dy)))
    elif code == MIN:
        for i in range(vectors):
            store(out + i * LANES, smaller(load(x + i * dx), load(y + i * dy)))
    elif code == PRELU:
        for i in range(vectors):
            store(out + i * LANES, prelu(load(x + i * dx), load(y + i * dy)))
    else:
        for i in range(vectors):
            for lane in range(LANES):
                out[i * LANES + lane] = call(code, x[i * dx + lane], y[i * dy + lane])


cdef inline float call(int code, float x, float y) noexcept nogil:
    """A function of two numbers by the C library."""
    return powf(x, y) if code == POW else fmodf(x, y) if code == FMOD else atan2f(x, y)


cdef inline void apply(int code, float* x, Py_ssize_t count, float a, float b) noexcept nogil:
    """x = f(x) in place; a and b are the settings of the function."""
    cdef Py_ssize_t i
    cdef float one = 1
    if code < LOAD:
        activate(x, count, code, a, b)
    elif code == NEG:
        for i in range(count):
            x[i] = -x[i]
    elif code == ABS:
        for i in range(count):
            x[i] = fabsf(x[i])
    elif code == SQRT:
        for i in range(count):
            x[i] = sqrtf(x[i])
    elif code == RSQRT:
        for i in range(count):
            x[i] = one / sqrtf(x[i])
    elif code == RECIPROCAL:
        for i in range(count):
            x[i] = one / x[i]
    elif code == FLOOR:
        for i in range(count):
            x[i] = floorf(x[i])
    elif code == CEIL:
        for i in range(count):
            x[i] = ceilf(x[i])
    elif code == ROUND:
        for i in range(count):
            x[i] = rintf(x[i])
    elif code == TRUNC:
        for i in range(count):
            x[i] = truncf(x[i])
    elif code == SIGN:
        for i in range(count):
            x[i] = <float> (x[i] > 0) - <float> (x[i] < 0)
    elif code == SQUARE:
        for i in range(count):
            x[i] = x[i] * x[i]
    elif code == CUBE:
        for i in range(count):
            x[i] = x[i] * x[i] * x[i]
    elif code == HARDSHRINK:
        for i in range(count):
            x[i] = hardshrink(x[i], a)
    elif code == SOFTSHRINK:
        for i in range(count):
            x[i] = softshrink(x[i], a)
    elif code == THRESHOLD:
        for i in range(count):
            x[i] = threshold(x[i], a, b)
    elif code == SOFTSIGN:
        for i in range(count):
            x[i] = softsign(x[i])
    elif code < FIRST_CALL:
        curve(code, x, count, a, b)
    else:
        for i in range(count):
            x[i] = call_one(code, x[i])


cdef inline void curve(int code, float* x, Py_ssize_t count, float a, float b) noexcept nogil:
    """The functions that need an exponential or a polynomial: tens of operations, all of them vector code."""
    cdef Py_ssize_t i
    if code == EXP:
        for i in range(count):
            x[i] = exp(x[i])
    elif code == EXPM1:
        for i in range(count):
            x[i] = expm1(x[i])
    elif code == LOG:
        for i in range(count):
            x[i] = log(x[i])
    elif code == ERF:
        for i in range(count):
            x[i] = erf(x[i])
    elif code == SOFTPLUS:
        for i in range(count):
            x[i] = softplus_beta(x[i], a, b)
    elif code == LOGSIGMOID:
        for i in range(count):
            x[i] = logsigmoid(x[i])
    elif code == TANHSHRINK:
        for i in range(count):
            x[i] = tanhshrink(x[i])
    elif code == SELU:
        for i in range(count):
            x[i] = elu(x[i], a, b, 1)
    elif code == CELU:
        for i in range(count):
            x[i] = elu(x[i], 1, a, b)


cdef inline float call_one(int code, float x) noexcept nogil:
    """A function of one number by the C library."""
    if code == LOG10:
        return log10f(x)
    if code == LOG1P:
        return log1pf(x)
    if code == SIN:
        return sinf(x)
    if code == COS:
        return cosf(x)
    if code == TAN:
        return tanf(x)
    if code == SINH:
        return sinhf(x)
    if code == COSH:
        return coshf(x)
    if code == ASIN:
        return asinf(x)
    if code == ACOS:
        return acosf(x)
    if code == ATAN:
        return atanf(x)
    if code == ASINH:
        return asinhf(x)
    if code == ACOSH:
        return acoshf(x)
    return atanhf(x)


cdef inline float log(float x) noexcept nogil:
    """The natural logarithm: x = 2**n m with m in sqrt(1/2) .. sqrt(2), ln m = 2 artanh(s) with s = (m - 1) / (m + 1).

    Subtracting the bits of sqrt(1/2) before the exponent is cut off puts the border between two n there. |s| < 0.172,
    so that five terms of the series do. Numbers below 2**-126, whose exponent is not in its bits, are scaled up first.
    """
    cdef float smallest = 1.1754944e-38, up = 16777216, ln2_high = 0.693359375, ln2_low = -2.12194440054690583e-4
    cdef float one = 1, two = 2, zero = 0, m, n, s, square, p, infinity = INFINITY, nan = NAN
    cdef float shift = 24 if x < smallest else 0
    cdef float scaled = x * up if x < smallest else x
    cdef int bits
    memcpy(&bits, &scaled, sizeof(float))
    bits -= 0x3f3504f3
    n = <float> (bits >> 23) - shift
    bits = (bits & 0x7fffff) + 0x3f3504f3
    memcpy(&m, &bits, sizeof(float))
    s = (m - one) / (m + one)
    square = s * s
    p = 2.0 / 9
    p = horner(p, square, 2.0 / 7)
    p = horner(p, square, 2.0 / 5)
    p = horner(p, square, 2.0 / 3)
    p = horner(n, ln2_low, horner(p * square, s, two * s))
    p = horner(n, ln2_high, p)
    p = p if x < infinity else x
    p = -infinity if x == zero else p
    return nan if x < zero else p

"""The functions of ``kernels/elementwise.pyx``: one loop for each, over a chunk that lies in the first-level cache.

    combine   out[i] = f(x[i], y[i])    in whole vectors; operands are rows of numbers, or one vector that stands for all
    multiply_add   out[i] = x[i] * y[i] + z[i]
    apply     out[i] = f(x[i])

``out`` may be an operand. What needs a call of the C library (sin, pow) is scalar. The simplest functions are loops over
numbers, in place: a compiler makes vector code of them, if it need not ask at run time whether two arrays overlap.
"""

from libc.math cimport (
    acosf, acoshf, asinf, asinhf, atan2f, atanf, atanhf, ceilf, cosf, coshf, floorf, fmodf, log1pf, log10f, powf, rintf,
    sinf, sinhf, sqrtf, tanf, truncf,
)

from kuiper.engine.blocks cimport copy_vectors
from kuiper.simd.activations cimport FIRST_OTHER, map_fused, map_other
from kuiper.simd.functions cimport erf, exp, expm1, log
from kuiper.simd.vector cimport LANES, fma, larger, load, magnitude, smaller, splat, store, vec

cdef extern from *:
    """
    #define KUIPER_PRELU(x, slope) KUIPER_CHOOSE((x) > 0, x, (slope) * (x))
    """
    vec prelu "KUIPER_PRELU"(vec x, vec slope) noexcept nogil

# The codes below LOAD are those of the activations.
cdef enum Code:
    LOAD = 32, CONSTANT
    MULTIPLY_ADD = 36
    FIRST_BINARY = 40, ADD = 40, SUB, MUL, DIV, MAX, MIN, PRELU, POW, FMOD, ATAN2
    FIRST_UNARY = 64, NEG = 64, ABS, RECIPROCAL, SQUARE, CUBE
    FIRST_PLAIN, SQRT = FIRST_PLAIN, RSQRT, FLOOR, CEIL, ROUND, TRUNC, SIGN
    FIRST_CURVED, EXP = FIRST_CURVED, EXPM1, LOG, ERF
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


cdef inline void multiply_add(
    const float* x, Py_ssize_t dx, const float* y, Py_ssize_t dy, const float* z, Py_ssize_t dz, float* out,
    Py_ssize_t vectors,
) noexcept nogil:
    """out = x y + z, rounded once."""
    cdef Py_ssize_t i
    for i in range(vectors):
        store(out + i * LANES, fma(load(x + i * dx), load(y + i * dy), load(z + i * dz)))


cdef inline void apply(
    int code, const float* x, Py_ssize_t dx, float* out, Py_ssize_t vectors, float a, float b
) noexcept nogil:
    """out = f(x), vector by vector; a and b are the settings of the function, dx as above."""
    if code < FIRST_OTHER:
        map_fused(code, x, dx, out, vectors, a, b)
    elif code < LOAD:
        map_other(code, x, dx, out, vectors, a, b)
    elif code < FIRST_PLAIN:
        map_simple(code, x, dx, out, vectors)
    elif FIRST_CURVED <= code < FIRST_CALL:
        map_curve(code, x, dx, out, vectors)
    else:
        if x != out:
            copy_vectors(x, dx, out, vectors)
        change(code, out, vectors * LANES)


cdef inline void map_simple(int code, const float* x, Py_ssize_t dx, float* out, Py_ssize_t vectors) noexcept nogil:
    """Functions that are one or two instructions."""
    cdef vec one = splat(1)
    cdef Py_ssize_t i
    if code == NEG:
        for i in range(vectors):
            store(out + i * LANES, -load(x + i * dx))
    elif code == ABS:
        for i in range(vectors):
            store(out + i * LANES, magnitude(load(x + i * dx)))
    elif code == RECIPROCAL:
        for i in range(vectors):
            store(out + i * LANES, one / load(x + i * dx))
    elif code == SQUARE:
        for i in range(vectors):
            store(out + i * LANES, load(x + i * dx) * load(x + i * dx))
    elif code == CUBE:
        for i in range(vectors):
            store(out + i * LANES, load(x + i * dx) * load(x + i * dx) * load(x + i * dx))


cdef inline void map_curve(int code, const float* x, Py_ssize_t dx, float* out, Py_ssize_t vectors) noexcept nogil:
    """The functions that need an exponential or a polynomial: tens of operations."""
    cdef Py_ssize_t i
    if code == EXP:
        for i in range(vectors):
            store(out + i * LANES, exp(load(x + i * dx)))
    elif code == EXPM1:
        for i in range(vectors):
            store(out + i * LANES, expm1(load(x + i * dx)))
    elif code == LOG:
        for i in range(vectors):
            store(out + i * LANES, log(load(x + i * dx)))
    elif code == ERF:
        for i in range(vectors):
            store(out + i * LANES, erf(load(x + i * dx)))


cdef inline void change(int code, float* x, Py_ssize_t count) noexcept nogil:
    """x = f(x) in place, number by number."""
    cdef Py_ssize_t i
    cdef float one = 1
    if code == SQRT:
        for i in range(count):
            x[i] = sqrtf(x[i])
    elif code == RSQRT:
        for i in range(count):
            x[i] = one / sqrtf(x[i])
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
    else:
        for i in range(count):
            x[i] = call_one(code, x[i])


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

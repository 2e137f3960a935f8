"""Activations of whole vectors, for elementwise steps and for kernels that apply one to what they have just stored.

``relu`` and other clamps are done by the tile in its registers; the curved ones cost tens of operations for each number, so
a pass over the stored row, which is still in the first-level cache, costs little beside them. The formulas are those of the
layers (kuiper/layers/kernels/activation_formulas.pxd), but where two divisions can be one.
"""

from kuiper.simd.functions cimport clamped, exp_as_fraction, expm1, gelu, horner, logistic_denominator, sigmoid, tanh
from kuiper.simd.vector cimport LANES, below, fma, load, splat, store, vec

cdef enum Activation:
    NONE, CLIP, LEAKY_RELU, SILU, SIGMOID, HARDSWISH, HARDSIGMOID, TANH, GELU, GELU_TANH, ELU, MISH


cdef inline vec hardsigmoid(vec x) noexcept nogil:
    """min(max(x + 3, 0), 6) / 6."""
    cdef float three = 3, sixth = 1.0 / 6
    return clamped(x + three, 0, 6) * sixth


cdef inline vec hardswish(vec x) noexcept nogil:
    """x min(max(x + 3, 0), 6) / 6."""
    cdef float three = 3, sixth = 1.0 / 6
    return (x * clamped(x + three, 0, 6)) * sixth


cdef inline vec leaky_relu(vec x, float negative_slope) noexcept nogil:
    """x where x > 0, else negative_slope x."""
    return below(splat(0), x, x, x * negative_slope)


cdef inline vec elu(vec x, float positive, float negative, float inner) noexcept nogil:
    """positive x where x > 0, else negative (e**(inner x) - 1): ELU, CELU and SELU by their three factors."""
    return below(splat(0), x, x * positive, expm1(x * inner) * negative)


cdef inline vec gelu_tanh(vec x) noexcept nogil:
    """x (1 + tanh z) / 2 = x sigmoid(2 z), with z = sqrt(2 / pi) (x + 0.044715 x**3)."""
    cdef float linear = 1.5957691216057308, cubic = 0.07135481627159652
    return x * sigmoid(x * horner(x * x, splat(cubic), linear))


cdef inline vec mish(vec x) noexcept nogil:
    """x tanh(ln(1 + e**x)); with e**x = a / b it is x (a**2 + 2 a b) / (a**2 + 2 a b + 2 b**2), and x from 20 on."""
    cdef vec power, a, b, two = splat(2)
    exp_as_fraction(clamped(x, -88.029692, 20), &power, &a, &b)
    a = a * power
    a = a * fma(two, b, a)
    return x * (a / fma(two * b, b, a))


cdef inline void map_logistic(
    bint times_x, const float* x, Py_ssize_t dx, float* out, Py_ssize_t vectors
) noexcept nogil:
    """out = 1 / (1 + e**-x), or x times that; dx as below.

    A vector is divided when the two after it have come to their denominators: an operation that waits for another keeps
    its place in the core, and with some fifty cycles from a load to its store the places would run out.
    """
    cdef Py_ssize_t i
    cdef vec one = splat(1), now, soon, last
    if vectors <= 0:
        return
    now = soon = logistic_denominator(load(x))
    if vectors > 1:
        soon = logistic_denominator(load(x + dx))
    for i in range(vectors - 2):
        last = logistic_denominator(load(x + (i + 2) * dx))
        store(out + i * LANES, (load(x + i * dx) if times_x else one) / now)
        now = soon
        soon = last
    i = vectors - 1
    if i > 0:
        store(out + (i - 1) * LANES, (load(x + (i - 1) * dx) if times_x else one) / now)
    store(out + i * LANES, (load(x + i * dx) if times_x else one) / soon)


cdef inline void activate(float* x, Py_ssize_t count, int activation, float alpha, float beta) noexcept nogil:
    """Apply an activation in place to ``count`` numbers, whole vectors of them; alpha and beta are its parameters."""
    if activation != NONE:
        map_activation(activation, x, LANES, x, count // LANES, alpha, beta)


cdef inline void map_activation(
    int activation, const float* x, Py_ssize_t dx, float* out, Py_ssize_t vectors, float alpha, float beta
) noexcept nogil:
    """out = activation(x), vector by vector; dx is LANES, or 0 where one vector stands for all. ``out`` may be ``x``."""
    cdef Py_ssize_t i
    if activation == CLIP:
        for i in range(vectors):
            store(out + i * LANES, clamped(load(x + i * dx), alpha, beta))
    elif activation == LEAKY_RELU:
        for i in range(vectors):
            store(out + i * LANES, leaky_relu(load(x + i * dx), alpha))
    elif activation == SILU:
        map_logistic(True, x, dx, out, vectors)
    elif activation == SIGMOID:
        map_logistic(False, x, dx, out, vectors)
    elif activation == HARDSWISH:
        for i in range(vectors):
            store(out + i * LANES, hardswish(load(x + i * dx)))
    elif activation == HARDSIGMOID:
        for i in range(vectors):
            store(out + i * LANES, hardsigmoid(load(x + i * dx)))
    elif activation == TANH:
        for i in range(vectors):
            store(out + i * LANES, tanh(load(x + i * dx)))
    elif activation == GELU:
        for i in range(vectors):
            store(out + i * LANES, gelu(load(x + i * dx)))
    elif activation == GELU_TANH:
        for i in range(vectors):
            store(out + i * LANES, gelu_tanh(load(x + i * dx)))
    elif activation == ELU:
        for i in range(vectors):
            store(out + i * LANES, elu(load(x + i * dx), 1, alpha, 1))
    elif activation == MISH:
        for i in range(vectors):
            store(out + i * LANES, mish(load(x + i * dx)))

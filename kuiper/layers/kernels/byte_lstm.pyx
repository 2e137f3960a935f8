"""The cells of an LSTM whose products were computed of bytes: with onnxruntime's own tanh and logistic function.

What follows is turned to bytes again, where a difference in the last bit can become one of a whole step, and grow from
then on. So both functions are here as onnxruntime has them, quotients of two polynomials of the square:

    logistic(x) = x p(x**2) / q(x**2) + 1 / 2     for x within -18 .. 18
    tanh(x)     = x p(x**2) / q(x**2)             for x within -9 .. 9

A step of Horner's rule is a fused multiplication and addition of floats. In double the product of two floats is exact,
and so the sum is rounded as the fused one is (but once in half a billion), on every machine.

Source: onnxruntime, ``core/mlas/lib/logistic.cpp`` and ``tanh.cpp``, after Eigen.
"""


def logistic_of(const float[::1] x, float[::1] y):
    """The logistic function of x (IN), in y (OUT)."""
    cdef Py_ssize_t k
    with nogil:
        for k in range(x.shape[0]):
            y[k] = logistic(x[k])


def lstm_cells(
    const float[:, ::1] gates,
    const float[::1] bias,
    const float[:, ::1] peepholes,
    float[:, ::1] c,
    float[:, ::1] h,
    float bound,
    bint couples,
):
    """gates (n, 4 * cells) of i, o, f and g, bias (4 * cells), peepholes (3, cells) of i, o and f or empty (IN); c (n,
    cells) (IN and OUT); h (n, cells) (OUT). What goes into a function is clipped to ``bound``; f is 1 - i if it
    ``couples``."""
    cdef Py_ssize_t row
    cdef bint has_peepholes = peepholes.shape[0] > 0
    with nogil:
        for row in range(c.shape[0]):
            if has_peepholes:
                cells_with_peepholes(
                    &gates[row, 0], &bias[0], &peepholes[0, 0], &c[row, 0], &h[row, 0], c.shape[1], bound, couples
                )
            else:
                cells(&gates[row, 0], &bias[0], &c[row, 0], &h[row, 0], c.shape[1], bound, couples)


cdef void cells(
    const float* gates, const float* bias, float* c, float* h, Py_ssize_t size, float bound, bint couples,
) noexcept nogil:
    """One sequence."""
    cdef Py_ssize_t k
    cdef float i, f, g
    for k in range(size):
        i = logistic(clipped(gates[k] + bias[k], bound))
        f = logistic(clipped(gates[2 * size + k] + bias[2 * size + k], bound))
        g = quotient_tanh(clipped(gates[3 * size + k] + bias[3 * size + k], bound))
        f = 1 - i if couples else f
        c[k] = f * c[k] + i * g
        h[k] = logistic(clipped(gates[size + k] + bias[size + k], bound)) * quotient_tanh(c[k])


cdef void cells_with_peepholes(
    const float* gates, const float* bias, const float* peepholes, float* c, float* h, Py_ssize_t size, float bound,
    bint couples,
) noexcept nogil:
    """One sequence, whose gates see the memory."""
    cdef Py_ssize_t k
    cdef float i, o, f, g
    for k in range(size):
        i = logistic(clipped(gates[k] + c[k] * peepholes[k] + bias[k], bound))
        f = gates[2 * size + k] + c[k] * peepholes[2 * size + k]
        f = 1 - i if couples else logistic(clipped(f + bias[2 * size + k], bound))
        g = quotient_tanh(clipped(gates[3 * size + k] + bias[3 * size + k], bound))
        c[k] = f * c[k] + i * g
        o = gates[size + k] + c[k] * peepholes[size + k] + bias[size + k]
        h[k] = logistic(clipped(o, bound)) * quotient_tanh(c[k])


cdef inline float clipped(float x, float bound) noexcept nogil:
    """x within -bound .. bound; NaN stays NaN."""
    x = -bound if x < -bound else x
    return bound if x > bound else x


cdef inline float horner(float p, float x, float c) noexcept nogil:
    """p x + c, rounded once."""
    return <float> (<double> p * <double> x + <double> c)


cdef inline float logistic(float x) noexcept nogil:
    """1 / (1 + exp(-x))."""
    cdef float p, q, half = 0.5, zero = 0, one = 1
    x = clipped(x, 18)
    cdef float s = x * x
    p = horner(4.37031012579801e-11, s, 1.15627324459942e-07)
    p = horner(horner(horner(p, s, 6.08574864600143e-05), s, 8.51377133304701e-03), s, 2.48287947061529e-01)
    q = horner(6.10247389755681e-13, s, 5.76102136993427e-09)
    q = horner(horner(q, s, 6.29106785017040e-06), s, 1.70198817374094e-03)
    q = horner(horner(q, s, 1.16817656904453e-01), s, 9.93151921023180e-01)
    p = p * x / q + half
    p = zero if p < zero else p
    return one if p > one else p


cdef inline float quotient_tanh(float x) noexcept nogil:
    """tanh(x)."""
    cdef float p, q
    x = clipped(x, 9)
    cdef float s = x * x
    p = horner(-2.76076847742355e-16, s, 2.00018790482477e-13)
    p = horner(horner(p, s, -8.60467152213735e-11), s, 5.12229709037114e-08)
    p = horner(horner(horner(p, s, 1.48572235717979e-05), s, 6.37261928875436e-04), s, 4.89352455891786e-03)
    q = horner(1.19825839466702e-06, s, 1.18534705686654e-04)
    q = horner(horner(q, s, 2.26843463243900e-03), s, 4.89352518554385e-03)
    return p * x / q

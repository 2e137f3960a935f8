"""The range of some floats and zero, and the scale and the zero point at which they just fit into uint8."""

from libc.math cimport NAN, isfinite, rintf

from kuiper.simd.vector cimport LANES, larger, load, smaller, splat, store, vec

cdef struct Range:
    float low, high


cdef inline Range range_of_rows(const float* x, Py_ssize_t row, Py_ssize_t rows, Py_ssize_t columns) noexcept nogil:
    """Of rows that lie ``row`` floats apart; NaN if one of the numbers is."""
    cdef Range found
    cdef float[LANES] lows, highs
    cdef vec least = splat(0), greatest = splat(0), number
    cdef Py_ssize_t i, k, vectors = columns // LANES
    found.low = found.high = 0
    for i in range(rows):
        for k in range(vectors):
            number = load(x + k * LANES)
            least, greatest = smaller(number, least), larger(number, greatest)
        for k in range(vectors * LANES, columns):
            widen(&found, x[k], x[k])
        x += row
    store(lows, least)
    store(highs, greatest)
    for k in range(LANES):
        widen(&found, lows[k], highs[k])
    return found


cdef inline void widen(Range* found, float low, float high) noexcept nogil:
    """So that these numbers are in it, too."""
    found.low = low if low < found.low or low != low else found.low
    found.high = high if high > found.high or high != high else found.high


cdef inline float scale_of(Range found, bint spreads_nan) noexcept nogil:
    """The size of a step; of a range without an end NaN, if that is to ``spread``."""
    cdef float scale = 1
    if found.low != found.high:
        scale = (found.high - found.low) / <float> 255
    return <float> NAN if spreads_nan and not isfinite(scale) else scale


cdef inline int zero_of(Range found, float scale) noexcept nogil:
    """The step that is zero."""
    cdef float zero = -found.low / scale
    zero = zero if zero > 0 else 0  # NaN, too
    return <int> rintf(zero if zero < 255 else 255)

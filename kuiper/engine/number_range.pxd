"""The range of some floats and zero, and the scale and the zero point at which they just fit into uint8."""

from libc.math cimport NAN, isfinite, rintf

from kuiper.simd.vector cimport LANES, larger, load, smaller, splat, store, vec

cdef struct Range:
    float low, high


# The same in the making: of each lane, and of numbers that fill no vector.
cdef struct RangeSoFar:
    float[LANES] lows, highs
    Range others


cdef inline Range range_of_rows(const float* x, Py_ssize_t row, Py_ssize_t rows, Py_ssize_t columns) noexcept nogil:
    """Of rows that lie ``row`` floats apart; NaN if one of the numbers is."""
    cdef RangeSoFar found
    cdef vec least = splat(0), greatest = splat(0)
    cdef Py_ssize_t i
    found.others.low = found.others.high = 0
    for i in range(rows):
        widen_by_row(&found.others, &least, &greatest, x + i * row, columns)
    store(found.lows, least)
    store(found.highs, greatest)
    return whole_range(&found)


cdef inline void widen_by_row(
    Range* others, vec* least, vec* greatest, const float* x, Py_ssize_t columns
) noexcept nogil:
    """Whole vectors widen the range of each lane; numbers that fill none have one of their own."""
    cdef Py_ssize_t k, vectors = columns // LANES
    cdef vec number
    for k in range(vectors):
        number = load(x + k * LANES)
        least[0], greatest[0] = smaller(number, least[0]), larger(number, greatest[0])
    if columns == vectors * LANES:
        return
    if vectors > 0:  # the last vector takes some numbers a second time
        number = load(x + columns - LANES)
        least[0], greatest[0] = smaller(number, least[0]), larger(number, greatest[0])
        return
    for k in range(columns):
        widen(others, x[k], x[k])


cdef inline void begin_range(RangeSoFar* found) noexcept nogil:
    """Of zero alone."""
    store(found.lows, splat(0))
    store(found.highs, splat(0))
    found.others.low = found.others.high = 0


cdef inline void widen_by_rows(RangeSoFar* found, float** x, int rows, Py_ssize_t columns) noexcept nogil:
    """So that what lies at these places is in it, too."""
    cdef vec least = load(found.lows), greatest = load(found.highs)
    cdef int i
    for i in range(rows):
        widen_by_row(&found.others, &least, &greatest, x[i], columns)
    store(found.lows, least)
    store(found.highs, greatest)


cdef inline Range whole_range(const RangeSoFar* found) noexcept nogil:
    """Of all numbers."""
    cdef Range whole = found.others
    cdef int lane
    for lane in range(LANES):
        widen(&whole, found.lows[lane], found.highs[lane])
    return whole


cdef inline Range range_of_parts(const float* parts, Py_ssize_t count) noexcept nogil:
    """Of this many ranges, the two ends of each side by side."""
    cdef Range whole
    cdef Py_ssize_t part
    whole.low = whole.high = 0
    for part in range(count):
        widen(&whole, parts[2 * part], parts[2 * part + 1])
    return whole


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

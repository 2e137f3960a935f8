"""Keys and values in bytes, a quarter of the memory: they lie as in cache_panels.pxd, and each has a scale.

    scale = max |x| / 127        byte = round(x / scale)        a row of a head at a time, half to even

Bytes are made floats, panel by panel, before they are multiplied, and the products of keys are multiplied by the scales
afterwards: a score has one scale, and so has the factor of a value.
"""

from libc.math cimport isfinite, rintf
from libc.string cimport memcpy

from kuiper.engine.kernels.cache_panels cimport PANEL, panels_of
from kuiper.simd.vector cimport LANES, load, of_bytes, prefetch, store


cdef inline void put_bytes(
    const float* key, const float* value, Py_ssize_t numbers, Py_ssize_t at, Py_ssize_t capacity, signed char* keys,
    signed char* values, float* key_scales, float* value_scales,
) noexcept nogil:
    """One key and one value, to place ``at`` of a cache of ``capacity`` positions."""
    cdef float steps = steps_of(key, numbers, key_scales + at)
    cdef Py_ssize_t e
    for e in range(numbers):
        keys[(at // PANEL * numbers + e) * PANEL + at % PANEL] = byte_of(key[e], steps)
    steps = steps_of(value, numbers, value_scales + at)
    for e in range(numbers):
        values[(e // PANEL * capacity + at) * PANEL + e % PANEL] = byte_of(value[e], steps)


cdef inline float steps_of(const float* x, Py_ssize_t count, float* scale) noexcept nogil:
    """How many steps there are in 1, and the size of one, ``scale``, for a row's bytes.

    A row of almost nothing has 0 of size 0; one with NaN or infinity has 0, and a size that is no number either.
    """
    cdef float largest, least = 1e-30  # the layer's
    cdef int most = 0, bits
    cdef Py_ssize_t e
    for e in range(count):  # without their sign, floats are in the order of their bits; NaN is above all
        memcpy(&bits, x + e, sizeof(float))
        most = max(most, bits & 0x7fffffff)
    memcpy(&largest, &most, sizeof(float))
    scale[0] = 0 if largest < least else largest / 127
    return 127 / largest if largest >= least and isfinite(largest) else 0


cdef inline signed char byte_of(float x, float steps) noexcept nogil:
    return <signed char> rintf(x * steps) if steps > 0 else 0


cdef inline void keys_in_floats(
    const signed char* keys, Py_ssize_t numbers, Py_ssize_t seen, const signed char* behind, float* out
) noexcept nogil:
    """The panels of the first ``seen`` keys; ``behind`` lies what will be read next, the values."""
    ask_for(behind, panels_of(seen) * numbers * PANEL)
    in_floats(keys, panels_of(seen) * numbers, out)


cdef inline void values_in_floats(
    const signed char* values, Py_ssize_t numbers, Py_ssize_t seen, Py_ssize_t capacity, const signed char* behind,
    float* out,
) noexcept nogil:
    """The first ``seen`` values, in panels as far apart as those of bytes; ``behind`` lie the keys of another page."""
    cdef Py_ssize_t panel
    ask_for(behind, capacity * numbers)
    for panel in range(panels_of(numbers)):
        in_floats(values + panel * capacity * PANEL, seen, out + panel * capacity * PANEL)


cdef inline void ask_for(const signed char* x, Py_ssize_t count) noexcept nogil:
    """The cache lines of so many bytes; while they come from memory, the bytes before them are multiplied."""
    cdef Py_ssize_t i
    for i in range(0, count, 64):
        prefetch(x + i)


cdef inline void in_floats(const signed char* x, Py_ssize_t panel_rows, float* out) noexcept nogil:
    """So many times PANEL bytes."""
    cdef Py_ssize_t i
    for i in range(panel_rows * (PANEL // LANES)):
        store(out + i * LANES, of_bytes(x + i * LANES))


cdef inline void scale_each(float* x, const float* scales, Py_ssize_t panels) noexcept nogil:
    """x *= scales, panels of numbers."""
    cdef Py_ssize_t i
    for i in range(panels * (PANEL // LANES)):
        store(x + i * LANES, load(x + i * LANES) * load(scales + i * LANES))

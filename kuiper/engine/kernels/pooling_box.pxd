"""What a pooling step does for one output pixel, or for two that share their taps: all vectors of channels."""

from libc.math cimport INFINITY

from kuiper.simd.vector cimport LANES, larger, load, splat, store, vec

# Pixels to be pooled: ``rows`` times ``columns`` of them, this many floats apart.
cdef struct Box:
    Py_ssize_t rows, columns, row, column


cdef inline void two_maxima(
    const float* source, Py_ssize_t step, Py_ssize_t count, Py_ssize_t vectors, float* out, float* other
) noexcept nogil:
    """Of ``count`` pixels, ``step`` floats apart, and of those from the second on and the one behind."""
    cdef Py_ssize_t v = 0
    while v + 4 <= vectors:
        two_times_four(source + v * LANES, step, count, out + v * LANES, other + v * LANES)
        v += 4
    while v < vectors:
        two_times_one(source + v * LANES, step, count, out + v * LANES, other + v * LANES)
        v += 1


cdef inline void two_times_one(
    const float* source, Py_ssize_t step, Py_ssize_t count, float* out, float* other
) noexcept nogil:
    cdef vec a = load(source + step)
    cdef Py_ssize_t i
    for i in range(2, count):
        a = larger(load(source + i * step), a)
    store(out, larger(load(source), a))
    store(other, larger(load(source + count * step), a))


cdef inline void two_times_four(
    const float* source, Py_ssize_t step, Py_ssize_t count, float* out, float* other
) noexcept nogil:
    cdef const float* p = source + step
    cdef vec a = load(p), b = load(p + LANES), c = load(p + 2 * LANES), d = load(p + 3 * LANES)
    cdef Py_ssize_t i
    for i in range(2, count):
        p = source + i * step
        a = larger(load(p), a)
        b = larger(load(p + LANES), b)
        c = larger(load(p + 2 * LANES), c)
        d = larger(load(p + 3 * LANES), d)
    p = source + count * step
    store(out, larger(load(source), a))
    store(out + LANES, larger(load(source + LANES), b))
    store(out + 2 * LANES, larger(load(source + 2 * LANES), c))
    store(out + 3 * LANES, larger(load(source + 3 * LANES), d))
    store(other, larger(load(p), a))
    store(other + LANES, larger(load(p + LANES), b))
    store(other + 2 * LANES, larger(load(p + 2 * LANES), c))
    store(other + 3 * LANES, larger(load(p + 3 * LANES), d))


cdef inline void pool_box(
    bint maximum, const Box* box, const float* source, Py_ssize_t vectors, float divisor, float* out
) noexcept nogil:
    """One output pixel, four vectors at a time while there are this many."""
    cdef Py_ssize_t v = 0
    if maximum:
        while v + 4 <= vectors:
            four_maxima(box, source + v * LANES, out + v * LANES)
            v += 4
        while v < vectors:
            one_maximum(box, source + v * LANES, out + v * LANES)
            v += 1
    else:
        while v + 4 <= vectors:
            four_means(box, source + v * LANES, divisor, out + v * LANES)
            v += 4
        while v < vectors:
            one_mean(box, source + v * LANES, divisor, out + v * LANES)
            v += 1


cdef inline void one_maximum(const Box* box, const float* source, float* out) noexcept nogil:
    cdef vec a = splat(-INFINITY)
    cdef Py_ssize_t y, x
    for y in range(box.rows):
        for x in range(box.columns):
            a = larger(load(source + y * box.row + x * box.column), a)
    store(out, a)


cdef inline void four_maxima(const Box* box, const float* source, float* out) noexcept nogil:
    cdef vec a = splat(-INFINITY), b = a, c = a, d = a
    cdef Py_ssize_t y, x
    cdef const float* p
    for y in range(box.rows):
        for x in range(box.columns):
            p = source + y * box.row + x * box.column
            a = larger(load(p), a)
            b = larger(load(p + LANES), b)
            c = larger(load(p + 2 * LANES), c)
            d = larger(load(p + 3 * LANES), d)
    store(out, a)
    store(out + LANES, b)
    store(out + 2 * LANES, c)
    store(out + 3 * LANES, d)


cdef inline void one_mean(const Box* box, const float* source, float divisor, float* out) noexcept nogil:
    cdef vec zero = splat(0), a = zero, row
    cdef Py_ssize_t y, x
    for y in range(box.rows):
        row = zero
        for x in range(box.columns):
            row = row + load(source + y * box.row + x * box.column)
        a = a + row
    store(out, a / splat(divisor))


cdef inline void four_means(const Box* box, const float* source, float divisor, float* out) noexcept nogil:
    cdef vec zero = splat(0), a = zero, b = zero, c = zero, d = zero, row_a, row_b, row_c, row_d
    cdef Py_ssize_t y, x
    cdef const float* p
    for y in range(box.rows):
        row_a = row_b = row_c = row_d = zero
        for x in range(box.columns):
            p = source + y * box.row + x * box.column
            row_a = row_a + load(p)
            row_b = row_b + load(p + LANES)
            row_c = row_c + load(p + 2 * LANES)
            row_d = row_d + load(p + 3 * LANES)
        a, b, c, d = a + row_a, b + row_b, c + row_c, d + row_d
    store(out, a / splat(divisor))
    store(out + LANES, b / splat(divisor))
    store(out + 2 * LANES, c / splat(divisor))
    store(out + 3 * LANES, d / splat(divisor))

"""Winograd's matrices B and A at work: a tile of pixels into the domain of products, and the products back into pixels.

    F(4, 3)             6 x 6 pixels   -> B d B' ->   6 x 6 numbers  ...  6 x 6 sums   -> A m A' ->   4 x 4 outputs
    F(2, 3)             4 x 4 pixels   -> B d B' ->   4 x 4 numbers  ...  4 x 4 sums   -> A m A' ->   2 x 2 outputs
    F(4, 3), stride 2   9 x 9 pixels   -> B d B' ->   9 x 9 numbers  ...  9 x 9 sums   -> A m A' ->   4 x 4 outputs
    F(2, 3), stride 2   5 x 5 pixels   -> B d B' ->   5 x 5 numbers  ...  5 x 5 sums   -> A m A' ->   2 x 2 outputs

Every number is a ``vec``: LANES channels at once. No matrix is multiplied: for a pair of points +p, -p the two rows of
B (columns of A) have the same even part, and the same odd part up to its sign, so a pair costs little more than one:

    row +p of B d  =  even + p odd,     row -p  =  even - p odd

The points are those of ``engine/winograd_matrices.py``: 0, 1, -1, infinity for F(2, 3), and 0, p, -p, q, -q, infinity
for F(4, 3), with p = 11/16 and q = 3/2; with stride 2 they are 1, -1, infinity and p, -p, q, -q, infinity, with p = 1/2
and q = 5/4. All constants below are floats without rounding.
"""

from kuiper.simd.vector cimport fma, fnma, load, splat, store, vec

cdef extern from *:
    """
    #define KUIPER_P 0.6875
    #define KUIPER_Q 1.5
    #define KUIPER_P_OF_STRIDE_2 0.5
    #define KUIPER_Q_OF_STRIDE_2 1.25
    """
    const double P "KUIPER_P"
    const double Q "KUIPER_Q"
    const double P_OF_STRIDE_2 "KUIPER_P_OF_STRIDE_2"
    const double Q_OF_STRIDE_2 "KUIPER_Q_OF_STRIDE_2"

cdef inline void input_line_2(vec d0, vec d1, vec d2, vec d3, vec* v) noexcept nogil:
    """v = B d for one row or column of a tile, F(2, 3)."""
    v[0] = d2 - d0
    v[1] = d2 + d1
    v[2] = d2 - d1
    v[3] = d3 - d1


cdef inline void output_line_2(vec m0, vec m1, vec m2, vec m3, vec* y) noexcept nogil:
    """y = A m for one row or column, F(2, 3)."""
    y[0] = m0 + m1 + m2
    y[1] = m1 - m2 + m3


cdef inline void pair(
    vec d1, vec d2, vec d3, vec d4, vec point, vec other2, vec* plus, vec* minus
) noexcept nogil:
    """Two numbers of B d, F(4, 3): for the points ``point`` and -``point``. ``other2`` is the other point's square."""
    cdef vec even = fnma(other2, d2, d4), odd = fnma(other2, d1, d3)
    plus[0] = fma(point, odd, even)
    minus[0] = fnma(point, odd, even)


cdef inline void input_row_4(const vec* d, float* values, Py_ssize_t position) noexcept nogil:
    """B d for one row of a tile, F(4, 3), to ``values + j * position``."""
    cdef vec p = splat(P), q = splat(Q), p2 = splat(P * P), q2 = splat(Q * Q)
    cdef vec sum2 = splat(P * P + Q * Q), product2 = splat(P * P * Q * Q)
    cdef vec plus, minus
    store(values, fma(product2, d[0], fnma(sum2, d[2], d[4])))
    pair(d[1], d[2], d[3], d[4], p, q2, &plus, &minus)
    store(values + position, plus)
    store(values + 2 * position, minus)
    pair(d[1], d[2], d[3], d[4], q, p2, &plus, &minus)
    store(values + 3 * position, plus)
    store(values + 4 * position, minus)
    store(values + 5 * position, fma(product2, d[1], fnma(sum2, d[3], d[5])))


cdef inline void output_line_4(vec m0, vec m1, vec m2, vec m3, vec m4, vec m5, vec* y) noexcept nogil:
    """y = A m for one row or column, F(4, 3)."""
    cdef vec p = splat(P), p2 = splat(P * P), p3 = splat(P * P * P)
    cdef vec q = splat(Q), q2 = splat(Q * Q), q3 = splat(Q * Q * Q)
    cdef vec even_p = m1 + m2, odd_p = m1 - m2, even_q = m3 + m4, odd_q = m3 - m4
    y[0] = m0 + even_p + even_q
    y[1] = fma(q, odd_q, p * odd_p)
    y[2] = fma(q2, even_q, p2 * even_p)
    y[3] = fma(q3, odd_q, fma(p3, odd_p, m5))


cdef inline void input_tile_2(
    const float* pixels, Py_ssize_t row, Py_ssize_t pixel, float* values, Py_ssize_t position
) noexcept nogil:
    """LANES channels of 4 x 4 pixels: value (i, j) goes to ``values + (4 * i + j) * position``."""
    cdef vec column[4][4]
    cdef vec line[4]
    cdef const float* d
    cdef int i, j
    for j in range(4):
        d = pixels + j * pixel
        input_line_2(load(d), load(d + row), load(d + 2 * row), load(d + 3 * row), column[j])
    for i in range(4):
        input_line_2(column[0][i], column[1][i], column[2][i], column[3][i], line)
        for j in range(4):
            store(values + (4 * i + j) * position, line[j])


cdef inline void input_tile_4(
    const float* pixels, Py_ssize_t row, Py_ssize_t pixel, float* values, Py_ssize_t position
) noexcept nogil:
    """LANES channels of 6 x 6 pixels: value (i, j) goes to ``values + (6 * i + j) * position``.

    36 numbers are more than there are registers. So two rows of values are made at a time, from the pixels: reading
    some of these three times is cheaper than writing B d down and reading it again.
    """
    cdef vec p = splat(P), q = splat(Q), p2 = splat(P * P), q2 = splat(Q * Q)
    cdef vec sum2 = splat(P * P + Q * Q), product2 = splat(P * P * Q * Q)
    cdef vec above[6]
    cdef vec below[6]
    cdef const float* d
    cdef int j
    for j in range(6):
        d = pixels + j * pixel
        above[j] = fma(product2, load(d), fnma(sum2, load(d + 2 * row), load(d + 4 * row)))
        below[j] = fma(product2, load(d + row), fnma(sum2, load(d + 3 * row), load(d + 5 * row)))
    input_row_4(above, values, position)
    input_row_4(below, values + 30 * position, position)
    for j in range(6):
        d = pixels + j * pixel
        pair(load(d + row), load(d + 2 * row), load(d + 3 * row), load(d + 4 * row), p, q2, &above[j], &below[j])
    input_row_4(above, values + 6 * position, position)
    input_row_4(below, values + 12 * position, position)
    for j in range(6):
        d = pixels + j * pixel
        pair(load(d + row), load(d + 2 * row), load(d + 3 * row), load(d + 4 * row), q, p2, &above[j], &below[j])
    input_row_4(above, values + 18 * position, position)
    input_row_4(below, values + 24 * position, position)


cdef inline void output_tile_2(const float* sums, Py_ssize_t position, vec* y) noexcept nogil:
    """LANES channels of 2 x 2 outputs, ``y[2 * i + j]``, from 4 x 4 sums."""
    cdef vec column[4][2]
    cdef const float* m
    cdef int i, j
    for j in range(4):
        m = sums + j * position
        output_line_2(load(m), load(m + 4 * position), load(m + 8 * position), load(m + 12 * position), column[j])
    for i in range(2):
        output_line_2(column[0][i], column[1][i], column[2][i], column[3][i], y + 2 * i)


cdef inline void output_tile_4(const float* sums, Py_ssize_t position, vec* y) noexcept nogil:
    """LANES channels of 4 x 4 outputs, ``y[4 * i + j]``, from 6 x 6 sums."""
    cdef vec column[6][4]
    cdef const float* m
    cdef int i, j
    for j in range(6):
        m = sums + j * position
        output_line_4(
            load(m), load(m + 6 * position), load(m + 12 * position), load(m + 18 * position), load(m + 24 * position),
            load(m + 30 * position), column[j],
        )
    for i in range(4):
        output_line_4(column[0][i], column[1][i], column[2][i], column[3][i], column[4][i], column[5][i], y + 4 * i)


cdef inline void input_line_2_stride_2(const vec* d, vec* v) noexcept nogil:
    """v = B d for one row or column of a tile, F(2, 3) of stride 2."""
    v[0] = d[2] + d[0]
    v[1] = d[2] - d[0]
    v[2] = d[4] - d[0]
    v[3] = d[1]
    v[4] = d[3]


cdef inline void output_line_2_stride_2(const vec* m, vec* y) noexcept nogil:
    """y = A m for one row or column, F(2, 3) of stride 2."""
    y[0] = m[0] + m[1] + m[3]
    y[1] = m[0] - m[1] + m[2] + m[4]


cdef inline void pair_stride_2(vec d0, vec d2, vec d4, vec d6, vec point, vec other2, vec* plus, vec* minus) noexcept nogil:
    """Two numbers of B d, F(4, 3) of stride 2: for the points ``point`` and -``point``; see ``pair``."""
    cdef vec odd = fnma(other2, d2, d6), even = fnma(other2, d0, d4)
    plus[0] = fma(point, even, odd)
    minus[0] = fnma(point, even, odd)


cdef inline void input_row_4_stride_2(const vec* d, float* values, Py_ssize_t position) noexcept nogil:
    """B d for one row of a tile, F(4, 3) of stride 2, to ``values + j * position``."""
    cdef vec p = splat(P_OF_STRIDE_2), p2 = splat(P_OF_STRIDE_2 * P_OF_STRIDE_2)
    cdef vec q = splat(Q_OF_STRIDE_2), q2 = splat(Q_OF_STRIDE_2 * Q_OF_STRIDE_2)
    cdef vec plus, minus
    pair_stride_2(d[0], d[2], d[4], d[6], p, q2, &plus, &minus)
    store(values, plus)
    store(values + position, minus)
    pair_stride_2(d[0], d[2], d[4], d[6], q, p2, &plus, &minus)
    store(values + 2 * position, plus)
    store(values + 3 * position, minus)
    store(values + 4 * position, at_infinity_stride_2(d[0], d[4], d[8]))
    store(values + 5 * position, d[1])
    store(values + 6 * position, d[3])
    store(values + 7 * position, d[5])
    store(values + 8 * position, d[7])


cdef inline vec at_infinity_stride_2(vec d0, vec d4, vec d8) noexcept nogil:
    """The number of B d for the point infinity, F(4, 3) of stride 2."""
    cdef vec sum2 = splat(P_OF_STRIDE_2 * P_OF_STRIDE_2 + Q_OF_STRIDE_2 * Q_OF_STRIDE_2)
    cdef vec product2 = splat(P_OF_STRIDE_2 * P_OF_STRIDE_2 * Q_OF_STRIDE_2 * Q_OF_STRIDE_2)
    return fma(product2, d0, fnma(sum2, d4, d8))


cdef inline void output_even_stride_2(vec m0, vec m1, vec m2, vec m3, vec m5, vec m7, vec* y0, vec* y2) noexcept nogil:
    """Two numbers of A m, F(4, 3) of stride 2."""
    cdef vec p2 = splat(P_OF_STRIDE_2 * P_OF_STRIDE_2), q2 = splat(Q_OF_STRIDE_2 * Q_OF_STRIDE_2)
    cdef vec even_p = m0 + m1, even_q = m2 + m3
    y0[0] = even_p + even_q + m5
    y2[0] = fma(q2, even_q, fma(p2, even_p, m7))


cdef inline void output_odd_stride_2(
    vec m0, vec m1, vec m2, vec m3, vec m4, vec m6, vec m8, vec* y1, vec* y3
) noexcept nogil:
    """The other two numbers of A m."""
    cdef vec p = splat(P_OF_STRIDE_2), q = splat(Q_OF_STRIDE_2)
    cdef vec p3 = splat(P_OF_STRIDE_2 * P_OF_STRIDE_2 * P_OF_STRIDE_2)
    cdef vec q3 = splat(Q_OF_STRIDE_2 * Q_OF_STRIDE_2 * Q_OF_STRIDE_2)
    cdef vec odd_p = m0 - m1, odd_q = m2 - m3
    y1[0] = fma(q, odd_q, fma(p, odd_p, m6))
    y3[0] = fma(q3, odd_q, fma(p3, odd_p, m4 + m8))


cdef inline void output_row_4_stride_2(const vec* m, vec* y) noexcept nogil:
    """y = A m for one row, F(4, 3) of stride 2."""
    output_even_stride_2(m[0], m[1], m[2], m[3], m[5], m[7], y, y + 2)
    output_odd_stride_2(m[0], m[1], m[2], m[3], m[4], m[6], m[8], y + 1, y + 3)


cdef inline void input_tile_2_stride_2(
    const float* pixels, Py_ssize_t row, Py_ssize_t pixel, float* values, Py_ssize_t position
) noexcept nogil:
    """LANES channels of 5 x 5 pixels: value (i, j) goes to ``values + (5 * i + j) * position``."""
    cdef vec columns[5][5]
    cdef vec line[5]
    cdef vec d[5]
    cdef int i, j
    for j in range(5):
        for i in range(5):
            d[i] = load(pixels + i * row + j * pixel)
        input_line_2_stride_2(d, line)
        for i in range(5):
            columns[i][j] = line[i]
    for i in range(5):
        input_line_2_stride_2(columns[i], line)
        for j in range(5):
            store(values + (5 * i + j) * position, line[j])


cdef inline void input_tile_4_stride_2(
    const float* pixels, Py_ssize_t row, Py_ssize_t pixel, float* values, Py_ssize_t position
) noexcept nogil:
    """LANES channels of 9 x 9 pixels: value (i, j) goes to ``values + (9 * i + j) * position``.

    Two rows of values are made at a time, as for 6 x 6 pixels; the last four are rows of pixels.
    """
    cdef vec p = splat(P_OF_STRIDE_2), p2 = splat(P_OF_STRIDE_2 * P_OF_STRIDE_2)
    cdef vec q = splat(Q_OF_STRIDE_2), q2 = splat(Q_OF_STRIDE_2 * Q_OF_STRIDE_2)
    cdef vec above[9]
    cdef vec below[9]
    cdef const float* d
    cdef int i, j
    for j in range(9):
        d = pixels + j * pixel
        pair_stride_2(load(d), load(d + 2 * row), load(d + 4 * row), load(d + 6 * row), p, q2, &above[j], &below[j])
    input_row_4_stride_2(above, values, position)
    input_row_4_stride_2(below, values + 9 * position, position)
    for j in range(9):
        d = pixels + j * pixel
        pair_stride_2(load(d), load(d + 2 * row), load(d + 4 * row), load(d + 6 * row), q, p2, &above[j], &below[j])
    input_row_4_stride_2(above, values + 18 * position, position)
    input_row_4_stride_2(below, values + 27 * position, position)
    for j in range(9):
        d = pixels + j * pixel
        above[j] = at_infinity_stride_2(load(d), load(d + 4 * row), load(d + 8 * row))
    input_row_4_stride_2(above, values + 36 * position, position)
    for i in range(4):
        for j in range(9):
            above[j] = load(pixels + (2 * i + 1) * row + j * pixel)
        input_row_4_stride_2(above, values + (45 + 9 * i) * position, position)


cdef inline void output_tile_2_stride_2(const float* sums, Py_ssize_t position, vec* y) noexcept nogil:
    """LANES channels of 2 x 2 outputs, ``y[2 * i + j]``, from 5 x 5 sums."""
    cdef vec columns[2][5]
    cdef vec line[2]
    cdef vec m[5]
    cdef int i, j
    for j in range(5):
        for i in range(5):
            m[i] = load(sums + (5 * i + j) * position)
        output_line_2_stride_2(m, line)
        for i in range(2):
            columns[i][j] = line[i]
    for i in range(2):
        output_line_2_stride_2(columns[i], y + 2 * i)


cdef inline void output_tile_4_stride_2(const float* sums, Py_ssize_t position, vec* y) noexcept nogil:
    """LANES channels of 4 x 4 outputs, ``y[4 * i + j]``, from 9 x 9 sums."""
    cdef vec above[9]
    cdef vec below[9]
    cdef const float* m
    cdef Py_ssize_t row = 9 * position
    cdef int j
    for j in range(9):
        m = sums + j * position
        output_even_stride_2(
            load(m), load(m + row), load(m + 2 * row), load(m + 3 * row), load(m + 5 * row), load(m + 7 * row),
            &above[j], &below[j],
        )
    output_row_4_stride_2(above, y)
    output_row_4_stride_2(below, y + 8)
    for j in range(9):
        m = sums + j * position
        output_odd_stride_2(
            load(m), load(m + row), load(m + 2 * row), load(m + 3 * row), load(m + 4 * row), load(m + 6 * row),
            load(m + 8 * row), &above[j], &below[j],
        )
    output_row_4_stride_2(above, y + 4)
    output_row_4_stride_2(below, y + 12)

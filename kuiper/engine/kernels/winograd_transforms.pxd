"""Winograd's matrices B and A at work: a tile of pixels into the domain of products, and the products back into pixels.

    F(4, 3)    6 x 6 pixels   -> B d B' ->   6 x 6 numbers  ...  6 x 6 sums   -> A m A' ->   4 x 4 outputs
    F(2, 3)    4 x 4 pixels   -> B d B' ->   4 x 4 numbers  ...  4 x 4 sums   -> A m A' ->   2 x 2 outputs

Every number is a ``vec``: LANES channels at once. No matrix is multiplied: for a pair of points +p, -p the two rows of
B (columns of A) have the same even part, and the same odd part up to its sign, so a pair costs little more than one:

    row +p of B d  =  even + p odd,     row -p  =  even - p odd

The points are those of ``engine/winograd_matrices.py``: 0, 1, -1, infinity for F(2, 3), and 0, p, -p, q, -q, infinity
for F(4, 3), with p = 11/16 and q = 3/2. All constants below are floats without rounding.
"""

from kuiper.engine.vector cimport load, splat, store, vec

cdef extern from *:
    """
    #define KUIPER_P 0.6875
    #define KUIPER_Q 1.5
    """
    const double P "KUIPER_P"
    const double Q "KUIPER_Q"

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
    cdef vec even = d4 - other2 * d2, odd = point * (d3 - other2 * d1)
    plus[0] = even + odd
    minus[0] = even - odd


cdef inline void input_row_4(const vec* d, float* values, Py_ssize_t position) noexcept nogil:
    """B d for one row of a tile, F(4, 3), to ``values + j * position``."""
    cdef vec p = splat(P), q = splat(Q), p2 = splat(P * P), q2 = splat(Q * Q)
    cdef vec sum2 = splat(P * P + Q * Q), product2 = splat(P * P * Q * Q)
    cdef vec plus, minus
    store(values, d[4] - sum2 * d[2] + product2 * d[0])
    pair(d[1], d[2], d[3], d[4], p, q2, &plus, &minus)
    store(values + position, plus)
    store(values + 2 * position, minus)
    pair(d[1], d[2], d[3], d[4], q, p2, &plus, &minus)
    store(values + 3 * position, plus)
    store(values + 4 * position, minus)
    store(values + 5 * position, d[5] - sum2 * d[3] + product2 * d[1])


cdef inline void output_line_4(vec m0, vec m1, vec m2, vec m3, vec m4, vec m5, vec* y) noexcept nogil:
    """y = A m for one row or column, F(4, 3)."""
    cdef vec p = splat(P), p2 = splat(P * P), p3 = splat(P * P * P)
    cdef vec q = splat(Q), q2 = splat(Q * Q), q3 = splat(Q * Q * Q)
    cdef vec even_p = m1 + m2, odd_p = m1 - m2, even_q = m3 + m4, odd_q = m3 - m4
    y[0] = m0 + even_p + even_q
    y[1] = p * odd_p + q * odd_q
    y[2] = p2 * even_p + q2 * even_q
    y[3] = p3 * odd_p + q3 * odd_q + m5


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
        above[j] = load(d + 4 * row) - sum2 * load(d + 2 * row) + product2 * load(d)
        below[j] = load(d + 5 * row) - sum2 * load(d + 3 * row) + product2 * load(d + row)
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

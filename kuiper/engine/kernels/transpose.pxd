"""Transpose a matrix in squares of LANES x LANES numbers that are turned in registers, so that both sides are vectors.

A square is turned by the perfect shuffle: deal the first half of the rows and the second half like a deck of cards,
number by number; after log2(LANES) times each row is what was a column:

    a0 a1 a2 a3       a0 c0 a1 c1       a0 b0 c0 d0
    b0 b1 b2 b3  -->  a2 c2 a3 c3  -->  a1 b1 c1 d1
    c0 c1 c2 c3       b0 d0 b1 d1       a2 b2 c2 d2
    d0 d1 d2 d3       b2 d2 b3 d3       a3 b3 c3 d3

With 16 lanes these are 64 instructions between 16 loads and 16 stores, for 256 numbers.

What does not fill a square is covered by one that overlaps its neighbour and writes the same numbers twice. So nothing
but the target is written, and no size is special.

Source: H. Stone, "Parallel Processing with the Perfect Shuffle", IEEE Trans. Computers 1971.
"""

from kuiper.simd.vector cimport LANES, load, store, vec

cdef extern from "kuiper/engine/kernels/transpose.h":
    # the first and the second half of a[0], b[0], a[1], b[1], ...
    vec deal_low "kuiper_deal_low"(vec a, vec b) noexcept nogil
    vec deal_high "kuiper_deal_high"(vec a, vec b) noexcept nogil

cdef enum:
    LINE = 16  # floats of a cache line
    SIDE_BY_SIDE = 64  # columns: longer runs on the side that is written


cdef inline void transpose(
    const float* source, Py_ssize_t source_step, float* target, Py_ssize_t target_step,
    Py_ssize_t rows, Py_ssize_t columns,
) noexcept nogil:
    """target[row * target_step + column] = source[column * source_step + row], for at least LANES rows and columns.

    A cache line of the source is used up before the next one: the planes of an image often lie so that a cache has room
    for few lines of them.
    """
    cdef Py_ssize_t row_squares = (rows + LANES - 1) // LANES, column_squares = (columns + LANES - 1) // LANES
    cdef Py_ssize_t in_a_line = LINE // LANES, side_by_side = SIDE_BY_SIDE // LANES
    cdef Py_ssize_t line, block, row, column, i, j
    for block in range((column_squares + side_by_side - 1) // side_by_side):
        for line in range((row_squares + in_a_line - 1) // in_a_line):
            for j in range(block * side_by_side, min((block + 1) * side_by_side, column_squares)):
                column = min(j * LANES, columns - LANES)
                for i in range(line * in_a_line, min((line + 1) * in_a_line, row_squares)):
                    row = min(i * LANES, rows - LANES)
                    turn(
                        source + column * source_step + row, source_step, target + row * target_step + column, target_step
                    )


cdef inline void turn(
    const float* source, Py_ssize_t source_step, float* target, Py_ssize_t target_step
) noexcept nogil:
    """One square: its rows become columns."""
    cdef vec[LANES] a
    cdef vec[LANES] b
    cdef int i, times = 1
    for i in range(LANES):
        a[i] = load(source + i * source_step)
    while times < LANES:
        for i in range(LANES // 2):
            b[2 * i] = deal_low(a[i], a[i + LANES // 2])
            b[2 * i + 1] = deal_high(a[i], a[i + LANES // 2])
        for i in range(LANES):
            a[i] = b[i]
        times *= 2
    for i in range(LANES):
        store(target + i * target_step, a[i])

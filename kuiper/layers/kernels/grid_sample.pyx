"""An image read at any points: each output is a weighted sum of the pixels around its point.

Which pixels count on each axis, and how much, is known before: tables, two entries on an axis for linear interpolation,
one for nearest, four for cubic. The pixels around a point are all pairs (of a volume, all triples) of entries, and what
one counts is the product:

    columns of the point   [ 1   2 ]     weights   [ .4  .6 ]       .2 x[3,1]   .3 x[3,2]
    rows of the point      [ 3   4 ]     weights   [ .5  .5 ]       .2 x[4,1]   .3 x[4,2]     and their sum

An entry -1 lies outside: its pixels are left out, not counted with weight 0, since 0 times infinity would be NaN.

The sums are the same for every channel. So BLOCK points at a time, their pixels become offsets into a plane and single
weights, and then every channel uses these while they are in the cache.

Source: torch.nn.functional.grid_sample.
"""

from cython.parallel cimport prange

from kuiper.simd.vector cimport fma_of_one

cdef enum:
    BLOCK = 64  # points
    MAX_TAPS = 16  # pixels around a point: 4 x 4 for cubic, 2 x 2 x 2 for a volume


def grid_sample(
    const float[:, ::1] planes,
    Py_ssize_t height,
    Py_ssize_t width,
    const Py_ssize_t[:, ::1] slices,
    const float[:, ::1] slice_weights,
    const Py_ssize_t[:, ::1] rows,
    const float[:, ::1] row_weights,
    const Py_ssize_t[:, ::1] columns,
    const float[:, ::1] column_weights,
    float[:, ::1] out,
    int num_threads,
):
    """planes (c, depth * height * width) and six tables (points, entries) (IN), out (c, points) (OUT)."""
    cdef Py_ssize_t block, blocks = (out.shape[1] + BLOCK - 1) // BLOCK
    for block in prange(blocks, nogil=True, schedule="static", num_threads=num_threads):
        sample_block(
            planes, height, width, slices, slice_weights, rows, row_weights, columns, column_weights, out,
            block * BLOCK, min(BLOCK, out.shape[1] - block * BLOCK),
        )


cdef void sample_block(
    const float[:, ::1] planes, Py_ssize_t height, Py_ssize_t width,
    const Py_ssize_t[:, ::1] slices, const float[:, ::1] slice_weights,
    const Py_ssize_t[:, ::1] rows, const float[:, ::1] row_weights,
    const Py_ssize_t[:, ::1] columns, const float[:, ::1] column_weights,
    float[:, ::1] out, Py_ssize_t first, Py_ssize_t points,
) noexcept nogil:
    """``points`` points from ``first`` on, of all channels."""
    cdef Py_ssize_t[BLOCK * MAX_TAPS] offsets
    cdef float[BLOCK * MAX_TAPS] weights
    cdef Py_ssize_t p, z, y, x, tap = 0, row, c, taps = slices.shape[1] * rows.shape[1] * columns.shape[1]
    cdef float weight
    for p in range(first, first + points):
        for z in range(slices.shape[1]):
            for y in range(rows.shape[1]):
                row = -1 if slices[p, z] < 0 or rows[p, y] < 0 else (slices[p, z] * height + rows[p, y]) * width
                weight = slice_weights[p, z] * row_weights[p, y]
                for x in range(columns.shape[1]):
                    offsets[tap] = -1 if row < 0 or columns[p, x] < 0 else row + columns[p, x]
                    weights[tap] = weight * column_weights[p, x]
                    tap += 1
    for c in range(planes.shape[0]):
        sum_pixels(&planes[c, 0], offsets, weights, &out[c, first], points, taps)


cdef void sum_pixels(
    const float* plane, const Py_ssize_t* offsets, const float* weights, float* out, Py_ssize_t points, Py_ssize_t taps
) noexcept nogil:
    """out[p] is the sum over its taps of weight times pixel."""
    cdef Py_ssize_t p, t
    cdef float total
    for p in range(points):
        total = 0
        for t in range(taps):
            if offsets[t] >= 0:
                total = fma_of_one(weights[t], plane[offsets[t]], total)
        out[p] = total
        offsets += taps
        weights += taps

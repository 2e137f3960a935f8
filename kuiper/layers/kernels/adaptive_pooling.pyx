"""Adaptive average pooling: the caller says how many windows, the plane is shared out among them.

The idea. Output i of n looks at the rows from floor(i * h / n) up to ceil((i + 1) * h / n): windows of almost equal
size that cover everything and overlap by at most one row. Seven rows for three outputs:

    row      0   1   2   3   4   5   6
    out 0    [=======]                     0 .. 3
    out 1            [=======]             2 .. 5
    out 2                    [=======]     4 .. 7

The bounds come in tables (first, end), one for rows and one for columns. Every pixel is read about once, so windows
have nothing to share; what counts is the precision of long sums: ``row_sums.pxd`` adds in double.

Source: torch.nn.functional.adaptive_avg_pool2d.
"""

from cython.parallel cimport prange

from kuiper.layers.kernels.row_sums cimport sum_of


def adaptive_average(
    const float[:, :, ::1] x, const Py_ssize_t[:, ::1] rows, const Py_ssize_t[:, ::1] columns,
    float[:, :, ::1] out, int num_threads,
):
    """Fill ``out`` (planes, out_h, out_w) with means; ``rows`` and ``columns`` (2, outputs) hold first and end."""
    cdef Py_ssize_t plane, oy, ox
    for plane in prange(x.shape[0], nogil=True, num_threads=num_threads, schedule="static"):
        for oy in range(out.shape[1]):
            for ox in range(out.shape[2]):
                out[plane, oy, ox] = box_mean(x, plane, rows[0, oy], rows[1, oy], columns[0, ox], columns[1, ox])


cdef float box_mean(
    const float[:, :, ::1] x, Py_ssize_t plane, Py_ssize_t top, Py_ssize_t bottom, Py_ssize_t left, Py_ssize_t right,
) noexcept nogil:
    cdef double total = 0
    cdef Py_ssize_t y
    for y in range(top, bottom):
        total += sum_of(&x[plane, y, left], right - left)
    return <float>(total / ((bottom - top) * (right - left)))

"""Resampling by tables: where to look and what each neighbour counts is known before the first pixel is read.

The idea. An output row needs the same few input rows at every column, an output column the same few input columns at
every row. So the coordinates are worked out once per axis, as tables; the loops only look up, multiply and add: down,
then across.

     plane (h, w)                   line (w)                            out row (out_w)
    +-------------+
    | a a a a a a | --- * row      +-------------+   --- * column      +-----------------+
    | b b b b b b |     weight --> | m m m m m m |         weight -->  | o o o o o o o o |
    | c c c c c c | --- and add    +-------------+   --- and add       +-----------------+
    +-------------+

    m[ix] = sum over t of row_weights[t, oy] * x[row_indices[t, oy], ix]
    o[ox] = sum over t of column_weights[t, ox] * line[column_indices[t, ox]]

Two neighbours t make linear interpolation, four make cubic. Nearest is one neighbour of weight 1: only a copy.

Source: torch.nn.functional.interpolate; R. Keys, "Cubic Convolution Interpolation for Digital Image Processing", IEEE
Trans. ASSP 1981.
"""

from cython.parallel cimport prange, threadid
from libc.string cimport memcpy

from kuiper.simd.vector cimport fma_of_one


def take_nearest(
    const float[:, :, ::1] x, const Py_ssize_t[::1] row_indices, const Py_ssize_t[::1] column_indices,
    float[:, :, ::1] out, int num_threads,
):
    """out[p, oy, ox] = x[p, row_indices[oy], column_indices[ox]]; a row that comes again is copied whole."""
    cdef Py_ssize_t plane, oy, ox
    cdef const float* row
    for plane in prange(x.shape[0], nogil=True, num_threads=num_threads, schedule="static"):
        for oy in range(out.shape[1]):
            if oy > 0 and row_indices[oy] == row_indices[oy - 1]:
                memcpy(&out[plane, oy, 0], &out[plane, oy - 1, 0], out.shape[2] * sizeof(float))
            else:
                row = &x[plane, row_indices[oy], 0]
                for ox in range(out.shape[2]):
                    out[plane, oy, ox] = row[column_indices[ox]]


def blend(
    const float[:, :, ::1] x, float[:, ::1] lines,
    const Py_ssize_t[:, ::1] row_indices, const float[:, ::1] row_weights,
    const Py_ssize_t[:, ::1] column_indices, const float[:, ::1] column_weights,
    float[:, :, ::1] out, int num_threads,
):
    """Fill ``out`` (planes, out_h, out_w) from ``x`` (planes, h, w); the tables are (taps, out_h) and (taps, out_w).

    ``lines`` (num_threads, w) is scratch.
    """
    cdef Py_ssize_t plane, oy
    cdef float* line
    for plane in prange(x.shape[0], nogil=True, num_threads=num_threads, schedule="static"):
        line = &lines[threadid(), 0]
        for oy in range(out.shape[1]):
            blend_down(x, plane, oy, row_indices, row_weights, line)
            blend_across(line, column_indices, column_weights, &out[plane, oy, 0])


cdef void blend_down(
    const float[:, :, ::1] x, Py_ssize_t plane, Py_ssize_t oy,
    const Py_ssize_t[:, ::1] indices, const float[:, ::1] weights, float* line,
) noexcept nogil:
    cdef Py_ssize_t t, ix, w = x.shape[2]
    cdef const float* row = &x[plane, indices[0, oy], 0]
    cdef float weight = weights[0, oy]
    for ix in range(w):
        line[ix] = weight * row[ix]
    for t in range(1, indices.shape[0]):
        row = &x[plane, indices[t, oy], 0]
        weight = weights[t, oy]
        for ix in range(w):
            line[ix] = fma_of_one(weight, row[ix], line[ix])


cdef void blend_across(
    const float* line, const Py_ssize_t[:, ::1] indices, const float[:, ::1] weights, float* out,
) noexcept nogil:
    cdef Py_ssize_t t, ox, out_w = indices.shape[1]
    for ox in range(out_w):
        out[ox] = weights[0, ox] * line[indices[0, ox]]
    for t in range(1, indices.shape[0]):
        for ox in range(out_w):
            out[ox] = fma_of_one(weights[t, ox], line[indices[t, ox]], out[ox])

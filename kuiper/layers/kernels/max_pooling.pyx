"""Max pooling in two moves: down the rows, then across the columns.

The idea. The maximum of a box is the maximum of its columns' maxima, so a window of kh x kw costs about kh + kw
comparisons per output instead of kh * kw. Going down compares whole rows of the image: contiguous memory, vectorised
at any stride.

     plane (h, w)             line (as wide as the padded plane)          out row
    +-------------+
    | a a a a a a |   max    +------+-------------+------+    max      +---------+
    | b b b b b b |  ----->  | -inf | m m m m m m | -inf |  ------->   | o o o o |
    | c c c c c c |   down   +------+-------------+------+   across    +---------+
    +-------------+

    m[ix] = max over ky of x[oy * stride_h - padding_h + ky * dilation_h, ix]     (rows outside the plane do not count)
    o[ox] = max over kx of line[ox * stride_w + kx * dilation_w]

The line carries the horizontal padding, -inf, at both ends; nothing ever writes there, so going across has no edge
cases. A NaN wins every comparison, as in torch. Source: torch.nn.functional.max_pool2d.
"""

from cython.parallel cimport prange, threadid
from libc.math cimport INFINITY
from libc.stdint cimport int64_t


cdef inline float larger(float a, float b) noexcept nogil:
    """The larger of two, NaN if either is one; ``|`` instead of ``or`` keeps the loop free of branches."""
    return a if (a >= b) | (a != a) else b


def max_pool(
    const float[:, :, ::1] x, float[:, ::1] lines, float[:, :, ::1] out,
    Py_ssize_t kernel_h, Py_ssize_t kernel_w, Py_ssize_t stride_h, Py_ssize_t stride_w,
    Py_ssize_t padding_h, Py_ssize_t padding_w, Py_ssize_t dilation_h, Py_ssize_t dilation_w, int num_threads,
):
    """Fill ``out`` (planes, out_h, out_w) from ``x`` (planes, h, w).

    ``lines`` (num_threads, at least padding_w + w and the last column read + 1) holds -inf on entry.
    """
    cdef Py_ssize_t plane, oy
    cdef float* line
    for plane in prange(x.shape[0], nogil=True, num_threads=num_threads, schedule="static"):
        line = &lines[threadid(), 0]
        for oy in range(out.shape[1]):
            max_down(x, plane, oy * stride_h - padding_h, kernel_h, dilation_h, line + padding_w)
            # a constant stride lets the compiler vectorise the loads
            if stride_w == 1:
                max_across(line, kernel_w, 1, dilation_w, &out[plane, oy, 0], out.shape[2])
            elif stride_w == 2:
                max_across(line, kernel_w, 2, dilation_w, &out[plane, oy, 0], out.shape[2])
            else:
                max_across(line, kernel_w, stride_w, dilation_w, &out[plane, oy, 0], out.shape[2])


cdef void max_down(
    const float[:, :, ::1] x, Py_ssize_t plane, Py_ssize_t top, Py_ssize_t kernel_h, Py_ssize_t dilation_h, float* line,
) noexcept nogil:
    """line[ix] = the maximum of column ix over the window's rows, -inf if all of them lie outside."""
    cdef Py_ssize_t ky, ix, y, w = x.shape[2]
    cdef const float* row
    for ix in range(w):
        line[ix] = -INFINITY
    for ky in range(kernel_h):
        y = top + ky * dilation_h
        if 0 <= y < x.shape[1]:
            row = &x[plane, y, 0]
            for ix in range(w):
                line[ix] = larger(line[ix], row[ix])


cdef inline void max_across(
    const float* line, Py_ssize_t kernel_w, Py_ssize_t stride_w, Py_ssize_t dilation_w, float* out, Py_ssize_t out_w,
) noexcept nogil:
    """out[ox] = the maximum of the line's entries under the window at ox."""
    cdef Py_ssize_t kx, ox
    for ox in range(out_w):
        out[ox] = line[ox * stride_w]
    for kx in range(1, kernel_w):
        for ox in range(out_w):
            out[ox] = larger(out[ox], line[ox * stride_w + kx * dilation_w])


def max_with_indices(
    const float[:, :, ::1] x, const Py_ssize_t[:, ::1] rows, const Py_ssize_t[:, ::1] columns,
    Py_ssize_t step_h, Py_ssize_t step_w, float[:, :, ::1] out, int64_t[:, :, ::1] indices, int num_threads,
):
    """Fill ``out`` with maxima and ``indices`` with their places y * w + x in the plane, for windows from tables.

    Output row oy looks at the rows from rows[0, oy] in steps of step_h, before rows[1, oy]; columns likewise. Of equal
    numbers the first counts, of NaNs the last, as in torch. Indices are rarely wanted, so this is the plain loop.
    """
    cdef Py_ssize_t plane, oy, ox
    for plane in prange(x.shape[0], nogil=True, num_threads=num_threads, schedule="static"):
        for oy in range(out.shape[1]):
            for ox in range(out.shape[2]):
                indices[plane, oy, ox] = place_of_maximum(
                    x, plane, rows[0, oy], rows[1, oy], step_h, columns[0, ox], columns[1, ox], step_w,
                    &out[plane, oy, ox],
                )


cdef Py_ssize_t place_of_maximum(
    const float[:, :, ::1] x, Py_ssize_t plane, Py_ssize_t top, Py_ssize_t bottom, Py_ssize_t step_h,
    Py_ssize_t left, Py_ssize_t right, Py_ssize_t step_w, float* maximum,
) noexcept nogil:
    cdef Py_ssize_t y = top, ix, place = top * x.shape[2] + left
    cdef float best = -INFINITY, value
    while y < bottom:
        ix = left
        while ix < right:
            value = x[plane, y, ix]
            if value > best or value != value:
                best = value
                place = y * x.shape[2] + ix
            ix += step_w
        y += step_h
    maximum[0] = best
    return place

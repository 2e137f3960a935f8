"""Average pooling in two moves: add down the rows, then across the columns, then divide.

The idea. The sum over a box is the sum of its columns' sums: about kh + kw additions per output instead of kh * kw.
Going down adds whole rows of the image: contiguous memory, vectorised at any stride. Two short chains of additions
also round less than one long one.

     plane (h, w)             line (as wide as the padded plane)          out row
    +-------------+
    | a a a a a a |   add    +---+-------------+---+    add across     +---------+
    | b b b b b b |  ----->  | 0 | s s s s s s | 0 |  -------------->  | o o o o |
    | c c c c c c |   down   +---+-------------+---+   and divide      +---------+
    +-------------+

    s[ix] = sum over ky of x[oy * stride_h - padding_h + ky, ix]                  (rows outside the plane do not count)
    o[ox] = (sum over kx of line[ox * stride_w + kx]) / (divisor_h[oy] * divisor_w[ox])

What to divide by is the caller's question: both of torch's counts, with and without padding, are a height times a
width. Source: torch.nn.functional.avg_pool2d.
"""

from cython.parallel cimport prange, threadid


def average_pool(
    const float[:, :, ::1] x, float[:, ::1] lines, const float[::1] divisor_h, const float[::1] divisor_w,
    float[:, :, ::1] out, Py_ssize_t kernel_h, Py_ssize_t kernel_w, Py_ssize_t stride_h, Py_ssize_t stride_w,
    Py_ssize_t padding_h, Py_ssize_t padding_w, int num_threads,
):
    """Fill ``out`` (planes, out_h, out_w) from ``x`` (planes, h, w).

    ``lines`` (num_threads, at least padding_w + w and the last column read + 1) holds zeros on entry.
    """
    cdef Py_ssize_t plane, oy
    cdef float* line
    for plane in prange(x.shape[0], nogil=True, num_threads=num_threads, schedule="static"):
        line = &lines[threadid(), 0]
        for oy in range(out.shape[1]):
            add_down(x, plane, oy * stride_h - padding_h, kernel_h, line + padding_w)
            # a constant stride lets the compiler vectorise the loads
            if stride_w == 1:
                average_across(line, kernel_w, 1, divisor_h[oy], divisor_w, &out[plane, oy, 0])
            elif stride_w == 2:
                average_across(line, kernel_w, 2, divisor_h[oy], divisor_w, &out[plane, oy, 0])
            else:
                average_across(line, kernel_w, stride_w, divisor_h[oy], divisor_w, &out[plane, oy, 0])


cdef void add_down(
    const float[:, :, ::1] x, Py_ssize_t plane, Py_ssize_t top, Py_ssize_t kernel_h, float* line,
) noexcept nogil:
    """line[ix] = the sum of column ix over the window's rows."""
    cdef Py_ssize_t y, ix, w = x.shape[2]
    cdef const float* row
    for ix in range(w):
        line[ix] = 0
    for y in range(max(top, 0), min(top + kernel_h, x.shape[1])):
        row = &x[plane, y, 0]
        for ix in range(w):
            line[ix] += row[ix]


cdef inline void average_across(
    const float* line, Py_ssize_t kernel_w, Py_ssize_t stride_w,
    float divisor_h, const float[::1] divisor_w, float* out,
) noexcept nogil:
    """out[ox] = the sum of the line's entries under the window at ox, divided."""
    cdef Py_ssize_t kx, ox, out_w = divisor_w.shape[0]
    for ox in range(out_w):
        out[ox] = line[ox * stride_w]
    for kx in range(1, kernel_w):
        for ox in range(out_w):
            out[ox] += line[ox * stride_w + kx]
    for ox in range(out_w):
        out[ox] /= divisor_h * divisor_w[ox]

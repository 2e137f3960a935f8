"""Columns back into an image: im2col run backwards, what a transposed convolution ends with.

im2col copies a pixel into every column whose window holds it; col2im adds all these entries up at the pixel. The two are
transposes of each other, <im2col(a), b> = <a, col2im(b)>, which is where the transposed convolution has its name from.

    a 2x2 input, stride 2, kernel 3x3: each input pixel stamps a 3x3 kernel, and the stamps overlap

     1 1 + 2 2        column x,y holds one whole stamp; row (ky, kx) of the
     1 1 + 2 2        matrix holds that entry of all stamps, and lands on a
     + + # + +        regular grid of the image with gaps of one stride
     3 3 + 4 4
     3 3 + 4 4

    image[c, y * stride_h - pad_top + ky * dilation_h, x * stride_w - pad_left + kx * dilation_w]
        += columns[(c * kernel_h + ky) * kernel_w + kx, y, x]                                    (dropped outside)

Channels are independent, so they are what the threads share out; inside one channel the order of the additions is fixed.

Source: V. Dumoulin, F. Visin, "A guide to convolution arithmetic for deep learning", 2016, chapter 4.
"""

from cython.parallel cimport prange

ctypedef (Py_ssize_t, Py_ssize_t) Pair  # vertical, horizontal


cdef inline Py_ssize_t first_at_least(Py_ssize_t position, Py_ssize_t stride, Py_ssize_t end) noexcept nogil:
    """The smallest x in 0..end with x * stride >= position (end if there is none)."""
    if position <= 0:
        return 0
    return min((position + stride - 1) // stride, end)


cdef void add_tap(
    const float* row, Py_ssize_t grid_h, Py_ssize_t grid_w, float* plane, Py_ssize_t h, Py_ssize_t w,
    Py_ssize_t shift_y, Py_ssize_t shift_x, Py_ssize_t stride_h, Py_ssize_t stride_w,
) noexcept nogil:
    """One row of the matrix: the entry at this shift of every stamp, added where it falls on the image."""
    cdef Py_ssize_t inside = first_at_least(-shift_x, stride_w, grid_w)
    cdef Py_ssize_t outside = first_at_least(w - shift_x, stride_w, grid_w)
    cdef Py_ssize_t x, y
    cdef float* target
    for y in range(grid_h):
        if 0 <= y * stride_h + shift_y < h and inside < outside:
            target = plane + (y * stride_h + shift_y) * w + inside * stride_w + shift_x
            if stride_w == 1:
                for x in range(outside - inside):
                    target[x] += row[inside + x]
            else:
                for x in range(outside - inside):
                    target[x * stride_w] += row[inside + x]
        row += grid_w


def col2im(
    const float[:, :, ::1] columns, float[:, :, ::1] image, Py_ssize_t kernel_h, Py_ssize_t kernel_w,
    Py_ssize_t stride_h, Py_ssize_t stride_w, Py_ssize_t pad_top, Py_ssize_t pad_left,
    Py_ssize_t dilation_h, Py_ssize_t dilation_w, int num_threads,
):
    """Add the entries of ``columns`` (c * kernel_h * kernel_w, grid_h, grid_w) to the pixels that they belong to.

    IN columns. IN/OUT image (c, h, w), which holds what they are added to: zeros, or the bias.
    """
    cdef Py_ssize_t channel, k, taps = kernel_h * kernel_w
    for channel in prange(image.shape[0], nogil=True, num_threads=num_threads, schedule="static"):
        for k in range(taps):
            add_tap(
                &columns[channel * taps + k, 0, 0], columns.shape[1], columns.shape[2],
                &image[channel, 0, 0], image.shape[1], image.shape[2],
                k // kernel_w * dilation_h - pad_top, k % kernel_w * dilation_w - pad_left, stride_h, stride_w,
            )

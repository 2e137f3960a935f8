"""The image as columns: what turns a convolution into one matrix product.

Every output pixel looks at one window of the image. im2col writes that window down as a column, so that the kernels, one in
each row of a matrix, meet all windows in a single product:

    image 3x3         columns for a 2x2 kernel

     a b c            output pixel   0,0 0,1 1,0 1,1
     d e f     ->     tap 0,0         a   b   d   e
     g h i            tap 0,1         b   c   e   f          output = [w00 w01 w10 w11] @ columns
                      tap 1,0         d   e   g   h
                      tap 1,1         e   f   h   i

    columns[(c * kernel_h + ky) * kernel_w + kx, y, x] =
        image[c, y * stride_h - pad_top + ky * dilation_h, x * stride_w - pad_left + kx * dilation_w]     (0 outside)

Read along a row of the picture: neighbours there are neighbours in the image too. So no pixel is asked whether it lies
inside; each row is [zeros | one copy | zeros], and where the copy begins and ends is computed once for the row.

Source: K. Chellapilla, S. Puri, P. Simard, "High Performance Convolutional Neural Networks for Document Processing", 2006.
"""

from cython.parallel cimport prange
from libc.string cimport memcpy, memset


cdef inline Py_ssize_t first_at_least(Py_ssize_t position, Py_ssize_t stride, Py_ssize_t end) noexcept nogil:
    """The smallest x in 0..end with x * stride >= position (end if there is none)."""
    if position <= 0:
        return 0
    return min((position + stride - 1) // stride, end)


cdef void copy_tap(
    const float* plane, Py_ssize_t h, Py_ssize_t w, float* row, Py_ssize_t rows, Py_ssize_t out_w,
    Py_ssize_t shift_y, Py_ssize_t shift_x, Py_ssize_t stride_h, Py_ssize_t stride_w,
) noexcept nogil:
    """One row of the matrix: what the kernel's entry at this shift sees at every output pixel."""
    cdef Py_ssize_t inside = first_at_least(-shift_x, stride_w, out_w)
    cdef Py_ssize_t outside = first_at_least(w - shift_x, stride_w, out_w)
    cdef Py_ssize_t x, y
    cdef const float* source
    for y in range(rows):
        if 0 <= y * stride_h + shift_y < h and inside < outside:
            memset(row, 0, inside * sizeof(float))
            source = plane + (y * stride_h + shift_y) * w + inside * stride_w + shift_x
            if stride_w == 1:
                memcpy(row + inside, source, (outside - inside) * sizeof(float))
            else:
                for x in range(outside - inside):
                    row[inside + x] = source[x * stride_w]
            memset(row + outside, 0, (out_w - outside) * sizeof(float))
        else:
            memset(row, 0, out_w * sizeof(float))
        row += out_w


def im2col(
    const float[:, :, ::1] image, float[:, :, ::1] columns, Py_ssize_t kernel_h, Py_ssize_t kernel_w,
    Py_ssize_t stride_h, Py_ssize_t stride_w, Py_ssize_t pad_top, Py_ssize_t pad_left,
    Py_ssize_t dilation_h, Py_ssize_t dilation_w, Py_ssize_t first_row, int num_threads,
):
    """Fill ``columns`` (c * kernel_h * kernel_w, rows, out_w) with output rows ``first_row, first_row + 1, ...``.

    IN image (c, h, w). OUT columns; its second axis says how many output rows are wanted.
    """
    cdef Py_ssize_t top = first_row * stride_h - pad_top, taps = kernel_h * kernel_w, k
    for k in prange(columns.shape[0], nogil=True, num_threads=num_threads, schedule="static"):
        copy_tap(
            &image[k // taps, 0, 0], image.shape[1], image.shape[2],
            &columns[k, 0, 0], columns.shape[1], columns.shape[2],
            top + k % taps // kernel_w * dilation_h, k % kernel_w * dilation_w - pad_left, stride_h, stride_w,
        )

"""Exercise 3.3: max pooling, the largest number in every window.

A window of kernel_h x kernel_w numbers slides over each picture, stride_h rows or stride_w columns at a time, and keeps
only the largest number it sees. Each of the n images and each of their c channels is a picture of its own.

    x (h = 3, w = 5)         kernel 2 x 2, stride 1 x 2          out (2 x 2)

     1  2 | 0 -1 | 7         the window at output (0, 0)          5  8
     5  3 | 8  4 | 6         sees 1 2 5 3 and keeps 5             9  8
     9  0 | 2  2 | 1

Padding lays a frame around the picture: padding_h rows above and below, padding_w columns left and right. A max must
never win because of the frame, so it counts as minus infinity. (PyTorch allows at most half a kernel of padding: every
window sees at least one true number.) So for output pixel (oy, ox) the window begins

    at row       oy * stride_h - padding_h       which may be negative: what lies outside is not looked at
    at column    ox * stride_w - padding_w

As in PyTorch, a NaN in a window makes the result NaN: max pooling does not hide that something went wrong.
"""

from libc.math cimport INFINITY


def output_size(Py_ssize_t length, Py_ssize_t kernel, Py_ssize_t stride, Py_ssize_t padding):
    """How many windows fit along one axis of this length; a window that would stick out at the end does not count.

    >>> output_size(5, 2, 2, 0)    # windows begin at 0 and 2; one at 4 would stick out
    2
    >>> output_size(5, 3, 2, 1)    # at -1, 1 and 3
    3

    Raises
    ------
    ValueError
        If not even one fits; the message names the kernel's size.
    """
    # BEGIN SOLUTION
    cdef Py_ssize_t spare = length + 2 * padding - kernel
    if spare < 0:
        raise ValueError(f"output_size: expected a kernel of at most {length + 2 * padding}, got {kernel}")
    return spare // stride + 1
    # END SOLUTION


def max_pool(
    const float[:, :, :, :] x, float[:, :, :, :] out,
    Py_ssize_t kernel_h, Py_ssize_t kernel_w, Py_ssize_t stride_h, Py_ssize_t stride_w,
    Py_ssize_t padding_h, Py_ssize_t padding_w,
):
    """Fill ``out`` (n, c, out_h, out_w) with the maxima of all windows on ``x`` (n, c, h, w).

    The shapes fit: out_h and out_w are what ``output_size`` gives.

    >>> import numpy as np
    >>> x = np.array([[[[1, 2, 0, -1, 7], [5, 3, 8, 4, 6], [9, 0, 2, 2, 1]]]], np.float32)
    >>> out = np.zeros((1, 1, 2, 2), np.float32)
    >>> max_pool(x, out, 2, 2, 1, 2, 0, 0)
    >>> out[0, 0].tolist()
    [[5.0, 8.0], [9.0, 8.0]]
    """
    cdef Py_ssize_t i, channel, oy, ox, ky, kx, row, column
    cdef float best, value
    # BEGIN SOLUTION
    for i in range(out.shape[0]):
        for channel in range(out.shape[1]):
            for oy in range(out.shape[2]):
                for ox in range(out.shape[3]):
                    best = -INFINITY
                    for ky in range(kernel_h):
                        row = oy * stride_h - padding_h + ky
                        if row < 0 or row >= x.shape[2]:
                            continue
                        for kx in range(kernel_w):
                            column = ox * stride_w - padding_w + kx
                            if column < 0 or column >= x.shape[3]:
                                continue
                            value = x[i, channel, row, column]
                            if value > best or value != value:
                                best = value
                    out[i, channel, oy, ox] = best
    # END SOLUTION

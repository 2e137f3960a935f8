"""Exercise 3.4: im2col, the image as columns.

A convolution asks the same question of every window of an image: what is the sum of your numbers times these weights?
If each window is written down as a column, all questions become one matrix product, and matrix products are what
computers do best.

    image (1, 3, 3)      columns for a 2 x 2 kernel      output pixel (y, x):   0,0  0,1  1,0  1,1

      a b c                                              weight (0, 0) sees      a    b    d    e
      d e f                                              weight (0, 1) sees      b    c    e    f
      g h i                                              weight (1, 0) sees      d    e    g    h
                                                         weight (1, 1) sees      e    f    h    i

There is one row for each weight of a kernel: channel by channel, within it row by row. Weight (c, ky, kx) has row

    row = (c * kernel_h + ky) * kernel_w + kx

and at output pixel (y, x) it sees the image's channel c

    at height     y * stride_h - padding_h + ky * dilation_h
    and width     x * stride_w - padding_w + kx * dilation_w         where that lies outside the image, it sees 0

(Dilation spreads the kernel's weights: with 2, every second pixel is skipped.)

    for each channel, each row of the kernel, each column of the kernel: which row of ``columns`` is theirs?
        for each output pixel: which pixel of the image is seen? inside? copy it; outside? write 0
"""


def im2col(
    const float[:, :, :] image, float[:, :, :] columns, Py_ssize_t kernel_h, Py_ssize_t kernel_w,
    Py_ssize_t stride_h, Py_ssize_t stride_w, Py_ssize_t padding_h, Py_ssize_t padding_w,
    Py_ssize_t dilation_h, Py_ssize_t dilation_w,
):
    """Fill ``columns`` (c * kernel_h * kernel_w, out_h, out_w) from ``image`` (c, h, w).

    The shapes fit. ``columns`` holds old numbers when you get it: every place must be written, the zeros too.

    >>> import numpy as np
    >>> image = np.array([[[1, 2, 3], [4, 5, 6], [7, 8, 9]]], np.float32)
    >>> columns = np.full((4, 2, 2), -1, np.float32)
    >>> im2col(image, columns, 2, 2, 1, 1, 0, 0, 1, 1)
    >>> columns.reshape(4, 4).astype(int).tolist()
    [[1, 2, 4, 5], [2, 3, 5, 6], [4, 5, 7, 8], [5, 6, 8, 9]]
    """
    cdef Py_ssize_t channel, ky, kx, y, x, row, image_y, image_x
    # BEGIN SOLUTION
    for channel in range(image.shape[0]):
        for ky in range(kernel_h):
            for kx in range(kernel_w):
                row = (channel * kernel_h + ky) * kernel_w + kx
                for y in range(columns.shape[1]):
                    image_y = y * stride_h - padding_h + ky * dilation_h
                    for x in range(columns.shape[2]):
                        image_x = x * stride_w - padding_w + kx * dilation_w
                        if 0 <= image_y < image.shape[1] and 0 <= image_x < image.shape[2]:
                            columns[row, y, x] = image[channel, image_y, image_x]
                        else:
                            columns[row, y, x] = 0
    # END SOLUTION

"""Exercise 3.13: your product in your convolutions.

The convolutions of 3.5 and 3.9 are nearly all matrix products, and NumPy has done them. Now your own tile of 3.8 does. Then
everything that a convolution network computes is yours: `kuiper race resnet20 --product mine` runs it.

    3.5    for each image and each group       kernels (out_c / groups, depth * kernel_h * kernel_w)  @  columns
    3.9    for each of the 16 places (i, j)    filters (out_c, in_c)                                  @  tiles (in_c, count)
           of a transformed tile

The second line is how engines compute Winograd. Number (i, j) of a sum of products is

    sum over the channels c of      filters[kernel, c, i, j] * tiles[c, tile, i, j]

and for one place (i, j) that is a matrix product: kernels by channels, times channels by tiles. The tiles of all rows, of
all columns and of all images lie side by side as its columns. So there are 16 products of matrices, and no other one.

``gemm`` of 3.8 wants room for the result and for the panels. Its caller makes it: ``product`` below.

All arrays are float32.
"""

from __future__ import annotations

import numpy as np

from kuiper.course import load_exercise

Array = np.ndarray
Pair = tuple[int, int]

# Its arguments: image, columns, kernel_h, kernel_w, stride_h, stride_w, padding_h, padding_w, dilation_h, dilation_w.
im2col = load_exercise("3.4").im2col

# gemm's arguments: a (m, k), b (k, n), c (m, n), panels of a (panels, k, ROWS), panels of b (panels, k, COLUMNS).
gemm, (ROWS, COLUMNS) = load_exercise("3.8").gemm, load_exercise("3.8").TILE_SIZE

# Your functions of 3.9, with the shapes that they have there.
of_3_9 = load_exercise("3.9")
transform_filters, cut_tiles = of_3_9.transform_filters, of_3_9.cut_tiles
transform_tiles, transform_outputs = of_3_9.transform_tiles, of_3_9.transform_outputs


def product(a: Array, b: Array) -> Array:
    """The matrix product of ``a`` (m, k) and ``b`` (k, n) by ``gemm``: a new array (m, n), float32.

    There are as many panels of ``a`` as m rows need with ROWS in each, and as many of ``b`` as n columns need with COLUMNS
    in each; a last panel may be part empty. ``a`` and ``b`` may be views of any kind.

    >>> product(np.float32([[1, 2], [3, 4], [5, 6]]), np.float32([[10, 1], [100, -1]])).tolist()
    [[210.0, -1.0], [430.0, -1.0], [650.0, -1.0]]
    """
    # BEGIN SOLUTION
    (m, k), n = a.shape, b.shape[1]
    c = np.empty((m, n), np.float32)
    a_panels = np.empty((-(-m // ROWS), k, ROWS), np.float32)
    b_panels = np.empty((-(-n // COLUMNS), k, COLUMNS), np.float32)
    gemm(a, b, c, a_panels, b_panels)
    return c
    # END SOLUTION


def conv2d(
    x: Array,
    weight: Array,
    bias: Array | None = None,
    stride: Pair = (1, 1),
    padding: Pair = (0, 0),
    dilation: Pair = (1, 1),
    groups: int = 1,
) -> Array:
    """The convolution of 3.5, in which every matrix product is made by ``product``: (n, out_c, out_h, out_w), float32.

        x        (n, in_c, h, w)
        weight   (out_c, in_c / groups, kernel_h, kernel_w)
        bias     (out_c,) or None

    The shapes fit; nothing has to be checked here. You may copy what you wrote in 3.5.

    >>> image = np.float32([[[[1, 2, 3], [4, 5, 6]]]])
    >>> conv2d(image, np.float32([[[[10, 1]]]]), np.float32([100])).tolist()
    [[[[112.0, 123.0], [145.0, 156.0]]]]
    """
    # BEGIN SOLUTION
    n, _, h, w = x.shape
    out_c, depth, kernel_h, kernel_w = weight.shape
    out_h = (h + 2 * padding[0] - dilation[0] * (kernel_h - 1) - 1) // stride[0] + 1
    out_w = (w + 2 * padding[1] - dilation[1] * (kernel_w - 1) - 1) // stride[1] + 1
    out = np.empty((n, out_c, out_h, out_w), np.float32)
    columns = np.empty((depth * kernel_h * kernel_w, out_h, out_w), np.float32)
    part = out_c // groups
    for i in range(n):
        for g in range(groups):
            im2col(x[i, g * depth : (g + 1) * depth], columns, kernel_h, kernel_w, *stride, *padding, *dilation)
            kernels = weight[g * part : (g + 1) * part].reshape(part, -1)
            sums = product(kernels, columns.reshape(len(columns), -1))
            out[i, g * part : (g + 1) * part] = sums.reshape(part, out_h, out_w)
    return out if bias is None else out + bias.reshape(-1, 1, 1)
    # END SOLUTION


def winograd(x: Array, weight: Array, bias: Array | None = None, padding: Pair = (0, 0)) -> Array:
    """The convolution of 3.9 by 16 calls of ``product``: a new array (n, out_c, out_h, out_w), float32.

        x        (n, in_c, h, w)          out_h = h + 2 * padding[0] - 2
        weight   (out_c, in_c, 3, 3)      out_w = w + 2 * padding[1] - 2
        bias     (out_c,) or None

    The shapes fit; nothing has to be checked here. ``transform_outputs`` wants the 16 places of a tile as its last two
    axes, (..., 4, 4), so store the result of each product at its own place (i, j) of such an array.

    >>> x = np.arange(1, 13, dtype=np.float32).reshape(1, 1, 3, 4)
    >>> winograd(x, np.float32([[[[1, 0, 0], [0, 0, 10], [0, 100, 0]]]]), np.float32([0.5])).tolist()
    [[[[1071.5, 1182.5]]]]
    """
    # BEGIN SOLUTION
    filters, tiles = transform_filters(weight), transform_tiles(cut_tiles(x, padding))
    out_c, (n, in_c, rows, columns) = len(filters), tiles.shape[:4]
    out_h, out_w = x.shape[2] + 2 * padding[0] - 2, x.shape[3] + 2 * padding[1] - 2
    sums = np.empty((out_c, n, rows, columns, 4, 4), np.float32)
    for i in range(4):
        for j in range(4):
            side_by_side = tiles[..., i, j].swapaxes(0, 1).reshape(in_c, -1)
            sums[..., i, j] = product(filters[..., i, j], side_by_side).reshape(out_c, n, rows, columns)
    pieces = transform_outputs(sums).swapaxes(0, 1)  # (n, out_c, rows, columns, 2, 2)
    whole = pieces.swapaxes(3, 4).reshape(n, out_c, 2 * rows, 2 * columns)
    out = np.ascontiguousarray(whole[:, :, :out_h, :out_w])
    return out if bias is None else out + bias.reshape(-1, 1, 1)
    # END SOLUTION

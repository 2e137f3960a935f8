"""Exercise 3.9: Winograd's convolution, fewer multiplications for the same numbers.

Two neighbouring outputs of a kernel of three weights cost six multiplications. Winograd found that four are enough:

    y0 = d0 g0 + d1 g1 + d2 g2          m1 = (d0 - d2) g0                        y0 = m1 + m2 + m3
    y1 = d1 g0 + d2 g1 + d3 g2          m2 = (d1 + d2) (g0 + g1 + g2) / 2        y1 = m2 - m3 - m4
                                        m3 = (d2 - d1) (g0 - g1 + g2) / 2
                                        m4 = (d1 - d3) g2

What is done to the weights is done once, when the model is loaded. As matrices: y = A [(G g) * (B d)], where *
multiplies number by number. That is F(2, 3): two outputs, three weights. (In the papers, our A and B are called A and B
transposed.)

In two dimensions the matrices work on the rows and on the columns, and a tile of 4 x 4 pixels gives 2 x 2 outputs:

    U = G g G'      3 x 3 weights  ->  4 x 4          ' is the transposed matrix, the products are matrix products
    V = B d B'      4 x 4 pixels   ->  4 x 4
    M = U * V       number by number; added up over the input channels: 16 multiplications for each, instead of 36
    Y = A M A'      4 x 4          ->  2 x 2 outputs

Tiles begin two pixels apart and overlap by two. For an odd number of outputs the last tile sticks out: the picture is
continued with zeros, and the outputs that are too many are thrown away.

    7 pixels, 5 outputs       0 1 2 3 4 5 6 +          tile 0 sees 0 to 3 and makes outputs 0, 1
                              a a a a                  tile 1 sees 2 to 5 and makes outputs 2, 3
                                  b b b b              tile 2 sees 4 to 6 and a zero, and makes output 4 and one
                                      c c c c          too many
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray

G = np.array([[1, 0, 0], [0.5, 0.5, 0.5], [0.5, -0.5, 0.5], [0, 0, 1]], np.float32)
B = np.array([[1, 0, -1, 0], [0, 1, 1, 0], [0, -1, 1, 0], [0, 1, 0, -1]], np.float32)
A = np.array([[1, 1, 1, 0], [0, 1, -1, -1]], np.float32)


def transform_filters(weight: Array) -> Array:
    """U = G g G' of every kernel g: from (out_c, in_c, 3, 3) to (out_c, in_c, 4, 4), float32.

    >>> kernel = np.array([[[[1, 0, 1], [0, 0, 0], [1, 0, 3]]]], np.float32)
    >>> transform_filters(kernel)[0, 0].tolist()
    [[1.0, 1.0, 1.0, 1.0], [1.0, 1.5, 1.5, 2.0], [1.0, 1.5, 1.5, 2.0], [1.0, 2.0, 2.0, 3.0]]
    """
    # BEGIN SOLUTION
    return G @ weight @ G.T
    # END SOLUTION


def cut_tiles(x: Array, padding: tuple[int, int] = (0, 0)) -> Array:
    """All tiles of the pictures ``x`` (n, c, h, w): (n, c, rows, columns, 4, 4), float32.

    ``padding`` is the number of zeros laid around each picture: above and below, left and right. There are as many
    rows and columns of tiles as are needed for all outputs, and no more: h + 2 * padding - 2 outputs along the height
    (and likewise along the width), two for each tile. What a tile sees beyond the padded picture is 0.

    >>> x = np.arange(1, 16, dtype=np.float32).reshape(1, 1, 3, 5)
    >>> cut_tiles(x)[0, 0, 0].tolist()[1]
    [[3.0, 4.0, 5.0, 0.0], [8.0, 9.0, 10.0, 0.0], [13.0, 14.0, 15.0, 0.0], [0.0, 0.0, 0.0, 0.0]]
    """
    # BEGIN SOLUTION
    n, c, h, w = x.shape
    rows, columns = (h + 2 * padding[0] - 1) // 2, (w + 2 * padding[1] - 1) // 2
    framed = np.zeros((n, c, 2 * rows + 2, 2 * columns + 2), np.float32)
    framed[:, :, padding[0] : padding[0] + h, padding[1] : padding[1] + w] = x
    tiles = np.empty((n, c, rows, columns, 4, 4), np.float32)
    for row in range(rows):
        for column in range(columns):
            tiles[:, :, row, column] = framed[:, :, 2 * row : 2 * row + 4, 2 * column : 2 * column + 4]
    return tiles
    # END SOLUTION


def transform_tiles(tiles: Array) -> Array:
    """V = B d B' of every tile d, float32; any number of axes (..., 4, 4).

    >>> tile = np.array([[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12], [13, 14, 15, 20]], np.float32)
    >>> transform_tiles(tile).tolist()
    [[0.0, -16.0, 0.0, 0.0], [-4.0, 34.0, 2.0, -4.0], [0.0, 8.0, 0.0, 0.0], [0.0, -16.0, 0.0, 4.0]]
    """
    # BEGIN SOLUTION
    return B @ tiles @ B.T
    # END SOLUTION


def transform_outputs(products: Array) -> Array:
    """Y = A M A' of every sum of products M, float32: from (..., 4, 4) to (..., 2, 2).

    >>> products = np.array([[1, 2, 3, 4], [0, 0, 0, 0], [0, 0, 0, 0], [10, 20, 30, 50]], np.float32)
    >>> transform_outputs(products).tolist()
    [[6.0, -5.0], [-60.0, 60.0]]
    """
    # BEGIN SOLUTION
    return A @ products @ A.T
    # END SOLUTION


def winograd(x: Array, weight: Array, bias: Array | None = None, padding: tuple[int, int] = (0, 0)) -> Array:
    """The convolution of 3.5 for kernels of 3 x 3 with stride 1: a new float32 array (n, out_c, out_h, out_w).

        x        (n, in_c, h, w)          out_h = h + 2 * padding[0] - 2
        weight   (out_c, in_c, 3, 3)      out_w = w + 2 * padding[1] - 2
        bias     (out_c,) or None

    The numbers are those of the plain convolution, up to rounding (and with integers in float32, exactly).

    >>> x = np.arange(1, 13, dtype=np.float32).reshape(1, 1, 3, 4)
    >>> weight = np.array([[[[1, 0, 0], [0, 0, 10], [0, 100, 0]]]], np.float32)
    >>> winograd(x, weight, np.array([0.5], np.float32)).tolist()
    [[[[1071.5, 1182.5]]]]

    Raises
    ------
    ValueError
        If the kernels are not 3 x 3 (the message has the word "kernel"), if ``x`` and ``weight`` differ in in_c
        ("channels"), or if the padded picture is smaller than 3 pixels along an axis ("padded").
    """
    # BEGIN SOLUTION
    out_c, in_c = weight.shape[:2]
    if weight.shape[2:] != (3, 3):
        raise ValueError(f"winograd: expected a 3 x 3 kernel, got {weight.shape[2:]}")
    if x.shape[1] != in_c:
        raise ValueError(f"winograd: expected {in_c} channels, got {x.shape[1]}")
    out_h, out_w = x.shape[2] + 2 * padding[0] - 2, x.shape[3] + 2 * padding[1] - 2
    if min(out_h, out_w) < 1:
        raise ValueError(f"winograd: expected a padded picture of at least 3 x 3, got {out_h + 2} x {out_w + 2}")
    filters = transform_filters(weight)
    tiles = transform_tiles(cut_tiles(x, padding))
    products = np.einsum("kcij,ncyxij->nkyxij", filters, tiles)
    pieces = transform_outputs(products)  # (n, out_c, rows, columns, 2, 2)
    rows, columns = pieces.shape[2:4]
    whole = pieces.swapaxes(3, 4).reshape(len(x), out_c, 2 * rows, 2 * columns)
    out = np.ascontiguousarray(whole[:, :, :out_h, :out_w])
    if bias is not None:
        out += bias.reshape(-1, 1, 1)
    return out
    # END SOLUTION

"""The matrices of Winograd's convolution F(2, 3) and F(4, 3), strides 1 and 2, made from the points on which they rest.

``size`` outputs of a kernel of 3 weights are a product of polynomials, read backwards. The product has size + 2
coefficients, so its values at size + 2 points fix it, and a value of a product is one multiplication:

    G   takes the 3 weights to their polynomial's values at the points        (size + 2, 3)
    B   takes size + 2 inputs to what those values are multiplied by          (size + 2, size + 2)
    A   takes the size + 2 products to ``size`` outputs                       (size, size + 2)

    y = A [(G g) * (B d)],   and in two dimensions   Y = A [(G g G') * (B d B')] A'

In the plane these are 36 multiplications instead of 144 for F(4, 3), and 16 instead of 36 for F(2, 3). One of the
points is infinity, where a polynomial's value is its leading coefficient.

**Stride 2.** An output sees its inputs with weights 0 and 2 at even places of a tile, and with weight 1 at odd ones:

    inputs    d0  d1  d2  d3  d4        y0 = g0 d0 + g1 d1 + g2 d2
    output        y0      y1            y1 = g0 d2 + g1 d3 + g2 d4

So d0, d2, d4, ... meet a kernel of two weights with stride 1: a product of polynomials again, for which size + 1 points
are enough. What d1, d3, ... give is added as it is: B and A have ones there, and G the weight g1, the same for all of
them. So 2 * size + 1 numbers stand along each side of a tile, but only size + 2 rows of G differ. In the plane these
are 81 multiplications instead of 144 for ``size`` 4, and 25 instead of 36 for ``size`` 2.

**Rounding.** Exact arithmetic would give the plain convolution. Rounded arithmetic errs more: large terms cancel.
With u = 2**-24 and |X| for the absolute values of a matrix, to first order in u,

    |error of Y|  <=  (channels + 20) u  |A| [sum over channels of (|G| |g| |G'|) * (|B| |d| |B'|)] |A'|

since no number passes more roundings: ``channels`` in the sum and one in each product, one in G g G' (made in double
precision and rounded once), four along each of the two dimensions in B d B', and at most five along each in A M A'. The
matrices decide how much larger than the sum of |g| |d| the right side is. That is the worst case, which random signs
never come near: for 256 channels of normal numbers F(2, 3) errs by 7e-7 of the largest output, and F(4, 3) by

    1.1e-5   with the points 0, 1, -1, 2, -2 of most texts
    2.5e-6   with 0, 11/16, -11/16, 3/2, -3/2, the best pairs of sixteenths: used here. A and B are exact as floats.

With stride 2 it is 5e-7 and, with the best pairs of sixteenths again, 1.1e-6: fewer points, smaller numbers.

Sources: A. Lavin, S. Gray, "Fast Algorithms for Convolutional Neural Networks", 2016 (A and B are transposed there);
S. Winograd, "Arithmetic Complexity of Computations", 1980; B. Barabasz et al., "Error Analysis and Improving the
Accuracy of Winograd Convolution for Deep Neural Networks", 2020 (the points matter); J. Yepez, S.-B. Ko, "Stride 2 1-D,
2-D, and 3-D Winograd for Convolutional Neural Networks", 2020.
"""

from __future__ import annotations

import numpy as np

# The finite points, by stride and number of outputs; ``kernels/winograd_transforms.pxd`` has A and B written out.
POINTS = {
    (1, 2): (0.0, 1.0, -1.0),
    (1, 4): (0.0, 11 / 16, -11 / 16, 3 / 2, -3 / 2),
    (2, 2): (1.0, -1.0),
    (2, 4): (1 / 2, -1 / 2, 5 / 4, -5 / 4),
}


def winograd_matrices(size: int, stride: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A (size, edge), B (edge, edge) and G (edge, 3), float64; edge = stride * (size - 1) + 3 inputs.

    ``size`` is 2 or 4, ``stride`` 1 or 2.

    >>> inputs, weights = np.array([1, 2, 3, 5, 7]), np.array([1, 0, 2])
    >>> a, b, g = winograd_matrices(2)
    >>> (a @ ((g @ weights) * (b @ inputs[:4]))).tolist()  # 1 * 1 + 3 * 2, 2 * 1 + 5 * 2
    [7.0, 12.0]
    >>> a, b, g = winograd_matrices(2, stride=2)
    >>> (a @ ((g @ weights) * (b @ inputs))).tolist()  # 1 * 1 + 3 * 2, 3 * 1 + 7 * 2
    [7.0, 17.0]
    """
    points = POINTS[stride, size]
    if stride == 1:
        return _correlation(points, size, 3)
    a, b, g = _correlation(points, size, 2)
    edge = 2 * size + 1
    whole_a, whole_b, whole_g = np.zeros((size, edge)), np.zeros((edge, edge)), np.zeros((edge, 3))
    whole_a[:, : size + 1], whole_a[:, size + 1 :] = a, np.eye(size)
    whole_b[: size + 1, 0::2], whole_b[size + 1 :, 1::2] = b, np.eye(size)
    whole_g[: size + 1, 0::2], whole_g[size + 1 :, 1] = g, 1
    return whole_a, whole_b, whole_g


def _correlation(points: tuple[float, ...], size: int, taps: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A, B and G for ``size`` outputs of a kernel of this many weights, stride 1, on these points and infinity."""
    count = size + taps - 1
    a = np.zeros((size, count))
    b = np.zeros((count, count))
    g = np.zeros((count, taps))
    for i, point in enumerate(points):
        others = [other for other in points if other != point]
        b[i, :-1] = np.poly(others)[::-1]  # the polynomial that is 0 at all others, lowest power first
        g[i] = point ** np.arange(taps) / np.prod(np.subtract(point, others))
        a[:, i] = point ** np.arange(size)
    b[-1] = np.poly(points)[::-1]
    g[-1, -1] = a[-1, -1] = 1
    return a, b, g


def winograd_conv2d(x: np.ndarray, weight: np.ndarray, padding: int, matrices: tuple[np.ndarray, ...]) -> np.ndarray:
    """The formula, tile by tile, in double precision: the reference of ``kernels/winograd.pyx``.

    ``x`` (n, c, h, w) has ``padding`` zeros on each side, ``weight`` is (o, c, 3, 3), and ``matrices`` are A, B and G,
    or their absolute values for the bound of the rounding error; their shapes tell the stride. Returns (n, o, out_h,
    out_w), out_h = (h + 2 padding - 3) // stride + 1.

    >>> x, weight = np.arange(25.0).reshape(1, 1, 5, 5), np.zeros((1, 1, 3, 3))
    >>> weight[0, 0, 1, 1] = 2
    >>> winograd_conv2d(x, weight, 0, winograd_matrices(2))[0, 0].tolist()
    [[12.0, 14.0, 16.0], [22.0, 24.0, 26.0], [32.0, 34.0, 36.0]]
    >>> winograd_conv2d(x, weight, 0, winograd_matrices(2, stride=2))[0, 0].tolist()
    [[12.0, 16.0], [32.0, 36.0]]
    """
    a, b, g = matrices
    n, _, h, w = x.shape
    size, edge = a.shape
    stride = (edge - 3) // (size - 1)
    out_h, out_w = ((side + 2 * padding - 3) // stride + 1 for side in (h, w))
    beyond = padding + edge  # the last tile may stick out
    x = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (padding, beyond), (padding, beyond)))
    transformed = g @ weight.astype(np.float64) @ g.T
    out = np.empty((n, len(weight), out_h, out_w))
    for top in range(0, out_h, size):
        for left in range(0, out_w, size):
            y, x_left = stride * top, stride * left
            values = b @ x[:, :, y : y + edge, x_left : x_left + edge] @ b.T
            tile = a @ np.einsum("ncij,ocij->noij", values, transformed) @ a.T
            out[:, :, top : top + size, left : left + size] = tile[:, :, : out_h - top, : out_w - left]
    return out

"""The matrices of Winograd's convolution F(2, 3) and F(4, 3), made from the points on which they rest.

``size`` outputs of a kernel of 3 weights are a product of polynomials, read backwards. The product has size + 2
coefficients, so its values at size + 2 points fix it, and a value of a product is one multiplication:

    G   takes the 3 weights to their polynomial's values at the points        (size + 2, 3)
    B   takes size + 2 inputs to what those values are multiplied by          (size + 2, size + 2)
    A   takes the size + 2 products to ``size`` outputs                       (size, size + 2)

    y = A [(G g) * (B d)],   and in two dimensions   Y = A [(G g G') * (B d B')] A'

In the plane these are 36 multiplications instead of 144 for F(4, 3), and 16 instead of 36 for F(2, 3). One of the
points is infinity, where a polynomial's value is its leading coefficient.

**Rounding.** Exact arithmetic would give the plain convolution. Rounded arithmetic errs more: large terms cancel.
With u = 2**-24 and |X| for the absolute values of a matrix, to first order in u,

    |error of Y|  <=  (channels + 18) u  |A| [sum over channels of (|G| |g| |G'|) * (|B| |d| |B'|)] |A'|

since no number passes more roundings: ``channels`` in the sum and one in each product, one in G g G' (made in double
precision and rounded once), four along each of the two dimensions in B d B', and four along each in A M A'. The
matrices decide how much larger than the sum of |g| |d| the right side is. That is the worst case, which random signs
never come near: for 256 channels of normal numbers F(2, 3) errs by 7e-7 of the largest output, and F(4, 3) by

    1.1e-5   with the points 0, 1, -1, 2, -2 of most texts
    2.5e-6   with 0, 11/16, -11/16, 3/2, -3/2, the best pairs of sixteenths: used here. A and B are exact as floats.

Sources: A. Lavin, S. Gray, "Fast Algorithms for Convolutional Neural Networks", 2016 (A and B are transposed there);
S. Winograd, "Arithmetic Complexity of Computations", 1980; B. Barabasz et al., "Error Analysis and Improving the
Accuracy of Winograd Convolution for Deep Neural Networks", 2020 (the points matter).
"""

from __future__ import annotations

import numpy as np

# The finite points, by the number of outputs. ``kernels/winograd_transforms.pxd`` has A and B written out for these.
POINTS = {2: (0.0, 1.0, -1.0), 4: (0.0, 11 / 16, -11 / 16, 3 / 2, -3 / 2)}


def winograd_matrices(size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A (size, size + 2), B (size + 2, size + 2) and G (size + 2, 3), float64; ``size`` is 2 or 4.

    >>> a, b, g = winograd_matrices(2)
    >>> inputs, weights = np.array([1, 2, 3, 5]), np.array([1, 0, 2])
    >>> (a @ ((g @ weights) * (b @ inputs))).tolist()  # 1 * 1 + 3 * 2, 2 * 1 + 5 * 2
    [7.0, 12.0]
    """
    points = POINTS[size]
    a = np.zeros((size, size + 2))
    b = np.zeros((size + 2, size + 2))
    g = np.zeros((size + 2, 3))
    for i, point in enumerate(points):
        others = [other for other in points if other != point]
        b[i, :-1] = np.poly(others)[::-1]  # the polynomial that is 0 at all others, lowest power first
        g[i] = point ** np.arange(3) / np.prod(np.subtract(point, others))
        a[:, i] = point ** np.arange(size)
    b[-1] = np.poly(points)[::-1]
    g[-1, -1] = a[-1, -1] = 1
    return a, b, g


def winograd_conv2d(x: np.ndarray, weight: np.ndarray, padding: int, matrices: tuple[np.ndarray, ...]) -> np.ndarray:
    """The formula, tile by tile, in double precision: the twin of ``kernels/winograd.pyx``.

    ``x`` (n, c, h, w) has ``padding`` zeros on each side, ``weight`` is (o, c, 3, 3), and ``matrices`` are A, B and G,
    or their absolute values for the bound of the rounding error. Returns (n, o, h + 2 padding - 2, w + 2 padding - 2).

    >>> x, weight = np.arange(25.0).reshape(1, 1, 5, 5), np.zeros((1, 1, 3, 3))
    >>> weight[0, 0, 1, 1] = 2
    >>> winograd_conv2d(x, weight, 0, winograd_matrices(2))[0, 0].tolist()
    [[12.0, 14.0, 16.0], [22.0, 24.0, 26.0], [32.0, 34.0, 36.0]]
    """
    a, b, g = matrices
    n, _, h, w = x.shape
    size = len(a)
    out_h, out_w = h + 2 * padding - 2, w + 2 * padding - 2
    beyond = padding + size - 1  # the last tile may stick out
    x = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (padding, beyond), (padding, beyond)))
    transformed = g @ weight.astype(np.float64) @ g.T
    out = np.empty((n, len(weight), out_h, out_w))
    for top in range(0, out_h, size):
        for left in range(0, out_w, size):
            values = b @ x[:, :, top : top + size + 2, left : left + size + 2] @ b.T
            tile = a @ np.einsum("ncij,ocij->noij", values, transformed) @ a.T
            out[:, :, top : top + size, left : left + size] = tile[:, :, : out_h - top, : out_w - left]
    return out

"""The pieces of the normal distribution in GELU (``kuiper/simd/functions.h``).

``python -m tests.simd.normal_pieces`` prints them.

P(y) = Phi(y) - 1/2 is cut into pieces of one length. Piece k has a polynomial of t, where y is (k - t) / OF_ONE
and |t| <= 1/2. Least squares at Chebyshev nodes give it, and nodes with a large error get a larger weight for the next
round (Lawson's algorithm), until the largest error hardly falls. The first piece has no constant, so that P(0) is 0.

Source: C. L. Lawson, "Contributions to the Theory of Linear Least Maximum Approximation", 1961.
"""

from __future__ import annotations

import math

import numpy as np

NODES = 2000
ROUNDS = 200


PIECES, DEGREE, END = 8, 5, 5.5  # columns of the table, degree of the polynomials, the y at which the last piece begins
OF_ONE = (PIECES - 1) / END


def distribution(y: np.ndarray) -> np.ndarray:
    """P(y).

    >>> distribution(np.array([0.0, 1.0])).round(4).tolist()
    [0.0, 0.3413]
    """
    return np.array([math.erf(value * math.sqrt(0.5)) / 2 for value in y])


def coefficients() -> np.ndarray:
    """(DEGREE + 1, PIECES), the highest power first.

    >>> coefficients()[-1, [0, -1]].tolist()
    [-0.0, 0.5]
    """
    fitted = np.zeros((DEGREE + 1, PIECES))
    for k in range(PIECES - 1):
        fitted[:, k] = fit(k)
    fitted[-1, 0] = -0.0  # GELU of -0.0 comes to -0.0 by it
    fitted[-1, -1] = 0.5
    return fitted


def fit(k: int) -> np.ndarray:
    """The polynomial of piece k, the highest power first."""
    t = np.cos(np.pi * (np.arange(NODES) + 0.5) / NODES) / 2
    t = -np.abs(t) if k == 0 else t
    exact = distribution((k - t) / OF_ONE)
    powers = np.arange(DEGREE, 0 if k == 0 else -1, -1)
    # Normal equations, many times faster than lstsq, lose no digit that counts where the columns are orthogonal.
    terms, triangle = np.linalg.qr(t[:, None] ** powers)
    weights = np.full(NODES, 1 / NODES)
    best, smallest = np.zeros(len(powers)), math.inf
    for _ in range(ROUNDS):
        weighted = (terms * weights[:, None]).T
        found = np.linalg.solve(weighted @ terms, weighted @ exact)
        error = np.abs(terms @ found - exact)
        if error.max() < smallest:
            best, smallest = found, error.max()
        weights *= error
        weights /= weights.sum()
    best = np.linalg.solve(triangle, best)
    return np.append(best, 0) if k == 0 else best


if __name__ == "__main__":
    for row in coefficients().astype(np.float32):
        print("{" + ", ".join(f"{value!s}f" for value in row) + "},")

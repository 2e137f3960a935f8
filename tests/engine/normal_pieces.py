"""The pieces of the normal distribution in ``kuiper/engine/gelu.pxd``.

``python -m tests.engine.normal_pieces`` prints them.

P(y) = Phi(y) - 1/2 is cut into pieces of one length. Piece k has a polynomial of t, where y is (k - t) / pieces_of_one
and |t| <= 1/2. Least squares at Chebyshev nodes give it, and nodes with a large error get a larger weight for the next
round (Lawson's algorithm), until the largest error hardly falls. The first piece has no constant, so that P(0) is 0.

Source: C. L. Lawson, "Contributions to the Theory of Linear Least Maximum Approximation", 1961.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

NODES = 2000
ROUNDS = 200


class Pieces(NamedTuple):
    """How P is cut: numbers in a lookup, degree of the polynomials, middle of the last piece, the number 1/2."""

    entries: int
    degree: int
    end: float

    @property
    def pieces_of_one(self) -> float:
        return (self.entries - 1) / self.end


BUILDS = (Pieces(32, 3, 5.5), Pieces(8, 5, 5.5))


def distribution(y: np.ndarray) -> np.ndarray:
    """P(y).

    >>> distribution(np.array([0.0, 1.0])).round(4).tolist()
    [0.0, 0.3413]
    """
    return np.array([math.erf(value * math.sqrt(0.5)) / 2 for value in y])


def coefficients(pieces: Pieces) -> np.ndarray:
    """(degree + 1, entries), the highest power first.

    >>> coefficients(Pieces(8, 5, 5.5))[-1, [0, -1]].tolist()
    [-0.0, 0.5]
    """
    fitted = np.zeros((pieces.degree + 1, pieces.entries))
    for k in range(pieces.entries - 1):
        fitted[:, k] = fit(pieces, k)
    fitted[-1, 0] = -0.0  # GELU of -0.0 comes to -0.0 by it
    fitted[-1, -1] = 0.5
    return fitted


def fit(pieces: Pieces, k: int) -> np.ndarray:
    """The polynomial of piece k, the highest power first."""
    t = np.cos(np.pi * (np.arange(NODES) + 0.5) / NODES) / 2
    t = -np.abs(t) if k == 0 else t
    exact = distribution((k - t) / pieces.pieces_of_one)
    powers = np.arange(pieces.degree, 0 if k == 0 else -1, -1)
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


def c_table(pieces: Pieces) -> str:
    """The lines of ``gelu.pxd``."""
    rows = []
    for row in coefficients(pieces).astype(np.float32):
        numbers = [f"{value!s}f" for value in row]
        lines, line = [], "        {"
        for i, number in enumerate(numbers):
            text = number + ("}" if i == len(numbers) - 1 else ",")
            if len(line) + len(text) + 1 > 120:
                lines.append(line.rstrip())
                line = "         "
            line += text + " "
        rows.append("\n".join([*lines, line.rstrip()]))
    head = (
        f"    enum {{ KUIPER_DEGREE = {pieces.degree} }};\n"
        f"    #define KUIPER_PIECES_OF_ONE {pieces.pieces_of_one:.8g}f\n"
        f"    static const float kuiper_normal[KUIPER_DEGREE + 1][{pieces.entries}] = {{\n"
    )
    return head + ",\n".join(rows) + "\n    };"


if __name__ == "__main__":
    for build in BUILDS:
        print(c_table(build))

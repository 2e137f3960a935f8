"""Exercise 5.11: RMSNorm and rotary embedding.

Two small functions stand in every block of a Llama. RMSNorm keeps the numbers of a token at one size, so that they neither
grow nor vanish from block to block. The rotary embedding says where in the text a token stands: it turns pairs of numbers
of queries and keys by an angle that grows with the position.

    position            0      1      2      3
    pair 0 turns by     0     90    180    270 degrees        like the hands of a clock, the pairs turn
    pair 1 turns by     0     30     60     90 degrees        at different speeds

    the angle of pair i at position p is p * frequencies[i], in radians

The product of a query and a key then depends on how far apart the two tokens are, and not on where they stand.

All arrays are float32 unless a docstring says otherwise. b is the number of texts, h the number of heads, s the number of
tokens, d the numbers of a head, and r the number of pairs that are turned.
"""

from __future__ import annotations

import numpy as np


def rms_norm(x: np.ndarray, weight: np.ndarray, eps: float) -> np.ndarray:
    """``x`` (..., d) divided by its root mean square along the last axis, and then times ``weight`` (d,): float32.

    The root mean square of d numbers is sqrt(mean of their squares + eps). Every row along the last axis has its own.
    ``x`` may have any number of axes, and the result has the same shape. The mean is not taken away first: this is
    what makes RMSNorm cheaper than LayerNorm.

    The mean of the squares of 1 and 7 is 25, the root of it is 5:

    >>> rms_norm(np.float32([[1, 7], [-3, 3]]), np.float32([5, 10]), 0.0).tolist()
    [[1.0, 14.0], [-5.0, 10.0]]
    """
    # BEGIN SOLUTION
    mean_square = np.mean(x * x, axis=-1, keepdims=True)
    return x / np.sqrt(mean_square + np.float32(eps)) * weight
    # END SOLUTION


def rotary_angles(positions: np.ndarray, frequencies: np.ndarray, scale: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """The cosines (s, r) and the sines (s, r) of all angles, both times ``scale``: two arrays of float32.

    ``positions`` (s,) are int64, ``frequencies`` (r,) are float32. The angle in row p, column i is positions[p] times
    frequencies[i], in radians. Models were trained with angles that are products in float32: turn the positions into
    float32 before you multiply. (int64 times float32 is float64 in NumPy, and at position 100000 the angles differ by
    thousandths.) The cosine and the sine of such an angle may be computed in any precision.

    A frequency of pi / 2 is a quarter of a turn at each step:

    >>> cosines, sines = rotary_angles(np.array([0, 1, 2]), np.float32([np.pi / 2]))
    >>> cosines.shape, (cosines.round(3) + 0).tolist(), (sines.round(3) + 0).tolist()
    ((3, 1), [[1.0], [0.0], [-1.0]], [[0.0], [1.0], [0.0]])
    """
    # BEGIN SOLUTION
    angles = np.multiply.outer(positions.astype(np.float32), frequencies).astype(np.float64)
    return (scale * np.cos(angles)).astype(np.float32), (scale * np.sin(angles)).astype(np.float32)
    # END SOLUTION


def rotate(x: np.ndarray, cosines: np.ndarray, sines: np.ndarray) -> np.ndarray:
    """Queries or keys ``x`` (b, h, s, d) with their pairs turned; ``cosines`` and ``sines`` are (s, r), 2 * r <= d.

    Number i of a head and number r + i are a pair, for i from 0 to r - 1, as in Hugging Face's Llama. The angle of pair i
    of token p (the third axis of ``x``) is in row p, column i of ``cosines`` and ``sines``, for all texts and heads. The
    pair (first, second) becomes

        first * cosine - second * sine,    second * cosine + first * sine

    and goes back to the places that it came from. The numbers from 2 * r on stay as they are. The result is a new array,
    and ``x`` is not changed.

    One token with 5 numbers, r = 2: the pair (1, 3) makes a quarter turn, the pair (2, 4) half a turn, and 5 stays.

    >>> x = np.float32([1, 2, 3, 4, 5]).reshape(1, 1, 1, 5)
    >>> rotate(x, np.float32([[0, -1]]), np.float32([[1, 0]])).ravel().tolist()
    [-3.0, -2.0, 1.0, -4.0, 5.0]
    """
    # BEGIN SOLUTION
    r = cosines.shape[1]
    first, second, rest = x[..., :r], x[..., r : 2 * r], x[..., 2 * r :]
    turned = [first * cosines - second * sines, second * cosines + first * sines, rest]
    return np.concatenate(turned, axis=-1)
    # END SOLUTION

"""Exercise 5.2: from a network's numbers to names with probabilities.

A classifier's last layer gives one number for each class, a logit; any number, also a negative one. Softmax makes
probabilities of them: all positive, together 1, the order kept.

    softmax(x)[i] = exp(x[i]) / (exp(x[0]) + exp(x[1]) + ...)          0, 0, log 2   ->   0.25, 0.25, 0.5

Typed in like that, it breaks: exp(100) is more than a float32 can hold, and infinity / infinity is no number. But the
same number may be taken away from all logits without changing the result (the factor exp(-m) stands above and below the
line):

    take the largest away first       1000, 1000, 998   ->   0, 0, -2       and no exponential is above 1

"Stable" means two things in this exercise: no overflow (here), and equal things keep their order (in top_k).
"""

from __future__ import annotations

import numpy as np


def softmax(x: np.ndarray, axis: int = -1) -> np.ndarray:
    """Probabilities along one axis of ``x``: float32, of the shape of ``x``, which is float32 with any number of axes.

    Each row along ``axis`` stands for itself: a row of large numbers must not spoil its neighbours. A logit of minus
    infinity gets the probability 0 (there is always a finite one beside it).

    >>> softmax(np.float32([[1000, 1000], [0, -np.inf]])).tolist()
    [[0.5, 0.5], [1.0, 0.0]]
    """
    # BEGIN SOLUTION
    powers = np.exp(x - x.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)
    # END SOLUTION


def log_softmax(x: np.ndarray, axis: int = -1) -> np.ndarray:
    """The natural logarithm of softmax, also where softmax itself is too small for a float32.

    exp(-200) is 0 in float32, and the logarithm of 0 is minus infinity. So do not take the logarithm of your softmax:
    the logarithm of a quotient is a difference, and the logarithm of exp(a) is a.

    >>> log_softmax(np.float32([0, 200])).tolist()
    [-200.0, 0.0]
    """
    # BEGIN SOLUTION
    below = x - x.max(axis=axis, keepdims=True)
    return below - np.log(np.exp(below).sum(axis=axis, keepdims=True))
    # END SOLUTION


def top_k(scores: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The ``k`` largest numbers of each row of ``scores`` (n, classes), the largest first, and where they stand.

    Two arrays (n, k): the values in the dtype of ``scores``, and their columns as int64. Of equal values the one
    further left comes first. Scores may be integers, too, and in uint8 the opposite of 0 is 0, and that of 1 is 255.

    >>> values, columns = top_k(np.float32([[1, 3, 2, 3]]), 3)
    >>> values.tolist(), columns.tolist()
    ([[3.0, 3.0, 2.0]], [[1, 3, 2]])

    Raises
    ------
    ValueError
        Unless 1 <= k <= classes; the message names k.
    """
    # BEGIN SOLUTION
    if not 1 <= k <= scores.shape[1]:
        raise ValueError(f"k: expected 1 to {scores.shape[1]}, got {k}")
    from_the_right = np.argsort(scores[:, ::-1], axis=1, kind="stable")  # ascending, and of equal ones the right first
    columns = scores.shape[1] - 1 - from_the_right[:, ::-1][:, :k]
    return np.take_along_axis(scores, columns, axis=1), columns.astype(np.int64)
    # END SOLUTION

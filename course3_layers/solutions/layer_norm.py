"""Exercise 3.11: layer norm and group norm, and a variance in one pass.

The batch norm of 3.6 uses numbers that training has stored. Layer norm and group norm store none: they compute a mean and
a variance from the numbers that they get, each time anew. What they differ in is which numbers belong together:

    x (n, c, h, w)                              one mean and one variance for
    layer norm over the last 3 axes             each image:  all its channels and pixels
    layer norm over the last axis               each row of w numbers
    group norm with 2 groups                    each half of the channels of each image

                    mean = sum of x / count           variance = sum of (x - mean)^2 / count
                    y = (x - mean) / sqrt(variance + eps) * weight + bias

The variance needs the mean, so the numbers are read twice: two passes. Where the numbers come piece by piece, and each
piece can be seen only once, one pass must do. School mathematics has a formula for that, mean of the squares minus square
of the mean. Do not use it: in float32 it loses all digits if the mean is large.

    10001, 9999       mean 10000, variance 1
    their squares     100020001, 99980001        float32 has 7 digits: they are stored as 100020000, 99980000
    the formula       100000000 - 100000000 = 0

The good way keeps a count, a mean and a variance of what has come so far, and joins those of each new piece to them:

    count       count1 + count2
    distance    mean2 - mean1
    mean        mean1 + distance * count2 / count
    variance    (variance1 * count1 + variance2 * count2) / count + distance^2 * count1 * count2 / count^2

No large numbers are subtracted from each other but the two means. (Pieces of one number are Welford's algorithm.)

All arrays are float32. Stay in float32 on the way, too: a GPU has no other fast numbers.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

Array = np.ndarray
Moments = tuple[int, Array, Array]


def two_passes(rows: Array) -> tuple[Array, Array]:
    """The means (r,) and the variances (r,) of the rows of ``rows`` (r, k), float32; k is 1 or more.

    The variance is divided by k, not by k - 1: it describes these k numbers, and is no guess about others.

    >>> means, variances = two_passes(np.float32([[1, 3], [5, 5]]))
    >>> means.tolist(), variances.tolist()
    ([2.0, 5.0], [1.0, 0.0])
    """
    # BEGIN SOLUTION
    means = rows.mean(axis=1)
    deviations = rows - means[:, None]
    return means, np.mean(deviations * deviations, axis=1)
    # END SOLUTION


def join(first: Moments, second: Moments) -> Moments:
    """Count, means and variances of two pieces together, by the formulas above.

    Each piece is a tuple (count, means (r,), variances (r,)): r rows with ``count`` numbers each. The result is one, too.

    The row 1, 3 and the row 8 become the row 1, 3, 8 with the mean 4 and the variance (9 + 1 + 16) / 3:

    >>> count, means, variances = join((2, np.float32([2]), np.float32([1])), (1, np.float32([8]), np.float32([0])))
    >>> count, means.tolist(), variances.round(3).tolist()
    (3, [4.0], [8.666999816894531])
    """
    # BEGIN SOLUTION
    (count1, means1, variances1), (count2, means2, variances2) = first, second
    count = count1 + count2
    distances = means2 - means1
    means = means1 + distances * (count2 / count)
    within = variances1 * (count1 / count) + variances2 * (count2 / count)
    return count, means, within + distances * distances * (count1 / count * (count2 / count))
    # END SOLUTION


def one_pass(pieces: Iterator[Array]) -> tuple[Array, Array]:
    """As ``two_passes``, for rows that come in pieces: arrays (r, k), one after the other.

    Pieces may have different k. There is at least one, and each can be taken from ``pieces`` only once. Do not keep them:
    there may be more of them than memory has room for.

    >>> means, variances = one_pass(iter([np.float32([[1, 3]]), np.float32([[8]])]))
    >>> means.tolist(), variances.round(3).tolist()
    ([4.0], [8.666999816894531])
    """
    # BEGIN SOLUTION
    so_far: Moments | None = None
    for piece in pieces:
        new = (piece.shape[1], *two_passes(piece))
        so_far = new if so_far is None else join(so_far, new)
    return so_far[1:]
    # END SOLUTION


def layer_norm(x: Array, axes: int, weight: Array | None = None, bias: Array | None = None, eps: float = 1e-5) -> Array:
    """``x`` with mean 0 and variance 1 over its last ``axes`` axes, then times ``weight`` plus ``bias``.

    ``weight`` and ``bias`` have the shape of these last axes, a number for each place. Each may be None: there is then no
    such factor, or nothing is added. ``axes`` is 1 or more. The result is a new array of the shape of ``x``; ``eps`` is
    added to the variance, below the root.

    >>> layer_norm(np.float32([[1, 3], [10, 10]]), 1, np.float32([1, 100]), eps=3.0).tolist()
    [[-0.5, 50.0], [0.0, 0.0]]
    """
    # BEGIN SOLUTION
    rows = x.reshape(-1, int(np.prod(x.shape[x.ndim - axes :])))
    means, variances = two_passes(rows)
    y = (rows - means[:, None]) / np.sqrt(variances + np.float32(eps))[:, None]
    y = y.reshape(x.shape)
    if weight is not None:
        y = y * weight
    return y if bias is None else y + bias
    # END SOLUTION


def group_norm(
    x: Array, groups: int, weight: Array | None = None, bias: Array | None = None, eps: float = 1e-5
) -> Array:
    """``x`` (n, c, ...) with mean 0 and variance 1 over each group of channels of each image, then ``weight``, ``bias``.

    The c channels are cut into ``groups`` equal parts of neighbours. All numbers of a part of one image share one mean and
    one variance. ``weight`` and ``bias`` (c,) have a number for each channel, not for each group; each may be None. ``x``
    has two axes or more, and the result is a new array of its shape.

    Two groups of one channel with two pixels:

    >>> group_norm(np.float32([[[1, 3], [10, 30]]]), 2, np.float32([1, 5]), np.float32([0, 100]), eps=0.0).tolist()
    [[[-1.0, 1.0], [95.0, 105.0]]]

    Raises
    ------
    ValueError
        If c is not a multiple of ``groups``; the message has the word "groups".
    """
    # BEGIN SOLUTION
    n, c = x.shape[:2]
    if c % groups != 0:
        raise ValueError(f"group_norm: expected channels in {groups} equal groups, got {c} channels")
    y = layer_norm(x.reshape(n * groups, -1), 1, eps=eps).reshape(x.shape)
    each_channel = (c,) + (1,) * (x.ndim - 2)
    if weight is not None:
        y = y * weight.reshape(each_channel)
    return y if bias is None else y + bias.reshape(each_channel)
    # END SOLUTION

"""Exercise 3.6: a batch norm that costs nothing.

While a network is trained, a batch norm shifts and scales each channel by what it sees. Afterwards its numbers stand
still:

    y = (x - mean) / sqrt(var + eps) * gamma + beta                                  one of each for every channel

So it multiplies each channel by one number and adds another, and that is something the convolution before it can do
itself: with other weights and another bias. The batch norm disappears from the network, and with it one trip of the
whole picture through memory.

    x  ->  conv(weight, bias)  ->  batch norm  ->  y            before
    x  ->  conv(new weight, new bias)          ->  y            after: the same y

A worked example, a kernel of one pixel, with var + eps = 4:

    conv         3 * x + 5
    batch norm   (... - 1) / 2 * 10 + 7         mean 1, root 2, gamma 10, beta 7
    together     (3 * x + 5 - 1) * 5 + 7   =   15 * x + 27      new weight 15, new bias 27

A kernel makes one output channel: the channel's numbers belong to the first axis of the weight, which is
(out_c, in_c / groups, h, w).
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def batch_norm(
    x: Array, mean: Array, var: Array, gamma: Array | None = None, beta: Array | None = None, eps: float = 1e-5
) -> Array:
    """Batch norm as a trained network uses it: a new float32 array of the shape of ``x``.

        x                       (n, c) or (n, c, l) or (n, c, h, w) or longer   float32, and so are the others
        mean, var, gamma, beta  (c,)                                            the shapes fit

    ``mean`` and ``var`` are those given, whatever the mean and the variance of ``x`` are. ``gamma`` and ``beta`` may
    each be None: there is then no such factor, or nothing is added.

    >>> x = np.array([[[[1, 2]], [[3, 4]]]], np.float32)
    >>> mean, var = np.array([1, 5], np.float32), np.array([3, 15], np.float32)
    >>> gamma, beta = np.array([10, -8], np.float32), np.array([7, 100], np.float32)
    >>> batch_norm(x, mean, var, gamma, beta, eps=1).tolist()
    [[[[7.0, 12.0]], [[104.0, 102.0]]]]
    """
    # BEGIN SOLUTION
    axes = (1, -1) + (1,) * (x.ndim - 2)
    root = np.sqrt(var + eps)
    y = (x - mean.reshape(axes)) / root.reshape(axes)
    if gamma is not None:
        y = y * gamma.reshape(axes)
    if beta is not None:
        y = y + beta.reshape(axes)
    return y.astype(np.float32)
    # END SOLUTION


def fold_batch_norm(
    weight: Array,
    bias: Array | None,
    mean: Array,
    var: Array,
    gamma: Array | None = None,
    beta: Array | None = None,
    eps: float = 1e-5,
) -> tuple[Array, Array]:
    """The weight and the bias of one convolution that does what a convolution and the batch norm behind it did.

        weight                        (out_c, ...)     of a convolution of any kind, or of a linear layer, (out_c, in_c)
        bias                          (out_c,) or None
        mean, var, gamma, beta, eps   as above; c is out_c

    Both results are new float32 arrays, of the shape of ``weight`` and (out_c,). There is always a bias, even if the
    convolution had none; and nothing that was given is changed: the network may still need it.

    >>> weight, bias = np.array([[[[3]]]], np.float32), np.array([5], np.float32)
    >>> mean, var, gamma, beta = (np.array([value], np.float32) for value in (1, 3, 10, 7))
    >>> new_weight, new_bias = fold_batch_norm(weight, bias, mean, var, gamma, beta, eps=1)
    >>> new_weight.tolist(), new_bias.tolist()
    ([[[[15.0]]]], [27.0])

    Raises
    ------
    ValueError
        If ``bias``, ``mean``, ``var``, ``gamma`` or ``beta`` is not of shape (out_c,); the message has the name of the
        one that is not.
    """
    # BEGIN SOLUTION
    count = len(weight)
    bias = np.zeros(count, np.float32) if bias is None else bias
    gamma = np.ones(count, np.float32) if gamma is None else gamma
    beta = np.zeros(count, np.float32) if beta is None else beta
    given = {"bias": bias, "mean": mean, "var": var, "gamma": gamma, "beta": beta}
    for name, values in given.items():
        if values.shape != (count,):
            raise ValueError(f"{name}: expected shape {(count,)}, got {values.shape}")
    scale = gamma / np.sqrt(var + eps)
    new_weight = weight * scale.reshape(-1, *[1] * (weight.ndim - 1))
    new_bias = (bias - mean) * scale + beta
    return new_weight.astype(np.float32), new_bias.astype(np.float32)
    # END SOLUTION

"""A batch norm that disappears in the convolution before it, with numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.course.picture_words import words
from kuiper.course.pictures.grid import grid
from kuiper.course.pictures.picture import Picture, column_of, row_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def folded_batch_norm(
    weight: ArrayLike = ((1.0, 0.0, -1.0), (2.0, 0.0, -2.0)),
    bias: ArrayLike = (0.5, 1.0),
    gamma: ArrayLike = (6.0, 1.0),
    beta: ArrayLike = (0.0, 3.0),
    mean: ArrayLike = (0.5, 2.0),
    variance: ArrayLike = (4.0, 0.25),
    epsilon: float = 0.0,
) -> Picture:
    """Two rows of pictures: a convolution and a batch norm, and the one convolution that gives the same numbers.

    Parameters
    ----------
    weight : (channels, numbers), the kernel of each output channel in one row
    bias, gamma, beta, mean, variance : (channels,)

    >>> picture = folded_batch_norm([[3.0]], [1.0], gamma=[2.0], beta=[5.0], mean=[1.0], variance=[4.0])
    >>> "(bias - mean) * scale + beta" in picture.svg()
    True
    """
    kernel = np.atleast_2d(np.asarray(weight, float))
    columns = {"bias": bias, "gamma": gamma, "beta": beta, "mean": mean, "variance": variance}
    values = {name: np.atleast_1d(np.asarray(value, float)) for name, value in columns.items()}
    scale = values["gamma"] / np.sqrt(values["variance"] + epsilon)
    folded_weight = kernel * scale[:, None]
    folded_bias = (values["bias"] - values["mean"]) * scale + values["beta"]
    hues = np.arange(len(kernel))[:, None]

    def plane(numbers: np.ndarray, title: str) -> Picture:
        rounded = np.round(numbers.reshape(len(kernel), -1), 3)
        return grid(rounded, title, colours=np.broadcast_to(hues, rounded.shape))

    norm = [plane(values[name], name) for name in ("gamma", "beta", "mean", "variance")]
    return column_of(
        words("before: convolution, then batch norm"),
        row_of(plane(kernel, "weight"), plane(values["bias"], "bias"), words("then"), *norm),
        "scale = gamma / sqrt(variance + epsilon)",
        row_of(plane(scale, "scale")),
        words("after: one convolution"),
        row_of(plane(folded_weight, "weight * scale"), plane(folded_bias, "(bias - mean) * scale + beta")),
    ).captioned(
        words("A batch norm is folded: each output channel (one colour) has one scale, which goes into its weights.")
    )

"""nn.Softmax and its kin: numbers as shares of a whole."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from kuiper.layers.axes import CHANNELS, axis
from kuiper.layers.blocks import as_blocks
from kuiper.layers.layer import Layer
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.layers.layer import Array


class AlongAxis(Layer):
    """The base of the softmaxes: ``dim``, and five operations for each number.

    The five: the maximum, the difference from it, the exponential, the sum, the division.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.dim: int | None = op.int_param("dim", None)
        self.is_pixelwise |= self.dim in CHANNELS
        dtype = op.str_param("dtype", "torch.float")
        if dtype not in ("torch.float", "torch.float32"):
            raise self.unsupported("dtype=torch.float", dtype)

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return 5 * math.prod(outputs[0])


@register("nn.Softmax", "F.softmax", "torch.softmax")
class Softmax(AlongAxis):
    """``exp(x) / sum(exp(x))`` along ``dim``.

    Source: torch.nn.functional.softmax; Bridle, Probabilistic Interpretation of Feedforward Network Outputs, 1990.
    """

    def forward(self, x: Array) -> Array:
        return softmax(x, self.dim, self.op.where)


@register("nn.LogSoftmax", "F.log_softmax", "torch.log_softmax")
class LogSoftmax(AlongAxis):
    """``x - ln(sum(exp(x)))`` along ``dim``: the logarithm of the softmax, without its underflow.

    Source: torch.nn.functional.log_softmax.
    """

    def forward(self, x: Array) -> Array:
        return log_softmax(x, self.dim, self.op.where)


@register("nn.Softmin", "F.softmin")
class Softmin(AlongAxis):
    """The softmax of ``-x``: the smallest number gets the largest share.

    Source: torch.nn.functional.softmin.
    """

    def forward(self, x: Array) -> Array:
        return softmax(-x, self.dim, self.op.where)


@register("nn.Softmax2d")
class Softmax2d(AlongAxis):
    """The softmax over the channels of each pixel, (n, c, h, w) or (c, h, w).

    Source: torch.nn.Softmax2d.
    """

    is_pixelwise = True

    def forward(self, x: Array) -> Array:
        self.expect_rank(x, (3, 4), "(n, c, h, w) or (c, h, w)")
        return softmax(x, -3, self.op.where)


def softmax(x: Array, dim: int | None = None, where: str = "softmax") -> Array:
    """``exp(x) / sum(exp(x))`` along ``dim``; numbers of any size, only their differences count.

    Without ``dim``, torch's old rule: axis 0 of an array with 0, 1 or 3 axes, else axis 1.

    >>> softmax(np.float32([[1000, 1000], [0, -1000]]), dim=1)
    array([[0.5, 0.5],
           [1. , 0. ]], dtype=float32)

    Raises
    ------
    ShapeError
        If there is no such axis.
    DataTypeError
        If ``x`` is not float32.
    """
    below = _below_maximum(x, dim, where)
    shares = np.exp(below, out=below)
    shares /= shares.sum(1, np.float64, keepdims=True).astype(np.float32)
    return np.asarray(shares.reshape(x.shape))


def log_softmax(x: Array, dim: int | None = None, where: str = "log_softmax") -> Array:
    """``x - ln(sum(exp(x)))`` along ``dim``, which is chosen and checked as for ``softmax``.

    >>> log_softmax(np.float32([0, 0, -1000]), dim=0).round(2)
    array([-6.90000e-01, -6.90000e-01, -1.00069e+03], dtype=float32)
    """
    below = _below_maximum(x, dim, where)
    below -= np.log(np.exp(below).sum(1, np.float64, keepdims=True)).astype(np.float32)
    return below.reshape(x.shape)


def _below_maximum(x: Array, dim: int | None, where: str) -> Array:
    """``x - max(x)`` along the axis, as (outer, size, inner): e**89 would be inf, and with the maximum taken away the
    largest term is e**0. With NaN or +inf in it, or nothing but -inf, it is NaN, as in torch."""
    if dim is None:
        dim = 0 if x.ndim in (0, 1, 3) else 1
    along = axis(dim, x.ndim, where)
    blocks = as_blocks(x, along, along + 1, where)
    with np.errstate(all="ignore"):
        return np.asarray(blocks - blocks.max(1, keepdims=True, initial=-np.inf))

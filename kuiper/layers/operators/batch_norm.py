"""nn.BatchNorm1d, 2d and 3d: each channel shifted and scaled by what training measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ShapeError
from kuiper.layers.blocks import as_blocks, weights_like
from kuiper.layers.normalisation import Normalisation
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.layers.layer import Array

_RANKS = {
    "nn.BatchNorm1d": ((2, 3), "(n, c) or (n, c, w)"),
    "nn.BatchNorm2d": ((4,), "(n, c, h, w)"),
    "nn.BatchNorm3d": ((5,), "(n, c, d, h, w)"),
    "F.batch_norm": (tuple(range(2, 33)), "(n, c, ...)"),
}


@register(*_RANKS)
class BatchNorm(Normalisation):
    """``(x - mean) / sqrt(var + eps) * weight + bias`` with a mean and a variance for each channel.

    The two are the model's running statistics, or those of the input where the model keeps none.

    Source: torch.nn.functional.batch_norm; Ioffe and Szegedy, Batch Normalization, 2015, algorithm 2.
    """

    is_pixelwise = True

    operands = ("running_mean", "running_var", "weight", "bias")
    flops_per_number = 2

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        if op.type != "F.batch_norm":
            affine = ("weight", "bias") if op.bool_param("affine", True) else ()
            self.read_weights(("running_mean", "running_var", *affine), (op.int_param("num_features"),))

    def normalise(self, x: Array, **weights: Array) -> Array:
        self.expect_rank(x, *_RANKS[self.op.type])
        return batch_norm(x, **weights, eps=self.eps, where=self.op.where)


def batch_norm(
    x: Array,
    running_mean: Array | None = None,
    running_var: Array | None = None,
    weight: Array | None = None,
    bias: Array | None = None,
    eps: float = 1e-5,
    where: str = "batch_norm",
) -> Array:
    """``x`` (n, c, ...) with each channel as ``scale * x + shift``.

    With ``scale = weight / sqrt(running_var + eps)`` and ``shift = bias - scale * running_mean`` that is one
    multiplication and one addition for each number.

    >>> batch_norm(np.float32([[3, 3], [5, 5]]), np.float32([1, 3]), np.float32([4, 1]), eps=0)
    array([[1., 0.],
           [2., 2.]], dtype=float32)

    Raises
    ------
    ShapeError
        If a weight or a statistic is not of shape (c).
    """
    shape = x.shape[1:2]
    if running_mean is None or running_var is None:
        others = (0, *range(2, x.ndim))
        running_mean, running_var = x.mean(others, np.float64), x.var(others, np.float64)
    for name, statistic in (("running_mean", running_mean), ("running_var", running_var)):
        if statistic.shape != shape:
            raise ShapeError(where, f"{name} of shape {shape} for input {x.shape}", statistic.shape)
    scale = weights_like(weight, shape, 1, "weight", where) / np.sqrt(running_var.astype(np.float64) + eps)
    shift = weights_like(bias, shape, 0, "bias", where) - scale * running_mean
    blocks = as_blocks(x, 1, 2, where)
    y: Array = blocks * scale.astype(np.float32)[:, None]
    y += shift.astype(np.float32)[:, None]
    return y.reshape(x.shape)

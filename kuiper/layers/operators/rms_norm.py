"""nn.RMSNorm: a layer norm that leaves the mean alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.layers.blocks import runs_in_cache, weights_like
from kuiper.layers.normalisation import Normalisation, inverse_root
from kuiper.layers.operators.layer_norm import as_rows_of
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.layers.layer import Array

_DEFAULT_EPS = float(np.finfo(np.float32).eps)


@register("nn.RMSNorm", "F.rms_norm")
class RMSNorm(Normalisation):
    """``x / sqrt(mean(x**2) + eps) * weight`` over the last axes; ``eps`` is 2**-23 unless it is given.

    Source: torch.nn.functional.rms_norm; Zhang and Sennrich, Root Mean Square Layer Normalization, 2019.
    """

    operands = ("weight",)
    flops_per_number = 4

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.eps = op.float_param("eps", _DEFAULT_EPS)
        self.normalized_shape = op.ints_param("normalized_shape")
        if op.type == "nn.RMSNorm" and op.bool_param("elementwise_affine", True):
            self.read_weights(("weight",), self.normalized_shape)

    def normalise(self, x: Array, **weights: Array) -> Array:
        return rms_norm(x, self.normalized_shape, **weights, eps=self.eps, where=self.op.where)


def rms_norm(
    x: Array,
    normalized_shape: tuple[int, ...],
    weight: Array | None = None,
    eps: float = _DEFAULT_EPS,
    where: str = "rms_norm",
) -> Array:
    """``x`` (..., *normalized_shape) divided by its root mean square over these axes, then times ``weight``.

    >>> rms_norm(np.float32([[1, 7], [-3, 3]]), (2,), np.float32([5, 10]), eps=0.0)
    array([[ 1., 14.],
           [-5., 10.]], dtype=float32)

    Raises
    ------
    ShapeError
        If the last axes of ``x`` or the weight are not of ``normalized_shape``.
    """
    rows = as_rows_of(x, normalized_shape, where)
    scale = weights_like(weight, normalized_shape, 1, "weight", where)
    y = np.empty_like(rows)
    with np.errstate(all="ignore"):  # as in torch, inf times 0 is NaN without a word
        for some in runs_in_cache(*rows.shape):
            np.multiply(rows[some], inverse_root(rows[some], eps), out=y[some])
            y[some] *= scale
    return y.reshape(x.shape)

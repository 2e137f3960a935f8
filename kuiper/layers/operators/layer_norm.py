"""nn.LayerNorm: every sample brought to mean 0 and variance 1 over its last axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ParameterError, ShapeError
from kuiper.layers.blocks import as_blocks, weights_like
from kuiper.layers.normalisation import Normalisation, normalised
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.layers.layer import Array


@register("nn.LayerNorm", "F.layer_norm")
class LayerNorm(Normalisation):
    """``(x - mean) / sqrt(var + eps) * weight + bias`` over the last axes, those of ``normalized_shape``.

    Source: torch.nn.functional.layer_norm; Ba, Kiros and Hinton, Layer Normalization, 2016.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.normalized_shape = op.ints_param("normalized_shape")
        if op.type == "nn.LayerNorm" and op.bool_param("elementwise_affine", True):
            names = ("weight", "bias") if op.bool_param("bias", True) else ("weight",)
            self.read_weights(names, self.normalized_shape)

    def normalise(self, x: Array, **weights: Array) -> Array:
        return layer_norm(x, self.normalized_shape, **weights, eps=self.eps, where=self.op.where)


def layer_norm(
    x: Array,
    normalized_shape: tuple[int, ...],
    weight: Array | None = None,
    bias: Array | None = None,
    eps: float = 1e-5,
    where: str = "layer_norm",
) -> Array:
    """``x`` (..., *normalized_shape) with mean 0 and variance 1 over these axes, then times ``weight`` plus ``bias``.

    The variance is the mean square deviation (divided by the count, not by one less).

    >>> layer_norm(np.float32([[1, 3], [10, 10]]), (2,), eps=3.0)
    array([[-0.5,  0.5],
           [ 0. ,  0. ]], dtype=float32)

    Raises
    ------
    ShapeError
        If the last axes of ``x``, the weight or the bias are not of ``normalized_shape``.
    """
    rows = as_rows_of(x, normalized_shape, where)
    scale = weights_like(weight, normalized_shape, 1, "weight", where)
    shift = weights_like(bias, normalized_shape, 0, "bias", where)
    with np.errstate(all="ignore"):  # as in torch, inf times 0 is NaN without a word
        y = normalised(rows, eps)
        y *= scale
        y += shift
    return y.reshape(x.shape)


def as_rows_of(x: Array, normalized_shape: tuple[int, ...], where: str) -> Array:
    """``x`` as (rows, size), a row for each ``normalized_shape`` in it.

    Raises
    ------
    ParameterError
        If ``normalized_shape`` has no axes.
    ShapeError
        If the last axes of ``x`` are others.
    """
    if not normalized_shape:
        raise ParameterError(where, "a normalized_shape of at least one axis", normalized_shape)
    if x.shape[-len(normalized_shape) :] != normalized_shape:
        raise ShapeError(where, f"input (..., {', '.join(map(str, normalized_shape))})", x.shape)
    return as_blocks(x, x.ndim - len(normalized_shape), x.ndim, where)[:, :, 0]

"""nn.GroupNorm: groups of channels brought to mean 0 and variance 1, sample by sample."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ShapeError
from kuiper.layers.blocks import as_blocks, weights_like
from kuiper.layers.normalisation import Normalisation, normalised
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.layers.layer import Array


@register("nn.GroupNorm", "F.group_norm")
class GroupNorm(Normalisation):
    """``(x - mean) / sqrt(var + eps) * weight + bias``, the mean over a group of channels, the weight of each channel.

    Source: torch.nn.functional.group_norm; Wu and He, Group Normalization, 2018.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.num_groups = op.int_param("num_groups")
        if op.type == "nn.GroupNorm" and op.bool_param("affine", True):
            self.read_weights(("weight", "bias"), (op.int_param("num_channels"),))

    def normalise(self, x: Array, **weights: Array) -> Array:
        return group_norm(x, self.num_groups, **weights, eps=self.eps, where=self.op.where)


def group_norm(
    x: Array,
    num_groups: int,
    weight: Array | None = None,
    bias: Array | None = None,
    eps: float = 1e-5,
    where: str = "group_norm",
) -> Array:
    """``x`` (n, c, ...) with mean 0 and variance 1 in each of ``num_groups`` groups of neighbouring channels.

    >>> group_norm(np.float32([[1, 3, 5, 5]]), 2, eps=3.0)
    array([[-0.5,  0.5,  0. ,  0. ]], dtype=float32)

    Raises
    ------
    ShapeError
        If the channels do not make that many equal groups, or weight or bias are not of shape (c).
    """
    if x.ndim < 2 or num_groups < 1 or x.shape[1] % num_groups:
        raise ShapeError(where, f"input (n, c, ...) with c a multiple of {num_groups} groups", x.shape)
    scale = weights_like(weight, x.shape[1:2], 1, "weight", where)
    shift = weights_like(bias, x.shape[1:2], 0, "bias", where)
    blocks = as_blocks(x, 1, 2, where)
    n, channels, inner = blocks.shape
    groups = blocks.reshape(n, num_groups, channels // num_groups * inner)
    y = normalised(groups.reshape(-1, groups.shape[2]), eps).reshape(blocks.shape)
    with np.errstate(all="ignore"):  # as in torch, inf times 0 is NaN without a word
        y *= scale[:, None]
        y += shift[:, None]
    return y.reshape(x.shape)

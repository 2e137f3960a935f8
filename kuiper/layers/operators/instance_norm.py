"""nn.InstanceNorm1d, 2d and 3d: every channel of every sample brought to mean 0 and variance 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kuiper.layers.layer import Layer
from kuiper.layers.normalisation import Normalisation
from kuiper.layers.operators.batch_norm import batch_norm
from kuiper.layers.operators.group_norm import group_norm
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.layers.layer import Array

_RANKS = {
    "nn.InstanceNorm1d": ((2, 3), "(n, c, w) or (c, w)"),
    "nn.InstanceNorm2d": ((3, 4), "(n, c, h, w) or (c, h, w)"),
    "nn.InstanceNorm3d": ((4, 5), "(n, c, d, h, w) or (c, d, h, w)"),
    "F.instance_norm": (tuple(range(3, 33)), "(n, c, ...)"),
}


@register(*_RANKS)
class InstanceNorm(Normalisation):
    """A group norm with one channel in each group; a batch norm where the model tracks running statistics.

    Source: torch.nn.functional.instance_norm; Ulyanov, Vedaldi and Lempitsky, Instance Normalization, 2016.
    """

    operands = ("running_mean", "running_var", "weight", "bias")

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        if op.type != "F.instance_norm":
            affine = ("weight", "bias") if op.bool_param("affine", False) else ()
            tracked = ("running_mean", "running_var") if op.bool_param("track_running_stats", False) else ()
            self.read_weights((*tracked, *affine), (op.int_param("num_features"),))

    def normalise(self, x: Array, **weights: Array) -> Array:
        ranks, letters = _RANKS[self.op.type]
        self.expect_rank(x, ranks, letters)
        shape = x.shape
        if x.ndim < ranks[-1] and self.op.type != "F.instance_norm":
            x = x[None]
        y = instance_norm(x, **weights, eps=self.eps, where=self.op.where)
        return y.reshape(shape)


@register("aten::instance_norm")
class AtenInstanceNorm(Layer):
    """What pnnx writes for an instance norm with running statistics: torch's nine arguments, all as operands.

    Source: torch.instance_norm.
    """

    def forward(
        self, x: Array, weight: Any, bias: Any, running_mean: Any, running_var: Any, use_input_stats: Any, *others: Any
    ) -> Array:
        _momentum, eps, _cudnn = others
        if use_input_stats:
            running_mean = running_var = None
        return instance_norm(x, running_mean, running_var, weight, bias, float(eps), self.op.where)


def instance_norm(
    x: Array,
    running_mean: Array | None = None,
    running_var: Array | None = None,
    weight: Array | None = None,
    bias: Array | None = None,
    eps: float = 1e-5,
    where: str = "instance_norm",
) -> Array:
    """``x`` (n, c, ...) with mean 0 and variance 1 in each channel of each sample, or by running statistics.

    >>> import numpy as np
    >>> instance_norm(np.float32([[[1, 3], [5, 5]]]), eps=3.0)
    array([[[-0.5,  0.5],
            [ 0. ,  0. ]]], dtype=float32)

    Raises
    ------
    ShapeError
        If a weight or a statistic is not of shape (c).
    """
    if running_mean is None or running_var is None:
        return group_norm(x, x.shape[1], weight, bias, eps, where)
    return batch_norm(x, running_mean, running_var, weight, bias, eps, where)

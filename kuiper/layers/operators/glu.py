"""nn.GLU: one half of the channels opens and closes the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ShapeError
from kuiper.layers.axes import axis
from kuiper.layers.elementwise import Elementwise
from kuiper.layers.operators.sigmoid import sigmoid
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.layers.layer import Array


@register("nn.GLU", "F.glu")
class GLU(Elementwise):
    """``a * sigmoid(b)``, where ``a`` and ``b`` are the halves of ``x`` along ``dim``.

    Source: torch.nn.functional.glu; Dauphin et al., Language Modeling with Gated Convolutional Networks, 2016.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.dim = op.int_param("dim", -1)

    def forward(self, x: Array) -> Array:
        return glu(x, self.dim, self.op.where)


def glu(x: Array, dim: int = -1, where: str = "glu") -> Array:
    """``a * sigmoid(b)``, where ``a`` and ``b`` are the halves of ``x`` along ``dim``.

    >>> glu(np.float32([3, 4, 0, 100]))
    array([1.5, 4. ], dtype=float32)

    Raises
    ------
    ShapeError
        If the axis has no two halves.
    """
    along = axis(dim, x.ndim, where)
    if x.ndim == 0 or x.shape[along] % 2:
        raise ShapeError(where, f"an even size along dim={dim}", x.shape)
    value, gate = np.split(x, 2, axis=along)
    gated: Array = value * sigmoid(gate, where)
    return gated

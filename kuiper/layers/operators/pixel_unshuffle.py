"""nn.PixelUnshuffle: pixels become channels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.errors import ParameterError, ShapeError
from kuiper.layers.layer import Array, Layer
from kuiper.layers.reads import Reads, folded_reads
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("nn.PixelUnshuffle", "F.pixel_unshuffle")
class PixelUnshuffle(Layer):
    """Each r x r block of pixels becomes one pixel of r * r channels: ``nn.PixelShuffle`` undone.

    Source: torch.nn.functional.pixel_unshuffle.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.downscale_factor = op.int_param("downscale_factor")
        if self.downscale_factor < 1:
            raise ParameterError(op.where, "downscale_factor of at least 1", self.downscale_factor)

    def reads(self, sizes: list[tuple[int, int]]) -> list[Reads] | None:
        return [folded_reads(o, self.downscale_factor, grows=False) for _, o in sizes]

    def forward(self, x: Array) -> Array:
        return pixel_unshuffle(x, self.downscale_factor, self.op.where)


def pixel_unshuffle(x: Array, r: int, where: str = "pixel_unshuffle") -> Array:
    """``x`` (..., c, h * r, w * r) as (..., c * r * r, h, w).

    >>> import numpy as np
    >>> pixel_unshuffle(np.array([[[1, 2], [3, 4]]]), 2).ravel().tolist()
    [1, 2, 3, 4]

    Raises
    ------
    ShapeError
        If ``x`` has fewer than 3 axes, or r does not divide its height and width.
    """
    if x.ndim < 3 or x.shape[-2] % r or x.shape[-1] % r:
        raise ShapeError(where, f"input (..., c, h, w) with h and w multiples of {r}", x.shape)
    *batch, channels, height, width = x.shape
    h, w, n = height // r, width // r, len(batch)
    blocks = x.reshape(*batch, channels, h, r, w, r)  # (..., c, y, i, x, j)
    out: Array = blocks.transpose(*range(n + 1), n + 2, n + 4, n + 1, n + 3).reshape(*batch, channels * r * r, h, w)
    return out

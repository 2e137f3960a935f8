"""nn.PixelShuffle: channels become pixels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.errors import ParameterError, ShapeError
from kuiper.layers.layer import Array, Layer
from kuiper.layers.reads import Reads, folded_reads
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("nn.PixelShuffle", "F.pixel_shuffle")
class PixelShuffle(Layer):
    """r * r channels of an image become one channel of an image r times as high and wide.

    Source: torch.nn.functional.pixel_shuffle; W. Shi et al., "Real-Time Single Image and Video Super-Resolution Using
    an Efficient Sub-Pixel Convolutional Neural Network", CVPR 2016, equation 4.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.upscale_factor = op.int_param("upscale_factor")
        if self.upscale_factor < 1:
            raise ParameterError(op.where, "upscale_factor of at least 1", self.upscale_factor)

    def reads(self, sizes: list[tuple[int, int]]) -> list[Reads] | None:
        return [folded_reads(o, self.upscale_factor, grows=True) for _, o in sizes]

    def forward(self, x: Array) -> Array:
        return pixel_shuffle(x, self.upscale_factor, self.op.where)


def pixel_shuffle(x: Array, r: int, where: str = "pixel_shuffle") -> Array:
    """``x`` (..., c * r * r, h, w) as (..., c, h * r, w * r).

        out[k, y * r + i, x * r + j] = in[k * r * r + i * r + j, y, x]    for i, j in 0 ... r - 1

    >>> import numpy as np
    >>> pixel_shuffle(np.array([1, 2, 3, 4]).reshape(4, 1, 1), 2).tolist()
    [[[1, 2], [3, 4]]]

    Raises
    ------
    ShapeError
        If ``x`` has fewer than 3 axes, or r * r does not divide its channels.
    """
    if x.ndim < 3 or x.shape[-3] % (r * r):
        raise ShapeError(where, f"input (..., c, h, w) with c a multiple of {r * r}", x.shape)
    *batch, channels, h, w = x.shape
    c, n = channels // (r * r), len(batch)
    split = x.reshape(*batch, c, r, r, h, w)  # (..., c, i, j, y, x)
    image: Array = split.transpose(*range(n + 1), n + 3, n + 1, n + 4, n + 2).reshape(*batch, c, h * r, w * r)
    return image

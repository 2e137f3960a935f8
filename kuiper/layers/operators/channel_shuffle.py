"""nn.ChannelShuffle: the channels of several groups are dealt out like cards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.errors import ParameterError, ShapeError
from kuiper.layers.layer import Array, Layer
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("nn.ChannelShuffle", "F.channel_shuffle")
class ChannelShuffle(Layer):
    """The first channel of each group, then the second of each, and so on: the next convolution's groups see them all.

    Source: torch.nn.functional.channel_shuffle; X. Zhang et al., "ShuffleNet", CVPR 2018, figure 1.
    """

    is_pixelwise = True

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.groups = op.int_param("groups")
        if self.groups < 1:
            raise ParameterError(op.where, "groups of at least 1", self.groups)

    def forward(self, x: Array) -> Array:
        return channel_shuffle(x, self.groups, self.op.where)


def channel_shuffle(x: Array, groups: int, where: str = "channel_shuffle") -> Array:
    """``x`` (n, c, ...) with its channels, seen as a table (groups, c / groups), read column by column.

    >>> import numpy as np
    >>> channel_shuffle(np.array([1, 2, 3, 10, 20, 30]).reshape(1, 6, 1), 2).ravel().tolist()
    [1, 10, 2, 20, 3, 30]

    Raises
    ------
    ShapeError
        If ``x`` has fewer than 3 axes, or its channels are no multiple of ``groups``.
    """
    if x.ndim < 3 or x.shape[1] % groups:
        raise ShapeError(where, f"input (n, c, ...) with c a multiple of {groups}", x.shape)
    n, channels, *image = x.shape
    table = x.reshape(n, groups, channels // groups, *image)
    shuffled: Array = table.swapaxes(1, 2).reshape(x.shape)
    return shuffled

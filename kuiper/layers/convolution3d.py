"""What the convolutions of volumes share: where the kernel stands, and how the file says it.

It says the same as ``convolution.py`` with three numbers in the place of two, and is not one with it. There, one axis
is two axes on an image of height 1, and pairs go to kernels as they are. Here, the kernel is a stack of images, each of
which is a 2-D convolution: the window is cut into that of one image and that of the depth. And pnnx
writes the padding of a volume in two ways.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import DataTypeError, ParameterError, ShapeError
from kuiper.layers.volumes import Triple, triple
from kuiper.layers.window import Window

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.layers.layer import Array


@dataclass(frozen=True, slots=True)
class VolumeParameters:
    """What a 3-D convolution's line in the file says beside its weights; ``padding`` may be "same" or "valid"."""

    stride: Triple
    padding: Triple | str
    dilation: Triple
    groups: int
    where: str

    @classmethod
    def read(cls, op: RuntimeOperator) -> VolumeParameters:
        """The parameters of an ``nn.Conv3d`` or ``F.conv3d`` operator.

        Raises
        ------
        ParameterError
            If one is out of range.
        """
        word = op.has_param("padding") and isinstance(op.params["padding"].value, str)
        padding = op.str_param("padding") if word else read_padding(op)
        stride, groups = triple(op, "stride", 1, at_least=1), op.int_param("groups", 1)
        if word and (padding not in ("same", "valid") or (padding == "same" and stride != (1, 1, 1))):
            raise ParameterError(op.where, "padding=integers, valid, or same with stride 1", padding)
        if groups < 1:
            raise ParameterError(op.where, "groups of at least 1", groups)
        return cls(stride, padding, triple(op, "dilation", 1, at_least=1), groups, op.where)

    def window(self, kernel: Triple) -> Window:
        """Where a kernel of this size stands; "same" pads more at the far ends if it cannot pad evenly."""
        before = after = (0, 0, 0) if isinstance(self.padding, str) else self.padding
        if self.padding == "same":
            totals = [dilation * (size - 1) for dilation, size in zip(self.dilation, kernel, strict=True)]
            before = totals[0] // 2, totals[1] // 2, totals[2] // 2
            after = totals[0] - before[0], totals[1] - before[1], totals[2] - before[2]
        return Window(kernel, self.stride, before, after, self.dilation)

    def as_volumes(self, x: Array, channels: int) -> Array:
        """``x`` (n, c, d, h, w) or (c, d, h, w) as (n, c, d, h, w).

        Raises
        ------
        ShapeError
            If it has another number of axes or of channels.
        DataTypeError
            If it is not float32.
        """
        if x.ndim not in (4, 5) or x.shape[-4] != channels:
            raise ShapeError(self.where, f"input (n, {channels}, d, h, w)", x.shape)
        if x.dtype != np.float32:
            raise DataTypeError(self.where, "float32 input", x.dtype)
        return x if x.ndim == 5 else x[None]


def read_padding(op: RuntimeOperator) -> Triple:
    """The padding of either side; with a padding_mode, pnnx writes torch's own (w, w, h, h, d, d) for it."""
    numbers = op.ints_param("padding", (0,))
    if len(numbers) == 6 and numbers[::2] == numbers[1::2]:
        return numbers[4], numbers[2], numbers[0]
    return triple(op, "padding", 0)

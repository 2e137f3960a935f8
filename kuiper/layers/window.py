"""The window that a pooling layer slides over an image: where it stands, not what is computed inside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ParameterError, ShapeError
from kuiper.tensor_limit import check_size

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.layers.layer import Array

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Window:
    """Kernel, stride, padding and dilation, each (vertical, horizontal), and how torch counts the outputs.

    A convolution's ``Stencil`` has the same four, and other rules. Its padding holds zeros that are computed with, and
    may be of any width, other at the end than at the beginning. A pooling window leaves the padding out, which is the
    same at both sides and never more than half of the kernel, so that no window is empty; with ``ceil_mode`` the last
    window may reach beyond it.

    Window i of an axis looks at ``i * stride - padding + k * dilation`` for k = 0 ... kernel - 1.

    >>> Window((3, 3), stride=(2, 2), padding=(1, 1)).output_size((11, 14))
    (6, 7)

    Raises
    ------
    ParameterError
        If a number is out of range, or the padding is more than half of the kernel.
    """

    kernel: Pair
    stride: Pair
    padding: Pair = (0, 0)
    dilation: Pair = (1, 1)
    ceil_mode: bool = False
    where: str = "window"

    def __post_init__(self) -> None:
        for name in ("kernel", "stride", "dilation"):
            if min(getattr(self, name)) < 1:
                raise ParameterError(self.where, f"{name} of at least 1", getattr(self, name))
        half = (self.kernel[0] // 2, self.kernel[1] // 2)
        if not (0 <= self.padding[0] <= half[0] and 0 <= self.padding[1] <= half[1]):
            raise ParameterError(self.where, f"padding of at most half the kernel, {half}", self.padding)

    def output_size(self, size: Pair) -> Pair:
        """The number of windows (out_h, out_w) on an image of this size (h, w).

        ``ceil_mode`` lets a last window stick out at the end, but it must start inside the image or its left padding.

        Raises
        ------
        ShapeError
            If no window fits, or the padded image is larger than a tensor may be: kernels count positions on it.
        """
        out_h, out_w = (self._count(axis, size[axis]) for axis in (0, 1))
        if min(out_h, out_w) < 1:
            reach = tuple(self._reach(axis) - 2 * self.padding[axis] for axis in (0, 1))
            raise ShapeError(self.where, f"input of at least {reach[0]}x{reach[1]}", f"{size[0]}x{size[1]}")
        padded = tuple(max(size[i] + 2 * self.padding[i], self._reach(i)) for i in (0, 1))
        check_size(padded, 4, f"{self.where}: the padded image")
        return out_h, out_w

    def starts(self, axis: int, outputs: int) -> Array:
        """The first position that each window looks at, negative within the padding."""
        return np.arange(outputs, dtype=np.intp) * self.stride[axis] - self.padding[axis]

    def bounds(self, axis: int, size: int, outputs: int) -> Array:
        """Rows ``first`` and ``end`` (2, outputs): the positions within the image at which each window looks."""
        starts, step = self.starts(axis, outputs), self.dilation[axis]
        skipped = np.maximum(0, -(starts // step))  # taps that lie before the image
        return np.stack([starts + skipped * step, np.minimum(starts + self._reach(axis), size)])

    def line_length(self, w: int, out_w: int) -> int:
        """How wide a line must be for all windows across an image of width w: the padded width, and all they read."""
        return max(self.padding[1] + w, (out_w - 1) * self.stride[1] + self._reach(1))

    def _reach(self, axis: int) -> int:
        """The distance that one window covers."""
        return self.dilation[axis] * (self.kernel[axis] - 1) + 1

    def _count(self, axis: int, size: int) -> int:
        stride, padding = self.stride[axis], self.padding[axis]
        spare = size + 2 * padding - self._reach(axis)
        if not self.ceil_mode:
            return spare // stride + 1
        count = -(-spare // stride) + 1
        return count - 1 if (count - 1) * stride >= size + padding else count


def read_window(op: RuntimeOperator) -> Window:
    """The window of a 2-D pooling operator; without a stride (None or empty) it moves by its own size, as in torch."""
    kernel = op.pair_param("kernel_size")
    return Window(
        kernel,
        op.pair_param("stride") if op.ints_param("stride", ()) else kernel,
        op.pair_param("padding", (0, 0)),
        op.pair_param("dilation", (1, 1)),
        op.bool_param("ceil_mode", False),
        op.where,
    )


def read_row_window(op: RuntimeOperator) -> Window:
    """The window of a 1-D pooling operator, one pixel high: it slides over ``as_rows(x)``."""
    kernel = op.ints_param("kernel_size")
    stride, padding = op.ints_param("stride", ()) or kernel, op.ints_param("padding", (0,))
    dilation = op.ints_param("dilation", (1,))
    if not len(kernel) == len(stride) == len(padding) == len(dilation) == 1:
        got = f"kernel_size={kernel}, stride={stride}, padding={padding}, dilation={dilation}"
        raise ParameterError(op.where, "one number for each setting of the window", got)
    return Window(
        (1, kernel[0]),
        (1, stride[0]),
        (0, padding[0]),
        (1, dilation[0]),
        op.bool_param("ceil_mode", False),
        op.where,
    )

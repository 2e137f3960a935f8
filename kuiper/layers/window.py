"""The window that a convolution or a pool lays on an array again and again: where it stands, not what it computes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.errors import ParameterError, ShapeError
from kuiper.layers.reads import Reads, window_reads
from kuiper.tensor_limit import check_size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.layers.layer import Array

Sizes = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Window:
    """Kernel, stride, padding and dilation along the last axes of an array: one, (h, w) or (d, h, w).

    ``before`` and ``after`` are the padding at the two ends of each axis; ``after`` is ``before`` unless it is given.
    Entry k of window i of an axis lies on ``i * stride - before + k * dilation``. With ``ceil_mode`` the last window
    may reach beyond the padding, if it starts inside the array or its padding in front.

    >>> Window((3, 3), stride=(2, 2), before=(1, 1)).output_size((11, 14))
    (6, 7)
    """

    kernel: Sizes
    stride: Sizes = ()
    before: Sizes = ()
    after: Sizes = ()
    dilation: Sizes = ()
    ceil_mode: bool = False

    def __post_init__(self) -> None:
        ones, zeros = (1,) * len(self.kernel), (0,) * len(self.kernel)
        object.__setattr__(self, "stride", self.stride or ones)
        object.__setattr__(self, "dilation", self.dilation or ones)
        object.__setattr__(self, "before", self.before or zeros)
        object.__setattr__(self, "after", self.after or self.before)

    @property
    def span(self) -> Sizes:
        """The distance from the first entry of the kernel to the last, both included."""
        return tuple(step * (size - 1) + 1 for step, size in zip(self.dilation, self.kernel, strict=True))

    def reads(self, sizes: list[tuple[int, int]]) -> list[Reads]:
        """What each output of each axis reads; ``sizes`` as in ``Layer.reads``."""
        axes = zip(sizes, self.kernel, self.stride, self.before, self.dilation, strict=True)
        return [window_reads(i, o, *settings) for (i, o), *settings in axes]

    @property
    def is_pointwise(self) -> bool:
        """Whether output i sees input i and nothing else."""
        return self == Window((1,) * len(self.kernel))

    @property
    def is_even(self) -> bool:
        """Whether the padding is the same at both ends of each axis."""
        return self.before == self.after

    @property
    def bare(self) -> Window:
        """The window without its padding."""
        return Window(self.kernel, self.stride, dilation=self.dilation, ceil_mode=self.ceil_mode)

    def along(self, first: int, end: int | None = None) -> Window:
        """The same window along some of its axes.

        >>> Window((2, 3, 5), before=(0, 1, 2)).along(1)
        Window(kernel=(3, 5), stride=(1, 1), before=(1, 2), after=(1, 2), dilation=(1, 1), ceil_mode=False)
        """
        settings = (self.kernel, self.stride, self.before, self.after, self.dilation)
        kernel, stride, before, after, dilation = (setting[first:end] for setting in settings)
        return Window(kernel, stride, before, after, dilation, self.ceil_mode)

    @property
    def plane(self) -> tuple[int, int, int, int, int, int, int, int]:
        """Of a window on an image what kernels take: kernel, stride, padding in front and dilation, (h, w) each."""
        (kernel_h, kernel_w), (stride_h, stride_w) = self.kernel, self.stride
        (top, left), (dilation_h, dilation_w) = self.before, self.dilation
        return kernel_h, kernel_w, stride_h, stride_w, top, left, dilation_h, dilation_w

    def output_size(self, size: Sizes, where: str = "window") -> Sizes:
        """The number of windows along each axis of an array of this size.

        Raises
        ------
        ShapeError
            If no window fits, or the padded array is larger than a tensor may be: kernels count positions on it,
            whether it is stored or not.
        """
        padding = [sum(pair) for pair in zip(self.before, self.after, strict=True)]
        padded = [n + pad for n, pad in zip(size, padding, strict=True)]
        counts = tuple(self._count(axis, size[axis], padded[axis]) for axis in range(len(size)))
        if min(*size, *counts) < 1:
            least = [max(1, span - pad) for span, pad in zip(self.span, padding, strict=True)]
            raise ShapeError(where, f"input of at least {'x'.join(map(str, least))}", "x".join(map(str, size)))
        check_size([max(pair) for pair in zip(padded, self.span, strict=True)], 4, f"{where}: the padded input")
        return counts

    def _count(self, axis: int, size: int, padded: int) -> int:
        stride, spare = self.stride[axis], padded - self.span[axis]
        if not self.ceil_mode:
            return spare // stride + 1
        count = -(-spare // stride) + 1
        return count - 1 if (count - 1) * stride >= size + self.before[axis] else count

    def starts(self, axis: int, outputs: int) -> Array:
        """The first position that each window looks at, negative within the padding."""
        return np.arange(outputs, dtype=np.intp) * self.stride[axis] - self.before[axis]

    def bounds(self, axis: int, size: int, outputs: int) -> Array:
        """Rows ``first`` and ``end`` (2, outputs): the positions within the array at which each window looks."""
        starts, step = self.starts(axis, outputs), self.dilation[axis]
        skipped = np.maximum(0, -(starts // step))  # kernel entries that lie in front of the array
        return np.stack([starts + skipped * step, np.minimum(starts + self.span[axis], size)])

    def line_length(self, w: int, out_w: int) -> int:
        """How wide a line must be for all windows across an image of width w: the padded width, and all they read."""
        return max(self.before[1] + w, (out_w - 1) * self.stride[1] + self.span[1])

    def padded(self, x: Array, value: float, outputs: Sizes, where: str = "window") -> Array:
        """``x`` with padding of this value, and as much behind it as the last window reaches."""
        first = x.ndim - len(self.kernel)
        parts = zip(x.shape[first:], self.stride, self.span, self.before, self.after, outputs, strict=True)
        amounts = [
            (before, max(after, (count - 1) * stride + span - size - before))
            for size, stride, span, before, after, count in parts
        ]
        shape = [*x.shape[:first], *(size + sum(pair) for size, pair in zip(x.shape[first:], amounts, strict=True))]
        check_size(shape, x.itemsize, where)
        return np.pad(x, [(0, 0)] * first + amounts, constant_values=value)

    def taps(self, padded: Array, outputs: Sizes) -> Iterator[tuple[Sizes, Array]]:
        """For each entry of the kernel what lies under it in every window."""
        for place in np.ndindex(*self.kernel):
            cuts = [
                slice(k * dilation, k * dilation + (count - 1) * stride + 1, stride)
                for k, dilation, stride, count in zip(place, self.dilation, self.stride, outputs, strict=True)
            ]
            where: tuple[Any, ...] = (..., *cuts)
            yield place, padded[where]


def read_pooling_window(op: RuntimeOperator, axes: int) -> Window:
    """The window of a pooling operator; without a stride (None or empty) it moves by its own size, as in torch.

    A 1-D pool slides a window of height 1 over ``as_rows(x)``.

    Raises
    ------
    ParameterError
        If a number is out of range, or the padding more than half of the kernel: a window would be empty.
    """
    kernel = for_each_axis(op, "kernel_size", axes)
    stride = for_each_axis(op, "stride", axes) if op.ints_param("stride", ()) else kernel
    padding, dilation = for_each_axis(op, "padding", axes, 0), for_each_axis(op, "dilation", axes, 1)
    for name, sizes in (("kernel", kernel), ("stride", stride), ("dilation", dilation)):
        if min(sizes) < 1:
            raise ParameterError(op.where, f"{name} of at least 1", sizes)
    half = tuple(size // 2 for size in kernel)
    if not all(0 <= pad <= most for pad, most in zip(padding, half, strict=True)):
        raise ParameterError(op.where, f"padding of at most half the kernel, {half}", padding)
    window = Window(kernel, stride, padding, padding, dilation, op.bool_param("ceil_mode", False))
    return window if axes > 1 else as_row(window)


def as_row(window: Window) -> Window:
    """A window along one axis as one on an image of height 1."""
    before, after = (0, *window.before), (0, *window.after)
    return Window((1, *window.kernel), (1, *window.stride), before, after, (1, *window.dilation), window.ceil_mode)


def for_each_axis(
    op: RuntimeOperator, key: str, axes: int, default: int | None = None, at_least: int | None = None
) -> Sizes:
    """A parameter with a number for each of up to three axes; one number stands for all.

    Raises
    ------
    ParameterError
        If there is another number of them, or one is too small.
    """
    numbers = op.ints_param(key) if default is None else op.ints_param(key, (default,))
    if len(numbers) not in (1, axes) or (at_least is not None and min(numbers) < at_least):
        count = ("one integer", "one or two integers", "one or three integers")[axes - 1]
        bound = "" if at_least is None else f" of at least {at_least}"
        raise ParameterError(op.where, f"{key}={count}{bound}", numbers)
    return numbers * axes if len(numbers) == 1 else numbers

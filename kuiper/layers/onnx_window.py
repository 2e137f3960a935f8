"""Where ONNX's windows stand: strides, dilations, borders of any width and ``auto_pad``, on any number of axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.errors import ParameterError, ShapeError
from kuiper.tensor_limit import check_size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.layers.layer import Array

Sizes = tuple[int, ...]
AUTO_PADS = ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")


@dataclass(frozen=True)
class OnnxWindow:
    """A kernel that is laid on the last axes of an array again and again.

    Tap k of place i lies at ``i * stride - before + k * dilation``. ``auto_pad`` works out ``before`` and ``after``
    from the input: SAME lets the number of places be the size divided by the stride, rounded up.

    >>> window = OnnxWindow((3,), (2,), (1,), (0,), (0,), "SAME_UPPER")
    >>> window.placed((6,))
    OnnxWindow(kernel=(3,), strides=(2,), dilations=(1,), before=(0,), after=(1,), auto_pad='NOTSET', ceil_mode=False)
    >>> window.placed((6,)).output_sizes((6,))
    (3,)
    """

    kernel: Sizes
    strides: Sizes
    dilations: Sizes
    before: Sizes
    after: Sizes
    auto_pad: str = "NOTSET"
    ceil_mode: bool = False

    @property
    def spans(self) -> Sizes:
        """The distance from the first to the last tap, both included."""
        return tuple(dilation * (kernel - 1) + 1 for kernel, dilation in zip(self.kernel, self.dilations, strict=True))

    def placed(self, sizes: Sizes) -> OnnxWindow:
        """The window with borders for an input of these sizes."""
        if self.auto_pad == "NOTSET":
            return self
        totals = [0] * len(sizes)
        if self.auto_pad.startswith("SAME"):
            parts = zip(sizes, self.strides, self.spans, strict=True)
            totals = [max((size - 1) // stride * stride + span - size, 0) for size, stride, span in parts]
        less, more = tuple(total // 2 for total in totals), tuple(total - total // 2 for total in totals)
        before, after = (less, more) if self.auto_pad == "SAME_UPPER" else (more, less)
        return OnnxWindow(self.kernel, self.strides, self.dilations, before, after, "NOTSET", self.ceil_mode)

    def output_sizes(self, sizes: Sizes, where: str = "window") -> Sizes:
        """How many places there are along each axis; with ``ceil_mode`` a last one may stick out at the end.

        Raises
        ------
        ShapeError
            If the window is larger than the padded input.
        """
        counts = []
        for size, stride, span, before, after in zip(
            sizes, self.strides, self.spans, self.before, self.after, strict=True
        ):
            spare = size + before + after - span
            if size < 1 or spare < 0:
                raise ShapeError(where, f"a padded input of at least {self.spans}", sizes)
            count = -(-spare // stride) + 1 if self.ceil_mode else spare // stride + 1
            counts.append(count - 1 if self.ceil_mode and (count - 1) * stride >= size + before else count)
        return tuple(counts)

    def padded(self, x: Array, value: float, outputs: Sizes, where: str = "window") -> Array:
        """``x`` with borders of this value, and as much behind them as the last place reaches."""
        first = x.ndim - len(self.kernel)
        parts = zip(x.shape[first:], self.strides, self.spans, self.before, self.after, outputs, strict=True)
        amounts = [
            (before, max(after, (count - 1) * stride + span - size - before))
            for size, stride, span, before, after, count in parts
        ]
        shape = [*x.shape[:first], *(size + sum(pair) for size, pair in zip(x.shape[first:], amounts, strict=True))]
        check_size(shape, x.itemsize, where)
        return np.pad(x, [(0, 0)] * first + amounts, constant_values=value)

    def taps(self, padded: Array, outputs: Sizes) -> Iterator[tuple[Sizes, Array]]:
        """For each place in the kernel what lies under it, in every place of the window."""
        for place in np.ndindex(*self.kernel):
            cuts = [
                slice(k * dilation, k * dilation + (count - 1) * stride + 1, stride)
                for k, dilation, stride, count in zip(place, self.dilations, self.strides, outputs, strict=True)
            ]
            where: tuple[Any, ...] = (..., *cuts)
            yield place, padded[where]


def read_onnx_window(op: RuntimeOperator, kernel: Sizes) -> OnnxWindow:
    """The window of an operator with ONNX's parameters ``strides``, ``dilations``, ``pads`` and ``auto_pad``.

    Raises
    ------
    ParameterError
        If one has another length than the kernel, or a number out of range.
    """
    axes = len(kernel)
    strides, dilations = (op.ints_param(key, (1,) * axes) for key in ("strides", "dilations"))
    pads, auto_pad = op.ints_param("pads", (0,) * (2 * axes)), op.str_param("auto_pad", "NOTSET")
    if not len(strides) == len(dilations) == axes or len(pads) != 2 * axes:
        got = f"strides={strides}, dilations={dilations}, pads={pads}"
        raise ParameterError(op.where, f"settings for {axes} axes", got)
    if min((*kernel, *strides, *dilations), default=1) < 1 or min(pads, default=0) < 0:
        got = f"kernel {kernel}, strides={strides}, dilations={dilations}, pads={pads}"
        raise ParameterError(op.where, "kernel, strides and dilations of at least 1, pads of at least 0", got)
    if auto_pad not in AUTO_PADS:
        raise ParameterError(op.where, f"auto_pad {', '.join(AUTO_PADS)}", auto_pad)
    ceil_mode = op.bool_param("ceil_mode", False)
    return OnnxWindow(kernel, strides, dilations, pads[:axes], pads[axes:], auto_pad, ceil_mode)

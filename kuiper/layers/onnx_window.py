"""Where ONNX's windows stand: strides, dilations, borders of any width and ``auto_pad``, on any number of axes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kuiper.errors import ParameterError
from kuiper.layers.window import Window

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.layers.window import Sizes

AUTO_PADS = ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")


@dataclass(frozen=True, slots=True)
class OnnxWindow:
    """A window as ONNX writes it: ``auto_pad`` other than NOTSET works out the padding from the size of the input.

    SAME lets the number of windows be the size divided by the stride, rounded up.

    >>> OnnxWindow(Window((3,), (2,)), "SAME_UPPER").placed((6,)).after
    (1,)
    """

    written: Window
    auto_pad: str = "NOTSET"

    def is_placed_by(self, sizes: Sequence[object]) -> bool:
        """Whether these sizes, of which those that are no integers are open, say where the windows stand."""
        parts = zip(sizes, self.written.stride, strict=True)
        return not self.auto_pad.startswith("SAME") or all(isinstance(size, int) or step == 1 for size, step in parts)

    def placed(self, sizes: Sizes) -> Window:
        """The window with its padding for an input of these sizes."""
        window = self.written
        if self.auto_pad == "NOTSET":
            return window
        totals = [0] * len(sizes)
        if self.auto_pad.startswith("SAME"):
            parts = zip(sizes, window.stride, window.span, strict=True)
            totals = [max((size - 1) // stride * stride + span - size, 0) for size, stride, span in parts]
        less, more = tuple(total // 2 for total in totals), tuple(total - total // 2 for total in totals)
        before, after = (less, more) if self.auto_pad == "SAME_UPPER" else (more, less)
        return replace(window, before=before, after=after)


def read_onnx_window(op: RuntimeOperator, kernel: Sizes) -> OnnxWindow:
    """The window of an operator with ONNX's parameters ``strides``, ``dilations``, ``pads`` and ``auto_pad``.

    Errors are those of ``checked_window``.
    """
    axes = len(kernel)
    strides, dilations = (op.ints_param(key, (1,) * axes) for key in ("strides", "dilations"))
    pads, auto_pad = op.ints_param("pads", (0,) * (2 * axes)), op.str_param("auto_pad", "NOTSET")
    return checked_window(op.where, kernel, strides, dilations, pads, auto_pad, op.bool_param("ceil_mode", False))


def checked_window(
    where: str, kernel: Sizes, strides: Sizes, dilations: Sizes, pads: Sizes, auto_pad: str, ceil_mode: bool
) -> OnnxWindow:
    """The window of these settings.

    Raises
    ------
    ParameterError
        If one has another length than the kernel, or a number out of range.
    """
    axes = len(kernel)
    if not len(strides) == len(dilations) == axes or len(pads) != 2 * axes:
        got = f"strides={strides}, dilations={dilations}, pads={pads}"
        raise ParameterError(where, f"settings for {axes} axes", got)
    if min((*kernel, *strides, *dilations), default=1) < 1 or min(pads, default=0) < 0:
        got = f"kernel {kernel}, strides={strides}, dilations={dilations}, pads={pads}"
        raise ParameterError(where, "kernel, strides and dilations of at least 1, pads of at least 0", got)
    if auto_pad not in AUTO_PADS:
        raise ParameterError(where, f"auto_pad {', '.join(AUTO_PADS)}", auto_pad)
    return OnnxWindow(Window(kernel, strides, pads[:axes], pads[axes:], dilations, ceil_mode), auto_pad)

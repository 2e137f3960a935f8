"""What all kernels from image to image want to know: where images begin, and how far it is from pixel to pixel."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kuiper.engine.values import Value
    from kuiper.layers.window import Window


def image_numbers(x: Value, out: Value) -> dict[str, int]:
    """The fields ``source``, ``in_image`` ... ``out_pixel`` of a kernel's numbers, once the arena is laid out."""
    in_image, _, in_row, in_pixel = x.strides
    out_image, _, out_row, out_pixel = out.strides
    return {
        "source": x.offset,
        "in_image": in_image,
        "in_row": in_row,
        "in_pixel": in_pixel,
        "target": out.offset,
        "out_image": out_image,
        "out_row": out_row,
        "out_pixel": out_pixel,
    }


def residual_numbers(residual: Value | None) -> dict[str, int]:
    """The fields ``residual`` and ``residual_pixel``; -1 says that there is none."""
    if residual is None:
        return {"residual": -1, "residual_pixel": 0}
    return {"residual": residual.offset, "residual_pixel": residual.strides[3]}


def window_numbers(window: Window) -> dict[str, int]:
    """The fields ``kernel_h``, ``kernel_w`` ... ``dilation_w`` of a kernel's numbers."""
    pairs = {"kernel": window.kernel, "stride": window.stride, "dilation": window.dilation}
    fields = {f"{name}_{axis}": pair[i] for name, pair in pairs.items() for i, axis in enumerate("hw")}
    return {**fields, "pad_top": window.before[0], "pad_left": window.before[1]}

"""Volumes (n, c, d, h, w) as stacks of images: what 3-D pooling and convolution have in common.

A window on a volume is a window on some of its images, the same on each. So all three of pooling, adaptive pooling and
convolution do what their 2-D twins do on every image, and put together what comes out along the depth.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import DataTypeError, ParameterError, ShapeError
from kuiper.layers.window import Window

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.layers.layer import Array

Triple = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class VolumeWindow:
    """A pooling window on a volume: what it covers of an image, and of the depth, which is an axis of height."""

    depth: Window
    image: Window

    def depths(self, d: int) -> Array:
        """Rows ``first`` and ``end`` (2, outputs): the images that each window covers, in steps of the dilation."""
        outputs = self.depth.output_size((d, 1))[0]
        return self.depth.bounds(0, d, outputs)


def read_volume_window(op: RuntimeOperator) -> VolumeWindow:
    """The window of a 3-D pooling operator; without a stride (None or empty) it moves by its own size, as in torch."""
    kernel = triple(op, "kernel_size")
    stride = triple(op, "stride") if op.ints_param("stride", ()) else kernel
    padding, dilation = triple(op, "padding", 0), triple(op, "dilation", 1)
    ceil_mode = op.bool_param("ceil_mode", False)

    depth = Window((kernel[0], 1), (stride[0], 1), (padding[0], 0), (dilation[0], 1), ceil_mode, op.where)
    return VolumeWindow(depth, Window(kernel[1:], stride[1:], padding[1:], dilation[1:], ceil_mode, op.where))


def triple(op: RuntimeOperator, key: str, default: int | None = None, at_least: int = 0) -> Triple:
    """A parameter as (depth, vertical, horizontal); one number stands for all three.

    Raises
    ------
    ParameterError
        If there are two numbers or more than three, or one is too small.
    """
    numbers = op.ints_param(key) if default is None else op.ints_param(key, (default,))
    if len(numbers) not in (1, 3) or min(numbers) < at_least:
        raise ParameterError(op.where, f"{key}=one or three whole numbers of at least {at_least}", numbers)
    return numbers[0], numbers[len(numbers) // 2], numbers[-1]


def as_volumes(x: Array, where: str) -> Array:
    """``x`` (n, c, d, h, w) or (c, d, h, w) as (volumes, d, h, w) in C order.

    Raises
    ------
    ShapeError
        If ``x`` has another number of axes, or nothing in it (an empty batch is fine).
    DataTypeError
        If ``x`` is not float32.
    """
    if x.ndim not in (4, 5) or 0 in x.shape[-3:]:
        raise ShapeError(where, "input (n, c, d, h, w) or (c, d, h, w) with d, h and w >= 1", x.shape)
    if x.dtype != np.float32:
        raise DataTypeError(where, "float32 input", x.dtype)
    return np.ascontiguousarray(x).reshape(-1 if x.size else 0, *x.shape[-3:])


def read_output_volume(op: RuntimeOperator) -> Triple:
    """The parameter ``output_size`` of a 3-D adaptive pool; 0 stands for "as the input".

    Raises
    ------
    ParameterError
        If it is something else than one or three sizes.
    """
    value = op.params["output_size"].value if op.has_param("output_size") else None
    given = value if isinstance(value, (list, tuple)) else (value,)
    if len(given) not in (1, 3) or not all(size is None or (type(size) is int and size >= 0) for size in given):
        raise ParameterError(op.where, "output_size=one or three numbers, None or 0 to keep the size", repr(value))
    return given[0] or 0, given[len(given) // 2] or 0, given[-1] or 0

"""Volumes (n, c, d, h, w) as stacks of images: what 3-D pooling and convolution have in common.

A window on a volume is a window on some of its images, the same on each. So all three of pooling, adaptive pooling and
convolution do what they do in 2-D on every image, and put together what comes out along the depth.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import DataTypeError, ParameterError, ShapeError
from kuiper.layers.window import for_each_axis

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.layers.layer import Array

Triple = tuple[int, int, int]


def triple(op: RuntimeOperator, key: str, default: int | None = None, at_least: int = 0) -> Triple:
    """A parameter as (depth, vertical, horizontal); one number stands for all three.

    Raises
    ------
    ParameterError
        If there are two numbers or more than three, or one is too small.
    """
    depth, vertical, horizontal = for_each_axis(op, key, 3, default, at_least)
    return depth, vertical, horizontal


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

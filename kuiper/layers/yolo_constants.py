"""The strides and anchors of a YOLO head, found in the file by what they look like.

An export names these tensors ``pnnx_0``, ``pnnx_1`` ... in an order that changes from one export to the next. Their
shapes and contents tell them apart. With three levels and three anchors each:

    (3)                 strides, pixels per cell
    (3, 1, 3, 1, 1, 2)  anchors of all levels, in pixels                          YOLOv7
    (3, 3, 2)           anchors of all levels, in cells                           where grids are made on each call
    (1, 3, h, w, 2)     anchors of one level, in pixels, the same in every cell   YOLOv5 since 6.0
    (1, 3|1, h, w, 2)   grid of one level: x and y of every cell, from 0 or -0.5
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ParameterError, UnsupportedOperatorError

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.layers.layer import Array

GRID_STARTS = ((0.0, 0.0), (-0.5, -0.5))


def strides_of(op: RuntimeOperator, levels: int) -> Array:
    """Pixels per cell, one number for each level.

    Raises
    ------
    ParameterError
        If the file holds no such tensor.
    """
    for constant in constants(op):
        if constant.shape == (levels,) and np.all(constant > 0):
            return constant
    raise ParameterError(op.where, f"strides, a tensor of shape ({levels})", shapes(op))


def anchors_of(op: RuntimeOperator, strides: Array) -> Array:
    """Width and height of every anchor in pixels, (levels, anchors, 2).

    Raises
    ------
    ParameterError
        If the file holds no such tensors, or not one for each level.
    """
    boxes = [constant for constant in constants(op) if constant.shape[-1:] == (2,) and np.all(constant > 0)]
    for box in boxes:
        if box.ndim == 6 and box.shape[0] == len(strides):
            return box[:, 0, :, 0, 0, :]
        if box.ndim == 3 and box.shape[0] == len(strides):
            return np.asarray(box * strides[:, None, None])
    spread = sorted((box for box in boxes if box.ndim == 5), key=fineness)
    if len(spread) != len(strides) or len({box.shape[1] for box in spread}) != 1:
        raise ParameterError(op.where, f"anchors of {len(strides)} levels, (1, anchors, h, w, 2) each", shapes(op))
    anchors = np.empty((len(strides), spread[0].shape[1], 2), np.float32)
    anchors[np.argsort(strides)] = [box[0, :, 0, 0] for box in spread]
    return anchors


def fineness(box: Array) -> tuple[int, float]:
    """A key that sorts anchors (1, a, h, w, 2) from the finest level on: most cells first, then smallest boxes."""
    _, _, h, w, _ = box.shape
    return -h * w, float(np.prod(box[0, :, 0, 0], axis=-1).sum())


def check_grids(op: RuntimeOperator) -> None:
    """Raise UnsupportedOperatorError if a grid starts elsewhere than in a corner or half a cell before it."""
    for grid in constants(op):
        if grid.ndim == 5 and grid.shape[-1] == 2 and not np.all(grid > 0):
            start = tuple(grid[0, 0, 0, 0].tolist())
            if start not in GRID_STARTS:
                raise UnsupportedOperatorError(op.where, "grids that start at 0 or -0.5", start)


def constants(op: RuntimeOperator) -> list[Array]:
    """All tensors of the operator but the weights of its convolutions."""
    return [op.attr(key) for key in op.attrs if not key.startswith("m.")]


def shapes(op: RuntimeOperator) -> str:
    """The shapes of those tensors, for messages."""
    return ", ".join(str(constant.shape) for constant in constants(op)) or "no tensors"

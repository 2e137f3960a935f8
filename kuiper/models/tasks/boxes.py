"""Boxes: from what a detector's head says to the few that are worth a word.

    rows (n, 5 + classes): x, y, w, h, objectness, classes
    -> candidates: corners, scores and classes of those above the confidence
    -> nms: the best of each heap

A box is x1, y1, x2, y2: left, upper, right, lower edge. An edge has no width, so 0 0 4 3 is 4 wide.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from kuiper.errors import ParameterError, ShapeError
from kuiper.models.tasks import nms as kernel

if TYPE_CHECKING:
    from kuiper.models.pictures.preprocess import Array

Indices = npt.NDArray[np.intp]


class Candidates(NamedTuple):
    """``boxes`` (k, 4) float32, ``scores`` (k,) float32 and ``classes`` (k,) of k things that may be there."""

    boxes: Array
    scores: Array
    classes: Indices


def corners(centred: Array) -> Array:
    """Boxes x, y, w, h (..., 4), given by centre and size, as x1, y1, x2, y2.

    >>> corners(np.float32([[10, 20, 4, 8]])).tolist()
    [[8.0, 16.0, 12.0, 24.0]]
    """
    _expect_boxes("corners", centred)
    half = centred[..., 2:] / 2
    return np.concatenate([centred[..., :2] - half, centred[..., :2] + half], axis=-1)


def area(boxes: Array) -> Array:
    """The areas (n,) of boxes (n, 4).

    >>> area(np.float32([[0, 0, 4, 3]])).tolist()
    [12.0]
    """
    _expect_boxes("area", boxes)
    with np.errstate(over="ignore", invalid="ignore"):
        areas: Array = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    return areas


def iou(a: Array, b: Array) -> Array:
    """Intersection over union of each box with each other; 0 / 0, of two without an area, is NaN.

    Parameters
    ----------
    a : boxes (n, 4) as x1, y1, x2, y2
    b : boxes (m, 4)

    Returns
    -------
    Overlaps (n, m) from 0 to 1, in float32.

    Raises
    ------
    ShapeError
        If ``a`` or ``b`` does not end in an axis of four numbers.

    Examples
    --------
    >>> iou(np.float32([[0, 0, 4, 3]]), np.float32([[2, 0, 8, 3], [4, 0, 8, 3]])).tolist()
    [[0.25, 0.0]]
    """
    _expect_boxes("iou", a)
    _expect_boxes("iou", b)
    sides = np.minimum(a[:, None, 2:], b[None, :, 2:]) - np.maximum(a[:, None, :2], b[None, :, :2])
    shared = np.prod(np.maximum(sides, 0), axis=2)
    with np.errstate(invalid="ignore"):
        overlaps: Array = shared / (area(a)[:, None] + area(b)[None, :] - shared)
    return overlaps


def candidates(rows: Array, confidence: float) -> Candidates:
    """The boxes of one picture whose score is above a threshold.

    The score is objectness times the probability of the likeliest class. Neither a NaN nor an endless box is above it.

    Parameters
    ----------
    rows : (n, 5 + classes) of a YOLOv5 or v7: x, y, w, h in pixels, objectness, and a probability for each class
    confidence : the threshold, 0 to 1

    Returns
    -------
    Corners, scores and classes of those that are left, in the order of the rows.

    Raises
    ------
    ShapeError
        If ``rows`` is not (n, 6 or more).

    Examples
    --------
    >>> rows = np.float32([[10, 20, 4, 8, 0.5, 0.25, 0.75], [1, 1, 2, 2, 0.5, 0.5, 0.25]])
    >>> found = candidates(rows, 0.25)
    >>> found.boxes.tolist(), found.scores.tolist(), found.classes.tolist()
    ([[8.0, 16.0, 12.0, 24.0]], [0.375], [1])
    """
    if rows.ndim != 2 or rows.shape[1] < 6:
        raise ShapeError("candidates", "rows (n, 5 + classes)", rows.shape)
    rows = rows[rows[:, 4] > confidence]
    with np.errstate(over="ignore", invalid="ignore"):
        products = rows[:, 5:] * rows[:, 4:5]
        boxes = corners(rows[:, :4])
    classes = products.argmax(axis=1)  # a NaN counts as the largest
    scores = products[np.arange(len(rows)), classes]
    keep = (scores > confidence) & np.isfinite(boxes).all(axis=1)
    return Candidates(boxes[keep], scores[keep], classes[keep])


def nms(
    boxes: Array, scores: Array, threshold: float, classes: Indices | None = None, max_detections: int | None = None
) -> Indices:
    """Non-maximum suppression: a box stays unless a better one that stays overlaps it by more than a threshold.

    Parameters
    ----------
    boxes : (n, 4)
    scores : (n,); of equal ones the earlier is the better, NaN never stays
    threshold : intersection over union, 0 to 1
    classes : (n,) integers; only boxes of the same class compete. None stands for one class.
    max_detections : how many stay at most

    Returns
    -------
    The positions of the boxes that stay, the best first.

    Raises
    ------
    ParameterError
        If ``threshold`` is not within 0 and 1, or ``max_detections`` is below 0.
    ShapeError
        If there are not as many scores and classes as boxes.

    Examples
    --------
    >>> nms(np.float32([[0, 0, 4, 3], [0, 0, 4, 4], [9, 9, 12, 12]]), np.float32([0.5, 0.75, 0.25]), 0.5).tolist()
    [1, 2]
    """
    if not 0 <= threshold <= 1:
        raise ParameterError("nms", "a threshold from 0 to 1", threshold)
    if max_detections is not None and max_detections < 0:
        raise ParameterError("nms", "max_detections >= 0", max_detections)
    classes = np.zeros(len(boxes), np.intp) if classes is None else classes
    if boxes.shape != (len(boxes), 4) or not scores.shape == classes.shape == (len(boxes),):
        got = f"boxes {boxes.shape}, scores {scores.shape}, classes {classes.shape}"
        raise ShapeError("nms", "boxes (n, 4), scores (n,) and classes (n,)", got)
    order = np.argsort(-scores, kind="stable")  # NaN goes last
    order = order[: len(order) - int(np.isnan(scores).sum())]
    kept = np.empty(len(order) if max_detections is None else min(max_detections, len(order)), np.intp)
    ranked = np.ascontiguousarray(boxes[order], np.float32)
    count = kernel.suppress(ranked, area(ranked), np.ascontiguousarray(classes[order], np.intp), threshold, kept)
    return order[kept[:count]]


def _expect_boxes(where: str, boxes: Array) -> None:
    if boxes.ndim < 1 or boxes.shape[-1] != 4:
        raise ShapeError(where, "boxes (n, 4)", boxes.shape)

"""How good a detector is: average precision, as COCO's evaluation computes it.

Of each class, the boxes found on all pictures are taken in the order of their scores. One is right if it overlaps a box
of the truth, of that class and not yet taken, by at least a threshold; of several, it takes the one it overlaps most.
After each, precision is the share of right ones so far, and recall the share of the truth found so far. The average
precision is the mean, over the 101 recalls 0, 0.01 ... 1, of the best precision at that recall or a higher one (the
101-point interpolation); 0 where the recall is never reached.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from kuiper.errors import ShapeError
from kuiper.models.tasks.boxes import Candidates, Indices, iou

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.models.pictures.preprocess import Array

Numbers = npt.NDArray[np.float64]
THRESHOLDS = np.linspace(0.5, 0.95, 10).astype(np.float32)  # as exact as the overlaps they are compared with


class Truth(NamedTuple):
    """The boxes (m, 4) on a picture, each x1, y1, x2, y2, and their classes (m,)."""

    boxes: Array
    classes: Indices


class Scores(NamedTuple):
    """The means over the classes: at an overlap of 0.5, and over the overlaps 0.5, 0.55 ... 0.95."""

    map50: float
    map50_95: float


def evaluate(found: Sequence[Candidates], truth: Sequence[Truth]) -> Scores:
    """The scores of what was found on some pictures; classes of which the truth has no box do not count.

    >>> box, nothing = np.float32([[0, 0, 4, 4]]), np.zeros(1, np.intp)
    >>> shifted = Candidates(np.float32([[1, 0, 5, 4]]), np.float32([0.9]), nothing)
    >>> evaluate([shifted], [Truth(box, nothing)])  # an overlap of 12 / 20
    Scores(map50=1.0, map50_95=0.3)

    Raises
    ------
    ShapeError
        If there are not as many pictures in both.
    """
    if len(found) != len(truth):
        raise ShapeError("average_precision", f"what was found on {len(truth)} pictures", len(found))
    present = np.unique(np.concatenate([np.empty(0, np.intp), *(picture.classes for picture in truth)]))
    table = np.array([average_precisions(found, truth, int(label)) for label in present]).reshape(-1, len(THRESHOLDS))
    if not len(table):
        return Scores(float("nan"), float("nan"))
    return Scores(float(table[:, 0].mean()), float(table.mean()))


def average_precisions(found: Sequence[Candidates], truth: Sequence[Truth], label: int) -> Numbers:
    """The average precision of one class at each of ``THRESHOLDS``."""
    scores, right = [np.empty(0, np.float32)], [np.empty((0, len(THRESHOLDS)), bool)]
    total = 0
    for candidates, picture in zip(found, truth, strict=True):
        of_class = candidates.classes == label
        order = np.argsort(-candidates.scores[of_class], kind="stable")
        expected = picture.boxes[picture.classes == label]
        scores.append(candidates.scores[of_class][order])
        right.append(matches(iou(candidates.boxes[of_class][order], expected)))
        total += len(expected)
    order = np.argsort(-np.concatenate(scores), kind="stable")
    return np.array([interpolate(column, total) for column in np.concatenate(right)[order].T])


def matches(overlaps: Array) -> npt.NDArray[np.bool_]:
    """Which found boxes, the surest first, take a box of the truth: (n, thresholds) for overlaps (n, m).

    >>> matches(np.float32([[0.6, 0.9], [0.0, 0.9], [0.5, 0.0]]))[:, 0].tolist()
    [True, False, True]
    """
    right = np.zeros((len(overlaps), len(THRESHOLDS)), bool)
    for i, threshold in enumerate(THRESHOLDS):
        free = overlaps.copy()
        for row in range(len(free) if free.shape[1] else 0):
            best = free[row].argmax()
            if free[row, best] >= threshold:
                right[row, i] = True
                free[:, best] = -1
    return right


def interpolate(right: npt.NDArray[np.bool_], total: int) -> float:
    """The average precision of found boxes, the surest first, of which those ``right`` are among ``total`` true ones.

    >>> interpolate(np.array([True, True]), 2), interpolate(np.array([False, True]), 1)
    (1.0, 0.5)
    """
    hits = right.cumsum()
    precision = hits / np.arange(1, len(right) + 1)
    best_from_here = np.append(np.maximum.accumulate(precision[::-1])[::-1], 0.0)
    reached = np.searchsorted(100 * hits, np.arange(101) * total)  # integers: recall 0.29 is not missed by 1e-17
    return float(best_from_here[reached].mean())

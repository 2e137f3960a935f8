"""Boxes, their overlaps and non-maximum suppression, beside reference implementations in NumPy and torch."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from kuiper.errors import ParameterError, ShapeError
from kuiper.models.tasks.boxes import area, candidates, corners, iou, nms

THRESHOLDS = (0.0, 0.1, 0.25, 0.45, 0.5, 0.7, 1.0)


def random_boxes(generator: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Boxes, scores and classes; every second time on a small grid, so that many touch, coincide or have no area."""
    if generator.random() < 0.5:
        places, sides = generator.integers(-6, 6, (count, 2)), generator.integers(0, 5, (count, 2))
    else:
        places, sides = generator.uniform(-6, 6, (count, 2)), generator.uniform(0, 5, (count, 2))
    scores = generator.integers(0, 8, count) / 8
    boxes = np.concatenate([places, places + sides], axis=1)
    return boxes.astype(np.float32), scores.astype(np.float32), generator.integers(0, 3, count)


def naive_nms(boxes: np.ndarray, scores: np.ndarray, classes: np.ndarray, threshold: float) -> list[int]:
    """The rule word by word, one float32 after the other."""
    kept: list[int] = []
    for i in sorted((i for i in range(len(boxes)) if scores[i] == scores[i]), key=lambda i: -scores[i]):
        rivals = (j for j in kept if classes[i] == classes[j])
        if not any(naive_iou(boxes[j], boxes[i]) > threshold for j in rivals):
            kept.append(i)
    return kept


def naive_iou(a: np.ndarray, b: np.ndarray) -> float:
    zero = np.float32(0)
    width = max(zero, min(a[2], b[2]) - max(a[0], b[0]))
    height = max(zero, min(a[3], b[3]) - max(a[1], b[1]))
    shared = width * height
    total = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - shared
    return float(shared / total) if total else float("nan")


def torch_nms(torch: Any, boxes: np.ndarray, scores: np.ndarray, threshold: float) -> list[int]:
    """As torchvision.ops.nms: float32, compared with a threshold in double, of equal scores the earlier first."""
    b = torch.tensor(boxes)
    areas = (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])
    order = torch.sort(torch.tensor(scores), descending=True, stable=True).indices
    suppressed, kept = torch.zeros(len(b), dtype=torch.bool), []
    for place, i in enumerate(order.tolist()):
        if suppressed[i]:
            continue
        kept.append(i)
        rest = order[place + 1 :]
        sides = (torch.minimum(b[i, 2:], b[rest, 2:]) - torch.maximum(b[i, :2], b[rest, :2])).clamp(min=0)
        shared = sides[:, 0] * sides[:, 1]
        suppressed[rest] |= (shared / (areas[i] + areas[rest] - shared)).double() > threshold
    return kept


def test_corners_by_hand() -> None:
    assert corners(np.float32([[0, 0, 3, 5], [-4, 2, 0, 1]])).tolist() == [[-1.5, -2.5, 1.5, 2.5], [-4, 1.5, -4, 2.5]]


def test_iou_by_hand() -> None:
    a = np.float32([[0, 0, 4, 3], [1, 1, 1, 2]])
    b = np.float32([[2, 0, 8, 3], [0, 0, 4, 3], [4, 0, 5, 3], [-9, -9, 9, 9]])
    expected = [[0.25, 1, 0, np.float32(12) / np.float32(324)], [0, 0, 0, 0]]
    np.testing.assert_array_equal(iou(a, b), np.float32(expected))


def test_iou_of_boxes_without_area_is_nan() -> None:
    point = np.float32([[1, 1, 1, 1]])
    assert np.isnan(iou(point, point)).all()


def test_iou_is_the_naive_one() -> None:
    boxes, _, _ = random_boxes(np.random.default_rng(1), 40)
    expected = [[naive_iou(a, b) for b in boxes] for a in boxes]
    np.testing.assert_array_equal(iou(boxes, boxes), np.float32(expected))


@pytest.mark.parametrize("function", [corners, area, lambda boxes: iou(boxes, boxes)])
def test_boxes_have_four_numbers(function: Any) -> None:
    with pytest.raises(ShapeError, match=r"expected boxes \(n, 4\), got \(2, 5\)"):
        function(np.zeros((2, 5), np.float32))


def test_nms_by_hand() -> None:
    boxes = np.float32([[0, 0, 10, 10], [0, 0, 10, 9], [0, 0, 9, 10], [20, 0, 30, 10]])
    scores = np.float32([0.5, 0.9, 0.6, 0.1])
    assert nms(boxes, scores, 0.5).tolist() == [1, 3]
    assert nms(boxes, scores, 0.85).tolist() == [1, 2, 3]  # 1 and 2 share 81 of 99; 0 and 1 share 90 of 100
    assert nms(boxes, scores, 0.5, classes=np.array([0, 1, 0, 1])).tolist() == [1, 2, 3]


def test_nms_keeps_a_box_that_overlaps_by_exactly_the_threshold() -> None:
    boxes = np.float32([[0, 0, 4, 3], [2, 0, 8, 3]])  # a quarter
    scores = np.float32([1, 0.5])
    assert nms(boxes, scores, 0.25).tolist() == [0, 1]
    assert nms(boxes, scores, 0.2499).tolist() == [0]


def test_nms_compares_with_the_threshold_itself_and_not_with_its_nearest_float32() -> None:
    boxes, scores = np.float32([[0, 0, 10, 1], [0, 0, 1, 1]]), np.float32([1, 0.5])
    overlap = iou(boxes[:1], boxes[1:])[0, 0]  # float32(0.1), which is above 0.1
    assert float(overlap) > 0.1
    assert nms(boxes, scores, 0.1).tolist() == [0]
    assert nms(boxes, scores, float(overlap)).tolist() == [0, 1]


def test_nms_of_touching_and_of_degenerate_boxes_keeps_all() -> None:
    touching = np.float32([[0, 0, 2, 2], [2, 0, 4, 2], [0, 2, 2, 4], [1, 1, 1, 1], [1, 1, 1, 1]])
    assert nms(touching, np.float32([5, 4, 3, 2, 1]), 0).tolist() == [0, 1, 2, 3, 4]


def test_nms_of_equal_boxes_and_scores_keeps_the_earliest() -> None:
    boxes, scores = np.ones((5, 4), np.float32) * [0, 0, 1, 1], np.full(5, 0.5, np.float32)
    assert nms(boxes, scores, 0.5).tolist() == [0]
    assert nms(boxes, scores, 1).tolist() == [0, 1, 2, 3, 4]


def test_nms_drops_scores_that_are_nan() -> None:
    boxes, scores = np.float32([[0, 0, 1, 1], [5, 5, 6, 6], [8, 8, 9, 9]]), np.float32([np.nan, 0.1, np.nan])
    assert nms(boxes, scores, 0.5).tolist() == [1]


def test_nms_of_nothing_is_nothing() -> None:
    assert nms(np.zeros((0, 4), np.float32), np.zeros(0, np.float32), 0.5).tolist() == []


def test_nms_lets_classes_far_apart_alone_even_if_boxes_are_large() -> None:
    """Moving each class elsewhere, as some do, loses the small differences of float32."""
    boxes = np.float32([[0, 0, 1, 1], [0.5, 0, 1.5, 1]] * 2)
    kept = nms(boxes, np.float32([4, 3, 2, 1]), 0.3, classes=np.array([0, 0, 10**9, 10**9]))
    assert kept.tolist() == [0, 2]


@pytest.mark.parametrize("seed", range(40))
def test_nms_is_the_naive_one(seed: int) -> None:
    generator = np.random.default_rng(seed)
    boxes, scores, classes = random_boxes(generator, int(generator.integers(0, 60)))
    scores[generator.random(len(scores)) < 0.1] = np.nan
    for threshold in THRESHOLDS:
        expected = naive_nms(boxes, scores, classes, threshold)
        assert nms(boxes, scores, threshold, classes).tolist() == expected
        assert nms(boxes, scores, threshold, classes, max_detections=3).tolist() == expected[:3]
        alone = naive_nms(boxes, scores, np.zeros(len(boxes)), threshold)
        assert nms(boxes, scores, threshold).tolist() == alone


@pytest.mark.torch
@pytest.mark.parametrize("seed", range(20))
def test_nms_is_that_of_torch(seed: int) -> None:
    torch = pytest.importorskip("torch")
    boxes, scores, classes = random_boxes(np.random.default_rng(100 + seed), 80)
    for threshold in THRESHOLDS:
        assert nms(boxes, scores, threshold).tolist() == torch_nms(torch, boxes, scores, threshold)
        by_class = [np.flatnonzero(classes == i) for i in range(3)]
        kept = [of[torch_nms(torch, boxes[of], scores[of], threshold)] for of in by_class]
        assert sorted(nms(boxes, scores, threshold, classes)) == sorted(np.concatenate(kept))


def test_nms_refuses_what_does_not_fit() -> None:
    boxes, scores = np.zeros((2, 4), np.float32), np.zeros(2, np.float32)
    with pytest.raises(ParameterError, match=r"nms: expected a threshold from 0 to 1, got 1.5"):
        nms(boxes, scores, 1.5)
    with pytest.raises(ParameterError, match="threshold from 0 to 1, got nan"):
        nms(boxes, scores, float("nan"))
    with pytest.raises(ParameterError, match="nms: expected max_detections >= 0, got -1"):
        nms(boxes, scores, 0.5, max_detections=-1)
    message = "nms: expected boxes (n, 4), scores (n,) and classes (n,), got boxes (2, 4), scores (3,), classes (2,)"
    with pytest.raises(ShapeError, match=re.escape(message)):
        nms(boxes, np.zeros(3, np.float32), 0.5)


def test_candidates_by_hand() -> None:
    rows = np.float32(
        [
            [5, 5, 2, 4, 0.5, 0.5, 1.0],
            [5, 5, 2, 2, 0.5, 0.5, 0.5],  # 0.25 is not above 0.25
            [1, 1, 2, 2, 1.0, 0.75, 0.75],  # of two equal classes the first
            [1, 1, 2, 2, 0.2, 1.0, 1.0],
        ]
    )
    found = candidates(rows, 0.25)
    assert found.boxes.tolist() == [[4, 3, 6, 7], [0, 0, 2, 2]]
    assert found.scores.tolist() == [0.5, 0.75]
    assert found.classes.tolist() == [1, 0]


@pytest.mark.parametrize("column", range(7))
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_candidates_have_finite_boxes_and_real_scores(column: int, value: float) -> None:
    rows = np.float32([[5, 5, 2, 4, 0.5, 0.5, 1.0]] * 2)
    rows[0, column] = value
    found = candidates(rows, 0.0)
    assert np.isfinite(found.boxes).all()
    assert not np.isnan(found.scores).any()
    assert found.scores[-1] == 0.5


def test_candidates_refuses_rows_without_classes() -> None:
    with pytest.raises(ShapeError, match=re.escape("candidates: expected rows (n, 5 + classes), got (3, 5)")):
        candidates(np.zeros((3, 5), np.float32), 0.5)

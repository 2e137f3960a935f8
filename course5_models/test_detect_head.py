"""Exercise 5.4."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from kuiper.course import calling
from kuiper.course.properties import given, st
from kuiper.layers.operators import yolo_detect

THREE = float(np.log(3))  # sigmoid(log 3) = 3/4, so 2 s = 1.5 and its square is 2.25; sigmoid(-log 3) = 1/4


def zeros(*shape):
    return np.zeros(shape, np.float32)


def test_decode_one_cell(impl):
    calling(impl.decode, zeros(1, 6, 1, 1), np.float32([[10, 20]]), 8).gives(np.float32([[[4, 4, 10, 20, 0.5, 0.5]]]))


def test_decode_each_channel(impl):
    z = np.float32([THREE, -THREE, -THREE, THREE, THREE, -THREE, 0]).reshape(1, 7, 1, 1)
    wanted = np.float32([[[16, 0, 1, 9, 0.75, 0.25, 0.5]]])
    calling(impl.decode, z, np.float32([[4, 4]]), 16).gives(wanted, tolerance=1e-6)


def test_decode_columns_and_rows(impl):
    wanted = np.float32([[1, 1], [3, 1], [5, 1], [1, 3], [3, 3], [5, 3]])
    wanted = np.concatenate([wanted, np.tile(np.float32([3, 7, 0.5]), (6, 1))], axis=1)[None]
    calling(impl.decode, zeros(1, 5, 2, 3), np.float32([[3, 7]]), 2).gives(wanted)


def test_decode_two_anchors(impl):
    z = zeros(1, 12, 1, 2)
    z[0, 6 + 4, 0, 1] = THREE  # second anchor, "is anything", second column
    wanted = np.float32([
        [2, 2, 3, 7, 0.5, 0.5],
        [6, 2, 3, 7, 0.5, 0.5],
        [2, 2, 5, 11, 0.5, 0.5],
        [6, 2, 5, 11, 0.75, 0.5],
    ])[None]  # fmt: skip
    calling(impl.decode, z, np.float32([[3, 7], [5, 11]]), 4).gives(wanted, tolerance=1e-6)


def test_decode_two_pictures(impl):
    z = zeros(2, 5, 1, 1)
    z[1] = THREE
    wanted = np.float32([[[1, 1, 4, 8, 0.5]], [[2, 2, 9, 18, 0.75]]])
    calling(impl.decode, z, np.float32([[4, 8]]), 2).gives(wanted, tolerance=1e-6)


def test_decode_a_stride_that_is_no_integer(impl):
    wanted = np.float32([[[0.75, 0.75, 1, 2, 0.5], [2.25, 0.75, 1, 2, 0.5]]])
    calling(impl.decode, zeros(1, 5, 1, 2), np.float32([[1, 2]]), 1.5).gives(wanted)


def test_decode_of_large_numbers(impl):
    z = np.float32([200, -200, 200, -200, 200, -200]).reshape(1, 6, 1, 1)
    calling(impl.decode, z, np.float32([[3, 7]]), 2).gives(np.float32([[[3, -1, 12, 0, 1, 0]]]), tolerance=1e-6)


def map_afterwards(impl, z):
    impl.decode(z, np.float32([[1, 2]]), 4)[...] = -5
    return z


def test_decode_leaves_the_map_alone(impl):
    z = np.arange(12, dtype=np.float32).reshape(1, 6, 1, 2)
    calling(map_afterwards, impl, z).gives(z.copy())


@pytest.mark.parametrize("order", ["C", "F", "gaps"])
def test_decode_of_any_memory_order(impl, order):
    wide = np.random.default_rng(3).normal(size=(2, 6, 4, 6)).astype(np.float32)
    z, anchors = wide[::-1, :, ::2, ::3], np.float32([[3, 7]])
    z = z if order == "gaps" else np.array(z, order=order)
    s = 1 / (1 + np.exp(-z.astype(np.float64)))
    x, y = (2 * s[:, 0] - 0.5 + np.arange(2)) * 8, (2 * s[:, 1] - 0.5 + np.arange(2)[:, None]) * 8
    parts = [x, y, (2 * s[:, 2]) ** 2 * 3, (2 * s[:, 3]) ** 2 * 7, s[:, 4], s[:, 5]]
    wanted = np.stack(parts, axis=-1).reshape(2, 4, 6).astype(np.float32)
    calling(impl.decode, z, anchors, 8).gives(wanted, tolerance=1e-5)


@given(
    n=st.integers(1, 2),
    a=st.integers(1, 3),
    v=st.integers(5, 8),
    h=st.integers(1, 4),
    w=st.integers(1, 4),
    seed=st.integers(0, 99),
)
def test_decode_as_in_the_engine(impl, n, a, v, h, w, seed):
    random = np.random.default_rng(seed)
    z = random.integers(-4, 5, (n, a * v, h, w)).astype(np.float32)
    anchors = random.integers(1, 50, (a, 2)).astype(np.float32)
    wanted = np.empty((n, a * h * w, v), np.float32)
    pixels = np.ascontiguousarray(z.reshape(n, a, v, h, w).transpose(0, 3, 4, 1, 2))
    yolo_detect.decode(pixels, SimpleNamespace(anchors=anchors, stride=8.0), wanted)
    calling(impl.decode, z, anchors, 8.0).gives(wanted, tolerance=1e-5)


def test_detect_two_maps(impl):
    maps = [zeros(1, 5, 1, 2), zeros(1, 5, 1, 1)]
    wanted = np.float32([[[1, 1, 3, 4, 0.5], [3, 1, 3, 4, 0.5], [4, 4, 7, 9, 0.5]]])
    calling(impl.detect, maps, [np.float32([[3, 4]]), np.float32([[7, 9]])], [2, 8]).gives(wanted)


def test_detect_two_pictures(impl):
    maps = [zeros(2, 5, 1, 1), zeros(2, 5, 1, 1)]
    maps[0][1], maps[1][1] = -THREE, THREE
    wanted = np.float32([[[1, 1, 4, 4, 0.5], [2, 2, 8, 8, 0.5]], [[0, 0, 1, 1, 0.25], [4, 4, 18, 18, 0.75]]])
    calling(impl.detect, maps, [np.float32([[4, 4]]), np.float32([[8, 8]])], [2, 4]).gives(wanted, tolerance=1e-6)


def test_detect_maps_with_different_anchors(impl):
    maps = [zeros(1, 6, 1, 1), zeros(1, 12, 1, 1)]
    boxes = np.float32([[1, 1, 1, 2, 0.5, 0.5], [2, 2, 3, 4, 0.5, 0.5], [2, 2, 5, 6, 0.5, 0.5]])
    calling(impl.detect, maps, [np.float32([[1, 2]]), np.float32([[3, 4], [5, 6]])], [2, 4]).gives(boxes[None])


def test_detect_a_stride_missing(impl):
    anchors = [np.ones((1, 2), np.float32)] * 2
    calling(impl.detect, [zeros(1, 5, 1, 1)] * 2, anchors, [8]).raises(ValueError, "maps")


def test_detect_anchors_missing(impl):
    calling(impl.detect, [zeros(1, 5, 1, 1)] * 2, [np.ones((1, 2), np.float32)], [8, 16]).raises(ValueError, "maps")


def test_detect_a_map_missing(impl):
    anchors = [np.ones((1, 2), np.float32)] * 2
    calling(impl.detect, [zeros(1, 5, 1, 1)], anchors, [8, 16]).raises(ValueError, "maps")


def test_detect_channels_that_cannot_be_shared_out(impl):
    anchors = [np.ones((2, 2), np.float32)] * 2
    calling(impl.detect, [zeros(1, 12, 1, 1), zeros(1, 13, 1, 1)], anchors, [8, 16]).raises(ValueError, "channels")


def test_detect_too_few_channels(impl):
    calling(impl.detect, [zeros(1, 8, 1, 1)], [np.ones((2, 2), np.float32)], [8]).raises(ValueError, "channels")


def test_candidates(impl):
    boxes = np.float32([[10, 20, 4, 8, 0.5, 0.75]])
    wanted = np.float32([[8, 16, 12, 24]]), np.float32([0.375]), np.int64([0])
    calling(impl.candidates, boxes, 0.25).gives(wanted)


def test_candidates_stay_in_their_order(impl):
    boxes = np.float32([
        [1, 2, 2, 2, 0.5, 0.25, 0.75, 0.5],
        [3, 4, 2, 2, 0.5, 0.25, 0.25, 0.25],
        [5, 6, 4, 2, 1.0, 0.25, 0.25, 0.5],
    ])  # fmt: skip
    wanted = np.float32([[0, 1, 2, 3], [3, 5, 7, 7]]), np.float32([0.375, 0.5]), np.int64([1, 2])
    calling(impl.candidates, boxes, 0.25).gives(wanted)


def test_candidates_need_more_than_the_threshold(impl):
    boxes = np.float32([[1, 1, 2, 2, 0.5, 0.5], [3, 3, 2, 2, 0.5, 0.75]])
    wanted = np.float32([[2, 2, 4, 4]]), np.float32([0.375]), np.int64([0])
    calling(impl.candidates, boxes, 0.25).gives(wanted)


def test_candidates_need_both_probabilities(impl):
    boxes = np.float32([[1, 1, 2, 2, 0.875, 0.25], [1, 1, 2, 2, 0.25, 0.875], [4, 4, 2, 2, 0.75, 0.75]])
    wanted = np.float32([[3, 3, 5, 5]]), np.float32([0.5625]), np.int64([0])
    calling(impl.candidates, boxes, 0.5).gives(wanted)


def test_candidates_take_the_first_of_equal_classes(impl):
    boxes = np.float32([[1, 1, 2, 2, 1, 0.25, 0.5, 0.5]])
    calling(impl.candidates, boxes, 0.25).gives((np.float32([[0, 0, 2, 2]]), np.float32([0.5]), np.int64([1])))


def test_candidates_may_reach_outside(impl):
    boxes = np.float32([[1, 2, 7, 5, 1, 0.5]])
    calling(impl.candidates, boxes, 0).gives((np.float32([[-2.5, -0.5, 4.5, 4.5]]), np.float32([0.5]), np.int64([0])))


@pytest.mark.parametrize("seed", range(8))
def test_candidates_of_many_boxes(impl, seed):
    random = np.random.default_rng(seed)
    count, classes = int(random.integers(0, 30)), int(random.integers(1, 6))
    boxes = np.concatenate(
        [random.integers(-20, 60, (count, 4)), random.integers(0, 9, (count, 1 + classes)) / 8], axis=1
    ).astype(np.float32)
    threshold = float(random.integers(0, 7)) / 8
    corners, scores, labels = [], [], []
    for x, y, w, h, anything, *chances in boxes.tolist():
        if anything * max(chances) > threshold:
            corners.append([x - w / 2, y - h / 2, x + w / 2, y + h / 2])
            scores.append(anything * max(chances))
            labels.append(chances.index(max(chances)))
    wanted = np.array(corners, np.float32).reshape(-1, 4), np.array(scores, np.float32), np.array(labels, np.int64)
    calling(impl.candidates, boxes, threshold).gives(wanted)


def test_candidates_may_be_none(impl):
    boxes = np.float32([[1, 1, 2, 2, 0.5, 0.25, 0.5]])
    calling(impl.candidates, boxes, 0.5).gives((zeros(0, 4), zeros(0), np.zeros(0, np.int64)))

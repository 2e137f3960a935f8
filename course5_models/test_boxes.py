"""Exercise 5.5."""

from __future__ import annotations

import numpy as np
import pytest

from kuiper.course import calling, same
from kuiper.course.properties import given, st
from kuiper.language import translate

FAR = min(2**32, np.iinfo(np.intp).max)  # a class whose last 32 bits are 0, where indices have more
CORNERS = st.tuples(*[st.integers(-4, 4)] * 4).map(
    lambda c: (min(c[0], c[2]), min(c[1], c[3]), max(c[0], c[2]), max(c[1], c[3]))
)
BOXES = st.lists(st.tuples(CORNERS, st.integers(0, 1)), max_size=8)


def box(*corners):
    return np.array(corners, np.float32)


def test_iou(impl):
    calling(impl.iou, box(0, 0, 4, 3), box(2, 0, 8, 3)).gives(0.25)


def test_iou_of_equal_boxes(impl):
    calling(impl.iou, box(1, 2, 6, 4), box(1, 2, 6, 4)).gives(1.0)


def test_iou_of_a_box_inside_another(impl):
    calling(impl.iou, box(0, 0, 8, 4), box(2, 1, 6, 3)).gives(0.25)
    calling(impl.iou, box(2, 1, 6, 3), box(0, 0, 8, 4)).gives(0.25)


def test_iou_of_overlapping_corners(impl):
    calling(impl.iou, box(0, 0, 4, 5), box(2, 3, 6, 5)).gives(1 / 6, tolerance=1e-6)


@pytest.mark.parametrize("other", [(6, 0, 9, 3), (0, 5, 4, 9), (6, 5, 9, 9), (-9, -9, -6, -5), (-3, 4, -1, 9)])
def test_iou_of_boxes_apart(impl, other):
    calling(impl.iou, box(0, 0, 4, 3), box(*other)).gives(0.0)


@pytest.mark.parametrize("other", [(4, 0, 6, 3), (0, 3, 4, 5), (4, 3, 5, 5)])
def test_iou_of_boxes_that_touch(impl, other):
    calling(impl.iou, box(0, 0, 4, 3), box(*other)).gives(0.0)


def test_iou_keeps_fractions(impl):
    calling(impl.iou, box(0, 0, 0.5, 0.5), box(0.25, 0, 0.5, 0.5)).gives(0.5)


def test_iou_of_corners_on_a_large_picture(impl):
    calling(impl.iou, box(4000, 3000, 4004, 3003), box(4002, 3000, 4008, 3003)).gives(0.25)


def test_iou_without_rounding_to_whole_pixels(impl):
    calling(impl.iou, box(0.2, 0.2, 1.2, 1.2), box(0.2, 0.7, 1.2, 1.7)).gives(1 / 3, tolerance=1e-6)
    calling(impl.iou, box(0.1, 0.1, 0.8, 0.8), box(0.1, 0.1, 0.8, 0.45)).gives(0.5, tolerance=1e-6)


def test_iou_of_negative_corners(impl):
    calling(impl.iou, box(-4, -4, 0, 0), box(-4, -2, 0, 2)).gives(1 / 3, tolerance=1e-6)


@pytest.mark.parametrize("other", [(1, 1, 1, 1), (1, 0, 1, 5), (0, 2, 7, 2), (9, 9, 9, 9)])
def test_iou_without_area(impl, other):
    calling(impl.iou, box(1, 1, 1, 1), box(*other)).gives(0.0)
    calling(impl.iou, box(*other), box(0, 0, 4, 4)).gives(0.0)


def shares(a, b):
    """The iou of boxes with whole corners, by counting squares."""
    squares = [{(x, y) for x in range(x1, x2) for y in range(y1, y2)} for x1, y1, x2, y2 in (a, b)]
    both, any_ = squares[0] & squares[1], squares[0] | squares[1]
    return len(both) / len(any_) if any_ else 0.0


@given(a=CORNERS, b=CORNERS)
def test_iou_by_counting_squares(impl, a, b):
    calling(impl.iou, box(*a), box(*b)).gives(shares(a, b), tolerance=1e-6)


def suppress(impl, boxes, threshold, wanted, order=None, classes=None):
    """One call of nms, with boxes in the order of their score and of one class unless told otherwise."""
    count = len(boxes)
    order = np.arange(count) if order is None else np.array(order)
    classes = np.zeros(count, np.intp) if classes is None else np.array(classes)
    keep = np.full(count, 7, np.uint8)
    boxes = np.array(boxes, np.float32).reshape(count, 4)
    calling(impl.nms, boxes, classes, order, threshold, keep).fills(keep, np.uint8(wanted))


def test_nms(impl):
    suppress(impl, [(0, 0, 4, 4), (0, 0, 4, 3), (9, 9, 12, 12)], 0.5, [1, 0, 1])


def test_nms_goes_by_the_order(impl):
    suppress(impl, [(0, 0, 4, 3), (9, 9, 12, 12), (0, 0, 4, 4)], 0.5, [0, 1, 1], order=[2, 0, 1])


def test_nms_in_another_order(impl):
    boxes = [(0, 0, 4, 4), (0, 0, 4, 3), (0, 0, 4, 2)]
    suppress(impl, boxes, 0.6, [0, 1, 0], order=[1, 2, 0])


def test_nms_what_is_gone_does_no_harm(impl):
    suppress(impl, [(0, 0, 10, 4), (4, 0, 14, 4), (8, 0, 18, 4)], 0.4, [1, 0, 1])


def test_nms_compares_with_all_that_stay(impl):
    boxes = [(0, 0, 4, 4), (20, 0, 24, 4), (0, 1, 4, 4), (20, 1, 24, 4)]
    suppress(impl, boxes, 0.5, [1, 1, 0, 0])


def test_nms_keeps_other_classes_apart(impl):
    boxes = [(0, 0, 4, 4), (0, 0, 4, 4), (0, 0, 4, 4), (0, 0, 4, 4)]
    suppress(impl, boxes, 0.5, [1, 1, 0, 1], classes=[3, 0, 3, 7])


def test_nms_classes_belong_to_boxes(impl):
    boxes = [(0, 0, 4, 4), (9, 9, 12, 12), (0, 0, 4, 4)]
    suppress(impl, boxes, 0.5, [0, 1, 1], order=[2, 1, 0], classes=[1, 2, 1])
    suppress(impl, boxes, 0.5, [1, 1, 1], order=[1, 2, 0], classes=[1, 2, 2])


def test_nms_needs_more_than_the_threshold(impl):
    boxes = [(0, 0, 4, 4), (0, 0, 4, 2)]
    suppress(impl, boxes, 0.5, [1, 1])
    suppress(impl, boxes, 0.4375, [1, 0])


@pytest.mark.parametrize("count", [0, 1])
def test_nms_of_few(impl, count):
    suppress(impl, [(0, 0, 4, 4)] * count, 0.5, [1] * count)


def test_nms_of_no_area(impl):
    suppress(impl, [(1, 1, 1, 1), (1, 1, 1, 1)], 0.5, [1, 1])


def test_nms_of_many_boxes(impl):
    """Ten places, ten boxes at each of them in turns: the best of each place stays."""
    boxes = [(20 * place, 0, 20 * place + 10, 10 + row % 2) for row in range(10) for place in range(10)]
    suppress(impl, boxes, 0.5, [1] * 10 + [0] * 90)
    suppress(impl, boxes, 0.5, [0] * 90 + [1] * 10, order=list(range(99, -1, -1)))


def test_nms_of_classes_far_apart(impl):
    boxes = [(0, 0, 4, 4)] * 4
    suppress(impl, boxes, 0.5, [1, 1, 0, 1], classes=[0, FAR, FAR, 256])


@pytest.mark.parametrize("threshold", [0, 1])
def test_nms_at_the_ends_of_the_threshold(impl, threshold):
    boxes = [(0, 0, 4, 4), (0, 0, 4, 4), (3, 3, 9, 9), (4, 4, 9, 9)]
    suppress(impl, boxes, threshold, [1, 0, 0, 1] if threshold == 0 else [1, 1, 1, 1])


def test_nms_with_gaps_in_memory(impl):
    boxes = np.zeros((3, 8), np.float32)[:, ::2]
    boxes[:, 2:] = [[4, 4], [4, 3], [1, 1]]
    keep = np.zeros(3, np.uint8)
    calling(impl.nms, boxes, np.zeros(3, np.intp), np.arange(3), 0.5, keep).fills(keep, np.uint8([1, 0, 1]))


@given(found=BOXES, threshold=st.sampled_from([0.13, 0.28, 0.45, 0.71]), data=st.data())
def test_nms_keeps_no_two_alike_and_loses_none(impl, found, threshold, data):
    order = data.draw(st.permutations(range(len(found))))
    boxes = np.array([corners for corners, _ in found], np.float32).reshape(len(found), 4)
    classes = np.array([label for _, label in found], np.intp)
    alike = [[int(a[1] == b[1] and shares(a[0], b[0]) > threshold) for b in found] for a in found]
    keep = calling(kept, impl, boxes, classes, np.array(order, np.intp), threshold).answer()
    same("nms", complaints(np.asarray(keep), np.array(order, np.intp), alike), [])


def kept(impl, boxes, classes, order, threshold):
    keep = np.full(len(boxes), 7, np.uint8)
    impl.nms(boxes, classes, order, threshold, keep)
    return keep


def complaints(keep, order, alike):
    """Which boxes are wrongly there, or wrongly gone: both together leave one answer only."""
    found = []
    for position, i in enumerate(order.tolist()):
        better = [j for j in order.tolist()[:position] if keep[j] and alike[i][j]]
        if keep[i] not in (0, 1):
            found.append(translate("keep[{i}] is {value}").format(i=i, value=keep[i]))
        elif keep[i] and better:
            found.append(translate("box {i} stays beside box {other}").format(i=i, other=better[0]))
        elif not keep[i] and not better:
            found.append(translate("box {i} is gone, but nothing that stays is like it").format(i=i))
    return found


def speed(impl):
    """Not a test: what the report says of the speed when all tests pass."""
    from kuiper.machine.stopwatch import best_seconds

    corners = np.random.default_rng(1).random((300, 2), np.float32) * 500
    boxes = np.concatenate([corners, corners + 20], axis=1)
    classes, order, keep = np.zeros(300, np.intp), np.arange(300), np.empty(300, np.uint8)
    return best_seconds(lambda: impl.nms(boxes, classes, order, 0.5, keep)), 300 * 299 // 2, "pairs of boxes"

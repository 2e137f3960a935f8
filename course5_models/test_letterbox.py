"""Exercise 5.3."""

from __future__ import annotations

import numpy as np
import pytest

from kuiper.course import calling, same
from kuiper.course.properties import given, st
from kuiper.language import translate

SIZES = st.integers(1, 40)


def test_fit_a_wide_picture(impl):
    calling(impl.fit, 10, 20, 8, 8).gives((0.4, 4, 8, 2, 0))
    calling(impl.fit, 8, 16, 2, 2).gives((0.125, 1, 2, 0, 0))


def test_fit_a_high_picture(impl):
    calling(impl.fit, 40, 10, 20, 16).gives((0.5, 20, 5, 0, 5))


def test_fit_enlarges_a_small_picture(impl):
    calling(impl.fit, 2, 3, 9, 12).gives((4.0, 8, 12, 0, 0))


def test_fit_a_box_that_is_not_square(impl):
    calling(impl.fit, 10, 10, 5, 20).gives((0.5, 5, 5, 0, 7))


@pytest.mark.parametrize(
    ("sizes", "wanted"),
    [((3, 4, 4, 4), (1.0, 3, 4, 0, 0)), ((4, 3, 4, 8), (1.0, 4, 3, 0, 2)), ((5, 5, 10, 5), (1.0, 5, 5, 2, 0))],
)
def test_fit_with_an_odd_rest(impl, sizes, wanted):
    calling(impl.fit, *sizes).gives(wanted)


def test_fit_rounds_up_too(impl):
    calling(impl.fit, 14, 20, 10, 10).gives((0.5, 7, 10, 1, 0))
    calling(impl.fit, 7, 10, 4, 4).gives((0.4, 3, 4, 0, 0))


def test_fit_rounds_a_half_to_the_even_number(impl):
    calling(impl.fit, 5, 8, 4, 4).gives((0.5, 2, 4, 1, 0))


def test_fit_leaves_one_row(impl):
    calling(impl.fit, 1, 100, 10, 10).gives((0.1, 1, 10, 4, 0))


def test_fit_leaves_one_column(impl):
    calling(impl.fit, 100, 1, 10, 10).gives((0.1, 10, 1, 0, 4))


def inside(fit, height, width, box_height, box_width):
    """What must hold of any fit: one direction is filled, the other has its rest shared out."""
    scale, new_height, new_width, top, left = fit
    below, right = box_height - new_height - top, box_width - new_width - left
    full = new_height == box_height or new_width == box_width
    true_to_size = abs(new_height - height * scale) <= 1 and abs(new_width - width * scale) <= 1
    return full, true_to_size, min(top, left) >= 0, 0 <= below - top <= 1, 0 <= right - left <= 1


@given(height=SIZES, width=SIZES, box_height=SIZES, box_width=SIZES)
def test_fit_always_fits(impl, height, width, box_height, box_width):
    sizes = (height, width, box_height, box_width)
    fit = calling(impl.fit, *sizes).answer()
    kinds = [type(part).__name__ for part in fit] if isinstance(fit, tuple) else type(fit).__name__
    same(translate("{call}: the types").format(call=f"fit{sizes}"), kinds, ["float", "int", "int", "int", "int"])
    what = translate("{call}: one side full, true to size, inside, centred").format(call=f"fit{sizes}")
    same(what, inside(fit, *sizes), (True,) * 5)


def test_letterbox(impl):
    image = np.array([[[1], [2]]], np.uint8)
    wanted = np.uint8([[114, 114], [1, 2], [114, 114]])[:, :, None]
    calling(impl.letterbox, image, 3, 2).gives((wanted, 1.0, 1, 0))


def test_letterbox_of_a_high_picture(impl):
    image = np.array([[[1]], [[2]]], np.uint8)
    wanted = np.uint8([[0, 1, 1, 0, 0], [0, 1, 1, 0, 0], [0, 2, 2, 0, 0], [0, 2, 2, 0, 0]])[:, :, None]
    calling(impl.letterbox, image, 4, 5, fill=0).gives((wanted, 2.0, 0, 1))


def test_letterbox_of_colours(impl):
    image = np.array([[[1, 20, 3], [4, 50, 6]]], np.uint8)
    wanted = np.full((4, 4, 3), 9, np.uint8)
    wanted[1:3, 0:2], wanted[1:3, 2:4] = (1, 20, 3), (4, 50, 6)
    calling(impl.letterbox, image, 4, 4, 9).gives((wanted, 2.0, 1, 0))


def test_letterbox_that_shrinks(impl):
    image = np.arange(24, dtype=np.uint8).reshape(4, 6, 1)
    wanted = np.uint8([[114] * 3, [0, 2, 4], [12, 14, 16], [114] * 3, [114] * 3])[:, :, None]
    calling(impl.letterbox, image, 5, 3).gives((wanted, 0.5, 1, 0))


def test_letterbox_keeps_the_dtype(impl):
    image = np.float32([[[0.5], [0.25]]])
    wanted = np.float32([[0.5, 0.25], [7, 7]])[:, :, None]
    calling(impl.letterbox, image, 2, 2, 7).gives((wanted, 1.0, 0, 0))


@pytest.mark.parametrize("order", ["C", "F"])
def test_letterbox_of_any_memory_order(impl, order):
    image = np.array(np.arange(48, dtype=np.uint8).reshape(4, 6, 2)[::-2, ::3], order=order)
    wanted = np.full((2, 4, 2), 114, np.uint8)
    wanted[:, 1:3] = image
    calling(impl.letterbox, image, 2, 4).gives((wanted, 1.0, 0, 1))


def image_afterwards(impl, image):
    box, *_ = impl.letterbox(image, *image.shape[:2])
    box[...] = 0
    return image


def test_letterbox_is_a_copy(impl):
    calling(image_afterwards, impl, np.uint8([[[1], [2]]])).gives([[[1], [2]]])


def test_letterbox_of_a_picture_that_is_far_too_long(impl):
    image = np.arange(200, dtype=np.uint8).reshape(1, 200, 1)
    wanted = np.full((5, 10, 1), 7, np.uint8)
    wanted[2, :, 0] = np.arange(0, 200, 20)
    calling(impl.letterbox, image, 5, 10, 7).gives((wanted, 0.05, 2, 0))


@pytest.mark.parametrize("seed", range(12))
def test_letterbox_of_any_size(impl, seed):
    random = np.random.default_rng(seed)
    h, w, box_h, box_w, c = (int(n) for n in random.integers(1, [30, 30, 30, 30, 5]))
    image = random.integers(0, 256, (h, w, c)).astype(np.uint8)
    scale = min(box_h / h, box_w / w)
    new_h, new_w = max(round(h * scale), 1), max(round(w * scale), 1)
    top, left = (box_h - new_h) // 2, (box_w - new_w) // 2
    wanted = np.full((box_h, box_w, c), 114, np.uint8)
    wanted[top : top + new_h, left : left + new_w] = image[np.arange(new_h) * h // new_h][
        :, np.arange(new_w) * w // new_w
    ]
    calling(impl.fit, h, w, box_h, box_w).gives((scale, new_h, new_w, top, left))
    calling(impl.letterbox, image, box_h, box_w).gives((wanted, scale, top, left))


def boxes_afterwards(impl, boxes):
    impl.to_photo(boxes, 1.0, 0, 0, 100, 100)[...] = -5
    return boxes


def test_to_photo_has_memory_of_its_own(impl):
    calling(boxes_afterwards, impl, np.float32([[1, 2, 3, 4]])).gives([[1, 2, 3, 4]])


def test_to_photo(impl):
    boxes = np.float32([[10, 20, 30, 40]])
    calling(impl.to_photo, boxes, 0.5, 6, 2, 100, 200).gives(np.float32([[16, 28, 56, 68]]))


def test_to_photo_of_several_boxes(impl):
    boxes = np.float32([[3, 1, 5, 2], [4, 2, 8, 6]])
    calling(impl.to_photo, boxes, 2.0, 0, 3, 50, 60).gives(np.float32([[0, 0.5, 1, 1], [0.5, 1, 2.5, 3]]))


def test_to_photo_moves_what_is_outside_to_the_edge(impl):
    boxes = np.float32([[0, 0, 99, 99], [-5, 4, 8, -2]])
    calling(impl.to_photo, boxes, 1.0, 2, 3, 20, 30).gives(np.float32([[0, 0, 30, 20], [0, 2, 5, 0]]))


def test_to_photo_of_no_boxes(impl):
    calling(impl.to_photo, np.zeros((0, 4), np.float32), 0.5, 1, 2, 3, 4).gives(np.zeros((0, 4), np.float32))


def there_and_back(impl, boxes, height, width, box_height, box_width):
    _, scale, top, left = impl.letterbox(np.zeros((height, width, 3), np.uint8), box_height, box_width)
    moved = (boxes * scale + np.array([left, top, left, top])).astype(np.float32)
    return impl.to_photo(moved, scale, top, left, height, width)


@given(height=SIZES, width=SIZES, box_height=SIZES, box_width=SIZES, parts=st.tuples(*[st.integers(0, 4)] * 4))
def test_there_and_back(impl, height, width, box_height, box_width, parts):
    boxes = np.float32([np.array(parts) / 4 * [width, height, width, height]])
    calling(there_and_back, impl, boxes, height, width, box_height, box_width).gives(boxes, tolerance=1e-3)

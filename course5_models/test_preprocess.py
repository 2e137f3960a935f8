"""Exercise 5.1."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from kuiper.course import calling, same
from kuiper.course.properties import given, st
from kuiper.language import translate
from kuiper.layers.operators.upsample import interpolate
from kuiper.layers.resampled_axis import Axis


def picture(height, width, channels=1):
    """Integers, all different, up to 255."""
    return (np.arange(height * width * channels) * 7 % 256).astype(np.uint8).reshape(height, width, channels)


def test_neighbours_when_growing(impl):
    calling(impl.neighbours, 2, 4).gives(([0, 0, 0, 1], [1, 1, 1, 1], [0, 0.25, 0.75, 0]))


def test_neighbours_when_shrinking(impl):
    calling(impl.neighbours, 8, 2).gives(([1, 5], [2, 6], [0.5, 0.5]))


def test_neighbours_at_the_same_size(impl):
    calling(impl.neighbours, 3, 3).gives(([0, 1, 2], [1, 2, 2], [0, 0, 0]))


def test_neighbours_of_one_pixel(impl):
    calling(impl.neighbours, 1, 3).gives(([0, 0, 0], [0, 0, 0], [0, 0, 0]))


def test_neighbours_are_indices_and_a_float32(impl):
    before, after, fraction = (np.asarray(part).dtype for part in calling(impl.neighbours, 5, 3).answer())
    same(
        translate("neighbours(5, 3): integers, and float32"),
        (before.kind in "iu", after.kind in "iu", fraction.name),
        (True, True, "float32"),
    )


def places(length, new_length):
    """The rule in exact fractions: pixel before, pixel after, fraction."""
    exact = [Fraction((2 * i + 1) * length, 2 * new_length) - Fraction(1, 2) for i in range(new_length)]
    exact = [min(max(place, Fraction(0)), Fraction(length - 1)) for place in exact]
    before = [math.floor(place) for place in exact]
    after = [min(pixel + 1, length - 1) for pixel in before]
    return before, after, [float(place - pixel) for place, pixel in zip(exact, before, strict=True)]


@pytest.mark.parametrize("length", [1, 2, 3, 5, 6, 7, 10, 14, 27, 49, 64])
def test_neighbours_of_many_sizes(impl, length):
    for new_length in (1, 2, 3, 5, 7, 9, 14, 21, 35, 49, 81, 98, 105):
        before, after, fraction = places(length, new_length)
        calling(impl.neighbours, length, new_length).gives((before, after, fraction), tolerance=1e-6)


@pytest.mark.parametrize(("length", "new_length"), [(40001, 3000), (3000, 40001), (9999, 10000), (16777217, 5)])
def test_neighbours_of_long_axes(impl, length, new_length):
    before, after, fraction = places(length, new_length)
    calling(impl.neighbours, length, new_length).gives((before, after, fraction), tolerance=1e-5)


def test_resize_a_row(impl):
    row = np.array([[[10], [30]]], np.uint8)
    calling(impl.resize, row, 1, 4).gives(np.float32([[[10], [15], [25], [30]]]))


def test_resize_a_column_that_falls(impl):
    column = np.array([[[200]], [[100]]], np.uint8)
    calling(impl.resize, column, 4, 1).gives(np.float32([[[200]], [[175]], [[125]], [[100]]]))


def test_resize_both_ways(impl):
    image = np.array([[[0], [16]], [[32], [80]]], np.uint8)
    wanted = [[0, 4, 12, 16], [32, 44, 68, 80]]
    calling(impl.resize, image, 2, 4).gives(np.float32(wanted)[:, :, None])


def test_resize_keeps_channels_apart(impl):
    image = np.array([[[0, 100, 8], [40, 60, 8]]], np.uint8)
    wanted = [[[0, 100, 8], [10, 90, 8], [30, 70, 8], [40, 60, 8]]]
    calling(impl.resize, image, 1, 4).gives(np.float32(wanted))


def test_resize_does_not_round(impl):
    calling(impl.resize, np.array([[[1], [2]]], np.uint8), 1, 1).gives(np.float32([[[1.5]]]))


def test_resize_of_large_and_negative_numbers(impl):
    image = np.float32([[[-300], [500]], [[1000], [-7]]])
    calling(impl.resize, image, 1, 2).gives(np.float32([[[350], [246.5]]]))


def image_after_writing_to_the_result(impl, image):
    impl.resize(image, *image.shape[:2])[...] = 7
    return image


def test_resize_to_its_own_size_is_a_copy(impl):
    image = np.ones((2, 3, 1), np.float32)
    calling(image_after_writing_to_the_result, impl, image).gives(image)


@pytest.mark.parametrize("dtype", [np.float64, np.int16, np.int32, np.float32])
def test_resize_makes_float32_of_any_dtype(impl, dtype):
    calling(impl.resize, np.array([[[10], [-30]]], dtype), 1, 4).gives(np.float32([[[10], [0], [-20], [-30]]]))


@pytest.mark.parametrize("image", [picture(6, 8, 2)[::2, ::-2], np.asfortranarray(picture(3, 4, 2))])
def test_any_memory_order(impl, image):
    calling(impl.resize, image, 3, 4).gives(np.ascontiguousarray(image, np.float32))
    calling(impl.centre_crop, image, 1, 2).gives(image[1:2, 1:3])
    calling(impl.normalise, image, (0, 0), (1, 1)).gives(
        np.ascontiguousarray(image.transpose(2, 0, 1)[None] / np.float32(255)), tolerance=1e-6
    )


def test_resize_to_its_own_size(impl):
    calling(impl.resize, picture(3, 4, 2), 3, 4).gives(picture(3, 4, 2).astype(np.float32))


def test_resize_one_axis_grows_and_one_shrinks(impl):
    image = np.array([[[10], [20], [30], [40]]], np.float32)
    calling(impl.resize, image, 3, 2).gives(np.float32([[[15], [35]]] * 3))


@given(sizes=st.tuples(*[st.integers(1, 7)] * 4), channels=st.integers(1, 3))
def test_resize_as_in_the_engine(impl, sizes, channels):
    h, w, height, width = sizes
    image = picture(h, w, channels)
    planes = np.ascontiguousarray(image.transpose(2, 0, 1)[None], np.float32)
    wanted = interpolate(planes, Axis(h, height), Axis(w, width), "bilinear")[0].transpose(1, 2, 0)
    calling(impl.resize, image, height, width).gives(np.ascontiguousarray(wanted), tolerance=1e-5)


def test_centre_crop(impl):
    calling(impl.centre_crop, picture(4, 7, 2), 2, 3).gives(picture(4, 7, 2)[1:3, 2:5])


def test_centre_crop_with_an_odd_rest(impl):
    calling(impl.centre_crop, picture(5, 6, 2), 2, 3).gives(picture(5, 6, 2)[1:3, 1:4])
    calling(impl.centre_crop, picture(6, 5, 2), 1, 2).gives(picture(6, 5, 2)[2:3, 1:3])


def test_centre_crop_of_everything(impl):
    calling(impl.centre_crop, picture(3, 5), 3, 5).gives(picture(3, 5))


@pytest.mark.parametrize(("height", "width"), [(4, 5), (3, 6), (4, 6)])
def test_centre_crop_of_too_small_a_picture(impl, height, width):
    calling(impl.centre_crop, picture(3, 5), height, width).raises(ValueError, "3x5")


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
def test_centre_crop_keeps_the_dtype(impl, dtype):
    image = np.arange(24).reshape(4, 6, 1).astype(dtype) * 1000
    calling(impl.centre_crop, image, 2, 2).gives(image[1:3, 2:4])


def test_normalise_of_floats_that_are_no_integers(impl):
    image = np.float32([[[0.5, -51, 300]]])
    wanted = np.float32([0.5 / 255, -0.2, 300 / 255 - 1]).reshape(1, 3, 1, 1)
    calling(impl.normalise, image, (0, 0, 1), (1, 1, 1)).gives(wanted, tolerance=1e-6)


def test_normalise_of_four_channels(impl):
    image = np.uint8([[[255, 51, 102, 0]], [[0, 0, 255, 255]]])
    wanted = np.float32([[[1], [0]], [[0.1], [0]], [[-0.6], [0]], [[-2], [2]]])[None]
    calling(impl.normalise, image, [0, 0, 1, 0.5], [1, 2, 1, 0.25]).gives(wanted, tolerance=1e-6)


def test_normalise_one_pixel(impl):
    pixel = np.array([[[255, 0, 51]]], np.uint8)
    wanted = np.float32([1, -2, 0.2]).reshape(1, 3, 1, 1)
    calling(impl.normalise, pixel, (0.5, 0.5, 0), (0.5, 0.25, 1)).gives(wanted, tolerance=1e-6)


def test_normalise_moves_the_channels_to_the_front(impl):
    image = np.array([[[0, 51, 102], [153, 204, 255]]], np.uint8)
    wanted = np.float32([[[[0, 6]], [[2, 8]], [[4, 10]]]])
    calling(impl.normalise, image, (0, 0, 0), (0.1, 0.1, 0.1)).gives(wanted, tolerance=1e-6)


def test_normalise_keeps_rows_and_columns(impl):
    image = np.arange(6, dtype=np.float32).reshape(3, 2, 1) * 255
    wanted = np.float32([[[[-2, 0], [2, 4], [6, 8]]]])
    calling(impl.normalise, image, (1,), (0.5,)).gives(wanted, tolerance=1e-6)


def gapless(impl, image):
    values = impl.normalise(image, (0, 0, 0), (1, 1, 1))
    return str(values.dtype), values.strides


def test_normalise_leaves_no_gaps(impl):
    calling(gapless, impl, picture(2, 3, 3)).gives(("float32", (72, 24, 12, 4)))


def test_preprocess_a_wide_photo(impl):
    image = np.zeros((1, 4, 3), np.uint8)
    image[0, :, 0] = 0, 51, 102, 153
    wanted = np.float32([0.3, -0.5, 0.25]).reshape(1, 3, 1, 1) + np.zeros((1, 3, 2, 2), np.float32)
    wanted[0, 0, :, 0], wanted[0, 0, :, 1] = 0.25, 0.35
    calling(impl.preprocess, image, 2, 2, (0, 0.5, -0.25), (1, 1, 1)).gives(wanted, tolerance=1e-6)


def test_preprocess_a_high_photo(impl):
    image = np.zeros((8, 2, 3), np.uint8)
    image[:, :, 2] = np.arange(0, 240, 30, np.uint8)[:, None]
    wanted = np.zeros((1, 3, 1, 1), np.float32)
    wanted[0, 2] = 75 / 255 / 0.5
    calling(impl.preprocess, image, 1, 1, (0, 0, 0), (1, 1, 0.5)).gives(wanted, tolerance=1e-6)


def test_preprocess_cuts_off_what_is_behind_the_point(impl):
    image = np.arange(0, 250, 50, np.uint8)[None, :, None] + np.zeros((3, 1, 3), np.uint8)
    wanted = np.full((1, 3, 2, 2), 100 / 255, np.float32)
    wanted[..., 0] = 50 / 3 / 255
    calling(impl.preprocess, image, 2, 2, (0, 0, 0), (1, 1, 1)).gives(wanted, tolerance=1e-6)


def test_preprocess_does_not_round_up(impl):
    image = np.arange(0, 250, 50, np.uint8)[:, None, None] + np.zeros((1, 3, 3), np.uint8)
    wanted = np.full((1, 3, 1, 1), 100 / 255, np.float32)  # 5 / 3 is 1.67, so 1
    calling(impl.preprocess, image, 1, 1, (0, 0, 0), (1, 1, 1)).gives(wanted, tolerance=1e-6)
    wide = np.ascontiguousarray(image.transpose(1, 0, 2))
    calling(impl.preprocess, wide, 1, 1, (0, 0, 0), (1, 1, 1)).gives(wanted, tolerance=1e-6)


@pytest.mark.parametrize("size", [49, 98, 103, 107])
def test_preprocess_keeps_whole_proportions(impl, size):
    """The shorter side is 1, and the longer one exactly 3: the middle is a third of the picture."""
    image = np.zeros((size, 3 * size, 3), np.uint8)
    image[:, size : 2 * size] = 51
    calling(impl.preprocess, image, 1, 1, (0, 0, 0), (1, 1, 1)).gives(
        np.full((1, 3, 1, 1), 0.2, np.float32), tolerance=1e-6
    )


def test_preprocess_at_the_size_it_has(impl):
    """7 * (61 / 7) is 60.99999999999999 in floats; nothing has to be resized here."""
    image = picture(7, 61, 3)
    wanted = image[:, 27:34].transpose(2, 0, 1)[None].astype(np.float32) / np.float32(255)
    calling(impl.preprocess, image, 7, 7, (0, 0, 0), (1, 1, 1)).gives(np.ascontiguousarray(wanted), tolerance=1e-6)


def test_preprocess_of_a_square(impl):
    image = picture(6, 6, 3)
    calling(impl.preprocess, image, 6, 6, (0, 0, 0), (1, 1, 1)).gives(
        np.ascontiguousarray(image.transpose(2, 0, 1)[None]).astype(np.float32) / np.float32(255), tolerance=1e-6
    )


def test_preprocess_crop_larger_than_the_picture(impl):
    calling(impl.preprocess, np.zeros((4, 8, 3), np.uint8), 2, 3, (0, 0, 0), (1, 1, 1)).raises(ValueError, "2x4")

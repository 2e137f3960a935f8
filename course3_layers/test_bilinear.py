"""Exercise 3.12. What PyTorch answers stands in data/bilinear.json."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from kuiper.course import calling
from kuiper.course.properties import given, st

STORED = json.loads(Path(__file__).parent.joinpath("data", "bilinear.json").read_text(encoding="utf-8"))["cases"]


def tables(impl, length, new_length, align_corners):
    """What the student's function writes over old numbers, without the rounding of the last digit."""
    before, after = np.full(new_length, 99, np.intp), np.full(new_length, 99, np.intp)
    fraction = np.full(new_length, 99, np.float32)
    impl.places(length, align_corners, before, after, fraction)
    return before.tolist(), after.tolist(), fraction.astype(np.float64).round(4).tolist()


def resampled(impl, x, size, align_corners):
    """The images at another size, written over old numbers."""
    out = np.full((*x.shape[:2], *size), 99, np.float32)
    impl.resample(x, out, align_corners)
    return out


def image(*rows):
    return np.array(rows, np.float32)[None, None]


def test_places_half_pixel_twice_as_many(impl):
    calling(tables, impl, 3, 6, False).gives(
        ([0, 0, 0, 1, 1, 2], [1, 1, 1, 2, 2, 2], [0.0, 0.25, 0.75, 0.25, 0.75, 0.25])
    )


def test_places_half_pixel_half_as_many(impl):
    """Each new pixel lies in the middle between two old ones."""
    calling(tables, impl, 6, 3, False).gives(([0, 2, 4], [1, 3, 5], [0.5, 0.5, 0.5]))


def test_places_half_pixel_of_a_third(impl):
    calling(tables, impl, 9, 3, False).gives(([1, 4, 7], [2, 5, 8], [0.0, 0.0, 0.0]))


def test_places_half_pixel_not_a_whole_factor(impl):
    """5 pixels become 4: places 0.125, 1.375, 2.625 and 3.875."""
    calling(tables, impl, 5, 4, False).gives(([0, 1, 2, 3], [1, 2, 3, 4], [0.125, 0.375, 0.625, 0.875]))


def test_places_half_pixel_to_one(impl):
    calling(tables, impl, 5, 1, False).gives(([2], [3], [0.0]))
    calling(tables, impl, 4, 1, False).gives(([1], [2], [0.5]))


def test_places_half_pixel_not_before_the_first(impl):
    """The places of a pixel that becomes four would be -0.375, -0.125, 0.125 and 0.375."""
    calling(tables, impl, 1, 4, False).gives(([0, 0, 0, 0], [0, 0, 0, 0], [0.0, 0.0, 0.125, 0.375]))


def test_places_corners(impl):
    calling(tables, impl, 3, 5, True).gives(([0, 0, 1, 1, 2], [1, 1, 2, 2, 2], [0.0, 0.5, 0.0, 0.5, 0.0]))


def test_places_corners_twice_as_many(impl):
    calling(tables, impl, 3, 6, True).gives(([0, 0, 0, 1, 1, 2], [1, 1, 1, 2, 2, 2], [0.0, 0.4, 0.8, 0.2, 0.6, 0.0]))


def test_places_corners_fewer(impl):
    """7 pixels become 3: the first, the one in the middle, the last."""
    calling(tables, impl, 7, 3, True).gives(([0, 3, 6], [1, 4, 6], [0.0, 0.0, 0.0]))
    calling(tables, impl, 6, 3, True).gives(([0, 2, 5], [1, 3, 5], [0.0, 0.5, 0.0]))


def test_places_corners_to_one(impl):
    """One new pixel lies on the first old one; nothing may be divided by 0."""
    calling(tables, impl, 5, 1, True).gives(([0], [1], [0.0]))


def test_places_corners_from_one(impl):
    calling(tables, impl, 1, 3, True).gives(([0, 0, 0], [0, 0, 0], [0.0, 0.0, 0.0]))


@pytest.mark.parametrize("align_corners", [True, False])
def test_places_of_the_same_length(impl, align_corners):
    calling(tables, impl, 4, 4, align_corners).gives(([0, 1, 2, 3], [1, 2, 3, 3], [0.0] * 4))


def test_places_whole_ones_are_met_exactly(impl):
    """49 pixels become 49 * 3: each third new pixel lies on an old one; length / new_length is no exact number."""
    before = [place for i in range(49) for place in (max(i - 1, 0), i, i)]
    fractions = [part for i in range(49) for part in (0.6667 if i else 0.0, 0.0, 0.3333)]
    calling(tables, impl, 49, 147, False).gives((before, [min(place + 1, 48) for place in before], fractions))


def test_places_corners_whole_ones_are_met_exactly(impl):
    """50 pixels become 148: again each third new pixel lies on an old one."""
    before = [i // 3 for i in range(148)]
    fractions = [(0.0, 0.3333, 0.6667)[i % 3] for i in range(148)]
    calling(tables, impl, 50, 148, True).gives((before, [min(place + 1, 49) for place in before], fractions))


def test_places_corners_the_last_is_met_exactly(impl):
    """2 pixels become 50: 49 times the float64 that is nearest to 1 / 49 is less than 1."""
    fractions = [round(i / 49, 4) for i in range(49)]
    calling(tables, impl, 2, 50, True).gives(([0] * 49 + [1], [1] * 50, [*fractions, 0.0]), tolerance=2e-4)


def test_resample_corners(impl):
    calling(resampled, impl, image([0, 10], [100, 150]), (3, 3), True).gives(
        image([0, 5, 10], [50, 65, 80], [100, 125, 150]), tolerance=1e-6
    )


def test_resample_half_pixel(impl):
    calling(resampled, impl, image([0, 16], [64, 16]), (4, 4), False).gives(
        image([0, 4, 12, 16], [16, 16, 16, 16], [48, 40, 24, 16], [64, 52, 28, 16]), tolerance=1e-6
    )


def test_resample_along_one_row(impl):
    calling(resampled, impl, image([10, 20, 60]), (1, 6), False).gives(
        image([10, 12.5, 17.5, 30, 50, 60]), tolerance=1e-6
    )


def test_resample_along_one_column(impl):
    calling(resampled, impl, image([10], [20], [60]), (5, 1), True).gives(
        image([10], [15], [20], [40], [60]), tolerance=1e-6
    )


def test_resample_each_axis_by_its_own_factor(impl):
    """Two rows become one, three columns become five."""
    calling(resampled, impl, image([0, 10, 30], [100, 50, 70]), (1, 5), True).gives(
        image([0, 5, 10, 20, 30]), tolerance=1e-6
    )
    calling(resampled, impl, image([0, 10, 30], [100, 50, 70]), (1, 6), False).gives(
        image([50, 45, 35, 35, 45, 50]), tolerance=1e-6
    )


@pytest.mark.parametrize("align_corners", [True, False])
def test_resample_images_and_channels(impl, align_corners):
    """Two images of three channels: each channel is the first one times another number."""
    factors = np.float32([[1, 10, 100], [-2, 5, 0]])[:, :, None, None]
    one = image([0, 6, 3], [12, 18, 3])
    wanted = (
        image([0, 4, 5, 3], [6, 10, 9, 3], [12, 16, 13, 3])
        if align_corners
        else image([0, 3.75, 4.875, 3], [6, 9.75, 8.625, 3], [12, 15.75, 12.375, 3])
    )
    calling(resampled, impl, one * factors, (3, 4), align_corners).gives(wanted * factors, tolerance=1e-5)


@pytest.mark.parametrize("align_corners", [True, False])
def test_resample_to_the_same_size(impl, align_corners):
    x = np.arange(24, dtype=np.float32).reshape(1, 2, 3, 4)
    calling(resampled, impl, x, (3, 4), align_corners).gives(x)


@pytest.mark.parametrize("align_corners", [True, False])
def test_resample_a_view(impl, align_corners):
    """Channels last in memory, as a photo lies."""
    x = np.moveaxis(np.float32([[[[1, 10], [3, 30]], [[5, 50], [7, 70]]]]), 3, 1)
    wanted = np.float32([[[[3, 5]], [[30, 50]]]]) if not align_corners else np.float32([[[[1, 3]], [[10, 30]]]])
    calling(resampled, impl, x, (1, 2), align_corners).gives(wanted, tolerance=1e-6)


def part_of_a_larger_result(impl, x):
    """The middle of a larger array is filled; what lies around it stays as it was."""
    out = np.full((1, 1, 4, 5), 99, np.float32)
    impl.resample(x, out[:, :, 1:3, 1:4], True)
    return out


def test_resample_into_a_part(impl):
    wanted = np.full((1, 1, 4, 5), 99, np.float32)
    wanted[0, 0, 1:3, 1:4] = [[1, 2, 3], [5, 6, 7]]
    calling(part_of_a_larger_result, impl, image([1, 3], [5, 7])).gives(wanted)


@pytest.mark.parametrize("align_corners", [True, False])
@pytest.mark.parametrize("name", STORED)
def test_resample_as_in_pytorch(impl, name, align_corners):
    case = STORED[name]
    calling(resampled, impl, np.float32(case["x"]), tuple(case["size"]), align_corners).gives(
        np.float32(case["answers"][str(align_corners)]), tolerance=2e-6
    )


@given(h=st.integers(1, 9), w=st.integers(1, 9), new_h=st.integers(1, 12), new_w=st.integers(1, 12))
def test_resample_keeps_a_slope_between_the_corners(impl, h, w, new_h, new_w):
    """Pixels that grow evenly still do so, and the corners keep their numbers."""
    x = (np.arange(h)[:, None] * 10 + np.arange(w)).astype(np.float32)[None, None]
    rows, columns = (np.linspace(0, old - 1 if new > 1 else 0, new) for old, new in ((h, new_h), (w, new_w)))
    wanted = (rows[:, None] * 10 + columns).astype(np.float32)[None, None]
    calling(resampled, impl, x, (new_h, new_w), True).gives(wanted, tolerance=1e-5)


def speed(impl):
    """Not a test: what the report says of the speed when all tests pass."""
    from kuiper.machine.stopwatch import best_seconds

    x = np.random.default_rng(1).random((1, 8, 64, 64), np.float32)
    out = np.empty((1, 8, 128, 128), np.float32)
    return best_seconds(lambda: impl.resample(x, out, False)), out.size, "pixels"

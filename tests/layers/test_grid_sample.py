from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from kuiper.errors import DataTypeError, ParameterError, ShapeError, UnsupportedOperatorError
from kuiper.layers.grid_taps import Sampling
from kuiper.layers.operators.grid_sample import grid_sample
from kuiper.layers.reference.grid_sample import naive_grid_sample
from kuiper.threads import get_num_threads, set_num_threads
from tests.layers.one_operator import layer, run
from tests.layers.wired_operator import run_wired

IMAGE = np.float32([[[[1, 2, 4], [8, 6, 5]]]])
MODES, PADDINGS = ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")


def at(*points: tuple[float, float]) -> np.ndarray:
    """A grid of one row."""
    return np.float32([[points]])


def read(
    image: np.ndarray, grid: np.ndarray, mode: str = "bilinear", padding: str = "zeros", aligned: bool = True
) -> list[float]:
    params = {"mode": mode, "padding_mode": padding, "align_corners": aligned}
    out: list[float] = run("F.grid_sample", image, grid, **params).reshape(-1).tolist()
    return out


def test_corners_and_the_middle() -> None:
    assert read(IMAGE, at((-1, -1), (1, -1), (-1, 1), (1, 1), (0, 0), (0.5, -1))) == [1, 4, 8, 5, 4, 3]


def test_without_aligned_corners_the_border_lies_outside_of_the_pixels() -> None:
    assert read(IMAGE, at((-1, -1), (-2 / 3, -0.5), (0, -0.5)), aligned=False) == [0.25, 1, 2]


def test_nearest_goes_to_the_even_pixel_of_two() -> None:
    row = np.float32([[[[1, 2, 4, 8, 16]]]])
    assert read(row, at((-0.75, 0), (-0.25, 0), (0.25, 0), (0.3, 0)), "nearest") == [1, 4, 4, 8]


@pytest.mark.parametrize(
    ("padding", "aligned", "expected"),
    [
        ("zeros", True, [0, 0, 0]),
        ("border", True, [1, 4, 4]),
        ("reflection", True, [2, 2, 1]),  # 4 2 [1 2 4] 2 1
        ("reflection", False, [1, 4, 2]),  # 2 1 [1 2 4] 4 2
    ],
)
def test_one_and_two_pixels_outside_of_the_image(padding: str, aligned: bool, expected: list[float]) -> None:
    places = (-1, 3, 4)
    points = [(place - 1 if aligned else (2 * place + 1) / 3 - 1, 0) for place in places]
    assert read(np.float32([[[[1, 2, 4]]]]), at(*points), "nearest", padding, aligned) == expected


def test_a_pixel_outside_does_not_turn_infinity_into_nan() -> None:
    image = np.float32([[[[np.inf, 1, 2]]]])
    assert read(image, at((-1.5, 0), (1.5, 0))) == [math.inf, 1]
    assert read(np.float32([[[[1, 2, np.inf]]]]), at((-1, 0))) == [1]


def test_points_that_are_no_numbers_give_nan_between_zeros_and_a_pixel_otherwise() -> None:
    grid = at((np.nan, 0), (np.inf, 0))
    with np.errstate(invalid="ignore"):
        assert np.isnan(read(IMAGE, grid)).all()
    assert read(IMAGE, grid, "nearest") == [0, 0]
    assert read(IMAGE, grid, padding="border") == [4.5, 4.5]


@pytest.mark.parametrize(("mode", "padding", "aligned"), [*itertools.product(MODES, PADDINGS, (False, True))])
def test_images_equal_the_naive_twin(mode: str, padding: str, aligned: bool) -> None:
    random = np.random.default_rng(0)
    sampling = Sampling(mode, padding, aligned)
    for c, h, w, points in ((1, 1, 1, 1), (3, 4, 7, 63), (2, 5, 3, 64), (5, 2, 2, 131)):
        image = random.standard_normal((2, c, h, w), np.float32)
        grid = random.standard_normal((2, 1, points, 2), np.float32)
        expected = naive_grid_sample(image, grid, mode, padding, aligned)
        np.testing.assert_allclose(grid_sample(image, grid, sampling), expected, atol=2e-5)


@pytest.mark.parametrize(("mode", "padding"), [*itertools.product(MODES[:2], PADDINGS)])
def test_volumes_equal_the_naive_twin(mode: str, padding: str) -> None:
    random = np.random.default_rng(1)
    volume, grid = (
        random.standard_normal((1, 2, 3, 4, 5), np.float32),
        random.standard_normal((1, 2, 3, 7, 3), np.float32),
    )
    expected = naive_grid_sample(volume, grid, mode, padding, False)
    np.testing.assert_allclose(grid_sample(volume, grid, Sampling(mode, padding, False)), expected, atol=2e-5)


def test_any_number_of_threads_gives_the_same_bits() -> None:
    random = np.random.default_rng(2)
    image, grid = random.standard_normal((1, 3, 20, 30), np.float32), random.standard_normal((1, 80, 90, 2), np.float32)
    sampling, before = Sampling("bicubic", "reflection", False), get_num_threads()
    set_num_threads(1)
    one = grid_sample(image, grid, sampling)
    set_num_threads(5)
    five = grid_sample(image, grid, sampling)
    set_num_threads(before)
    np.testing.assert_array_equal(one, five)


def test_no_images_and_no_points_give_nothing() -> None:
    assert grid_sample(IMAGE[:0], at((0, 0))[:0], Sampling("bilinear", "zeros", True)).shape == (0, 1, 1, 1)
    assert grid_sample(IMAGE, np.zeros((1, 0, 4, 2), np.float32), Sampling("nearest", "border", True)).shape == (
        1,
        1,
        0,
        4,
    )


def test_inputs_that_do_not_fit_are_refused() -> None:
    with pytest.raises(
        ShapeError, match=r"F.grid_sample 'it': expected grid \(1, out_h, out_w, 2\), got \(2, 1, 1, 2\)"
    ):
        run("F.grid_sample", IMAGE, np.zeros((2, 1, 1, 2), np.float32))
    with pytest.raises(ShapeError, match=r"expected grid \(1, out_d, out_h, out_w, 3\), got"):
        run("F.grid_sample", IMAGE[:, :, None], at((0, 0)))
    with pytest.raises(
        ShapeError, match=r"expected input \(n, c, h, w\) or \(n, c, d, h, w\) with pixels, got \(1, 1, 0, 3\)"
    ):
        run("F.grid_sample", IMAGE[:, :, :0], at((0, 0)))
    with pytest.raises(DataTypeError, match=r"expected float32 input and grid, got float32 and float64"):
        run("F.grid_sample", IMAGE, at((0, 0)).astype(np.float64))


def test_modes_that_torch_lacks_are_refused() -> None:
    with pytest.raises(UnsupportedOperatorError, match=r"expected mode bilinear, nearest, bicubic, got sinc"):
        layer("F.grid_sample", mode="sinc")
    with pytest.raises(UnsupportedOperatorError, match=r"expected padding_mode zeros, border, reflection, got wrap"):
        layer("F.grid_sample", padding_mode="wrap")
    with pytest.raises(UnsupportedOperatorError, match=r"expected mode bilinear or nearest for volumes, got bicubic"):
        run("F.grid_sample", IMAGE[:, :, None], np.zeros((1, 1, 1, 1, 3), np.float32), mode="bicubic")


def test_affine_grid_of_the_identity() -> None:
    theta = np.float32([[[1, 0, 0], [0, 1, 0]]])
    aligned = run("F.affine_grid", theta, size=[1, 1, 2, 3], align_corners=True)
    assert aligned[0, :, :, 0].tolist() == [[-1, 0, 1]] * 2
    assert aligned[0, :, :, 1].tolist() == [[-1] * 3, [1] * 3]
    inside = run("F.affine_grid", theta, size=[1, 1, 2, 4])
    assert inside[0, 0].tolist() == [[-0.75, -0.5], [-0.25, -0.5], [0.25, -0.5], [0.75, -0.5]]


def test_affine_grid_in_the_spelling_of_onnx() -> None:
    theta = np.float32([[[0, 2, 0.5], [1, 0, 0]]])
    got = run_wired("AffineGrid", theta, np.array([1, 1, 2, 2]), align_corners=1)
    assert got[0].tolist() == [[[-1.5, -1], [-1.5, 1]], [[2.5, -1], [2.5, 1]]]


def test_affine_grid_refuses_what_does_not_fit() -> None:
    with pytest.raises(ShapeError, match=r"F.affine_grid 'it': expected theta \(n, 3, 4\), got \(1, 2, 3\)"):
        run("F.affine_grid", np.zeros((1, 2, 3), np.float32), size=[1, 1, 2, 2, 2])
    with pytest.raises(ParameterError, match=r"expected size \(n, c, h, w\) or \(n, c, d, h, w\), got \(1, 2, 2\)"):
        layer("F.affine_grid", size=[1, 2, 2])

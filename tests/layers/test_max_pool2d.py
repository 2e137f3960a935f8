import itertools

import numpy as np
import pytest

from kuiper.errors import DataTypeError, ParameterError, ShapeError
from kuiper.layers.operators.max_pool2d import max_pool2d, max_pool2d_with_indices
from kuiper.layers.reference import max_pooling
from kuiper.layers.window import Window
from kuiper.threads import get_num_threads, set_num_threads
from tests.layers.one_operator import layer, run

X = np.float32([[[-7, -3, -9, -4], [-8, -5, -6, -1], [-2, -9, -4, -3]]])
INF = float("inf")
NAN = float("nan")


def test_max_pool2d_of_negative_numbers() -> None:
    out = run("nn.MaxPool2d", X, kernel_size=2, stride=[1, 2])
    np.testing.assert_array_equal(out, [[[-3, -1], [-2, -1]]])


def test_max_pool2d_padding_never_wins() -> None:
    out = run("nn.MaxPool2d", X, kernel_size=[2, 2], stride=[2, 2], padding=[1, 1])
    np.testing.assert_array_equal(out, [[[-7, -3, -4], [-2, -4, -1]]])


def test_max_pool2d_dilation_skips_pixels() -> None:
    out = run("nn.MaxPool2d", X, kernel_size=[2, 2], stride=[1, 1], dilation=[2, 3])
    np.testing.assert_array_equal(out, [[[-2]]])


def test_max_pool2d_ceil_mode_keeps_the_rest() -> None:
    out = run("F.max_pool2d", X, kernel_size=[2, 3], ceil_mode=True)
    np.testing.assert_array_equal(out, [[[-3, -1], [-2, -3]]])


def test_max_pool2d_indices_are_places_in_the_plane() -> None:
    values, indices = run("nn.MaxPool2d", np.stack([X, X]), kernel_size=2, stride=1, return_indices=True)
    np.testing.assert_array_equal(values[1], [[[-3, -3, -1], [-2, -4, -1]]])
    np.testing.assert_array_equal(indices[1], [[[1, 1, 7], [8, 10, 7]]])
    assert indices.dtype == np.int64


def test_max_pool2d_ties_take_the_first_index() -> None:
    x = np.float32([[[2, 5, 5], [5, 1, 5]]])
    assert run("nn.MaxPool2d", x, kernel_size=2, stride=1, return_indices=True)[1].tolist() == [[[1, 1]]]


def test_max_pool2d_passes_nan_and_infinity_on() -> None:
    x = np.float32([[[1, NAN, 3, -INF, -INF], [NAN, 5, 6, -INF, -INF]]])
    values, indices = run("nn.MaxPool2d", x, kernel_size=2, stride=1, return_indices=True)
    np.testing.assert_array_equal(values, [[[NAN, NAN, 6, -INF]]])
    np.testing.assert_array_equal(indices, [[[5, 1, 7, 3]]])  # of NaNs the last, as in torch
    np.testing.assert_array_equal(run("nn.MaxPool2d", x, kernel_size=2, stride=1), values)


def test_max_pool2d_window_that_misses_the_image_is_minus_infinity() -> None:
    x = np.ones((1, 1, 1), np.float32)
    assert run("nn.MaxPool2d", x, kernel_size=2, stride=1, padding=1, dilation=2).tolist() == [[[-INF]]]


def test_max_pool2d_of_an_empty_batch_is_empty() -> None:
    values, indices = run("nn.MaxPool2d", np.zeros((0, 3, 5, 4), np.float32), kernel_size=2, return_indices=True)
    assert values.shape == indices.shape == (0, 3, 2, 2)


def test_max_pool2d_does_not_care_for_memory_order() -> None:
    x = np.random.default_rng(0).standard_normal((2, 5, 7, 3), np.float32).transpose(0, 3, 1, 2)
    window = Window((3, 3), (2, 2), (1, 1))
    np.testing.assert_array_equal(max_pool2d(x, window), max_pool2d(x.copy(), window))


@pytest.mark.parametrize("size", [(1, 1), (2, 8), (7, 13), (13, 17), (16, 33)])
@pytest.mark.parametrize("ceil_mode", [False, True])
def test_max_pool2d_kernel_equals_its_reference(size: tuple[int, int], ceil_mode: bool) -> None:
    x = np.random.default_rng(size[1]).integers(-9, 9, (2, *size)).astype(np.float32)
    x[np.random.default_rng(1).random(x.shape) < 0.05] = NAN
    for kernel, stride, dilation in itertools.product(
        [(1, 1), (2, 5), (4, 3)], [(1, 1), (2, 2), (1, 3)], [(1, 1), (2, 3)]
    ):
        for padding in {(0, 0), (kernel[0] // 2, kernel[1] // 2)}:
            window = Window(kernel, stride, padding, (), dilation, ceil_mode)
            if any(size[i] + 2 * padding[i] <= dilation[i] * (kernel[i] - 1) for i in (0, 1)):
                continue
            values, indices = max_pooling.max_pool(x, window)
            np.testing.assert_array_equal(max_pool2d(x, window), values, err_msg=str(window))
            found = max_pool2d_with_indices(x, window)
            seen = indices >= 0  # a window that misses the image has no index
            np.testing.assert_array_equal(found[0], values, err_msg=str(window))
            np.testing.assert_array_equal(found[1][seen], indices[seen], err_msg=str(window))


def test_max_pool2d_is_the_same_for_any_number_of_threads() -> None:
    x = np.random.default_rng(0).standard_normal((3, 7, 40, 41), np.float32)
    before, results = get_num_threads(), []
    try:
        for n in (1, 2, 5):
            set_num_threads(n)
            results.append(max_pool2d(x, Window((3, 3), (1, 1), (1, 1))))
    finally:
        set_num_threads(before)
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])


def test_max_pool2d_flops_count_the_window() -> None:
    assert layer("nn.MaxPool2d", kernel_size=[2, 3]).flops([(1, 2, 4, 6)], [(1, 2, 2, 2)]) == 8 * 6


def test_max_pool2d_errors_name_the_operator() -> None:
    with pytest.raises(ShapeError, match=r"^nn.MaxPool2d 'it': expected input of at least 3x3, got 2x5$"):
        run("nn.MaxPool2d", np.zeros((1, 2, 5), np.float32), kernel_size=3)
    with pytest.raises(
        ShapeError, match=r"^nn.MaxPool2d 'it': expected input \(n, c, h, w\) or \(c, h, w\), got \(2, 5\)$"
    ):
        run("nn.MaxPool2d", np.zeros((2, 5), np.float32), kernel_size=3)
    with pytest.raises(DataTypeError, match=r"^nn.MaxPool2d 'it': expected float32 input, got float64$"):
        run("nn.MaxPool2d", np.zeros((1, 2, 5)), kernel_size=1)
    with pytest.raises(ParameterError, match=r"^nn.MaxPool2d 'it': expected padding of at most half the kernel"):
        layer("nn.MaxPool2d", kernel_size=3, padding=2)
    with pytest.raises(ParameterError, match=r"^nn.MaxPool2d 'it': expected a parameter 'kernel_size'"):
        layer("nn.MaxPool2d")

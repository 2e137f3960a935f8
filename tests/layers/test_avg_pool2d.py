import itertools

import numpy as np
import pytest

from kuiper.errors import ParameterError, ShapeError, UnsupportedOperatorError
from kuiper.layers.operators.avg_pool2d import avg_pool2d
from kuiper.layers.reference import average_pooling
from kuiper.layers.window import Window
from tests.layers.one_operator import layer, run

X = np.float32([[[2, 4, 6, 9], [8, 6, 4, 3], [1, 3, 5, 7]]])


def test_avg_pool2d_is_the_mean_of_each_window() -> None:
    np.testing.assert_array_equal(run("nn.AvgPool2d", X, kernel_size=[2, 2]), [[[5, 5.5]]])
    np.testing.assert_array_equal(
        run("nn.AvgPool2d", X, kernel_size=[3, 1], stride=[1, 2]), np.float32([[[11 / 3, 5]]])
    )


def test_avg_pool2d_counts_the_padding_or_not() -> None:
    settings = {"kernel_size": [2, 2], "stride": [2, 3], "padding": [1, 1]}
    np.testing.assert_array_equal(run("F.avg_pool2d", X, **settings), [[[0.5, 3.75], [2.25, 4.75]]])
    out = run("F.avg_pool2d", X, **settings, count_include_pad=False)
    np.testing.assert_array_equal(out, [[[2, 7.5], [4.5, 4.75]]])


def test_avg_pool2d_does_not_count_what_sticks_out_in_ceil_mode() -> None:
    x = np.float32([[[1, 2, 3, 4]]])
    settings = {"kernel_size": [1, 3], "stride": [1, 3], "padding": [0, 1], "ceil_mode": True}
    # windows: padding 1 2 | 3 4 padding
    np.testing.assert_allclose(run("F.avg_pool2d", x, **settings), [[[1, 7 / 3]]], rtol=1e-6)
    # windows: 1 2 3 | 4 and two that stick out
    np.testing.assert_array_equal(run("F.avg_pool2d", x, **{**settings, "padding": 0}), [[[2, 4]]])


def test_avg_pool2d_divisor_override_replaces_every_count() -> None:
    out = run("F.avg_pool2d", X, kernel_size=2, padding=1, stride=[2, 3], count_include_pad=False, divisor_override=-4)
    np.testing.assert_array_equal(out, [[[-0.5, -3.75], [-2.25, -4.75]]])


def test_avg_pool2d_passes_nan_and_infinity_on() -> None:
    x = np.float32([[[1, np.inf, 2, np.nan, 3, 4], [5, 6, -np.inf, 7, 8, 9]]])
    np.testing.assert_array_equal(
        run("nn.AvgPool2d", x, kernel_size=2, stride=1), [[[np.inf, np.nan, np.nan, np.nan, 6]]]
    )


def test_avg_pool2d_of_an_empty_batch_is_empty() -> None:
    assert run("nn.AvgPool2d", np.zeros((0, 3, 5, 4), np.float32), kernel_size=2).shape == (0, 3, 2, 2)


@pytest.mark.parametrize("size", [(1, 1), (2, 8), (7, 13), (13, 17), (16, 33)])
@pytest.mark.parametrize("ceil_mode", [False, True])
@pytest.mark.parametrize(("include", "divisor"), [(True, None), (False, None), (True, 7)])
def test_avg_pool2d_kernel_equals_its_reference(
    size: tuple[int, int], ceil_mode: bool, include: bool, divisor: int | None
) -> None:
    x = np.random.default_rng(size[1]).standard_normal((2, *size), np.float32)
    for kernel, stride in itertools.product([(1, 1), (2, 5), (4, 3)], [(1, 1), (2, 2), (1, 3)]):
        for padding in {(0, 0), (kernel[0] // 2, kernel[1] // 2)}:
            if any(size[i] + 2 * padding[i] < kernel[i] for i in (0, 1)):
                continue
            window = Window(kernel, stride, padding, ceil_mode=ceil_mode)
            expected = average_pooling.average_pool(x, window, include, divisor)
            np.testing.assert_allclose(
                avg_pool2d(x, window, include, divisor), expected, rtol=0, atol=2e-6, err_msg=str(window)
            )


def test_avg_pool2d_flops_count_the_window() -> None:
    assert layer("nn.AvgPool2d", kernel_size=[2, 3]).flops([(1, 2, 4, 6)], [(1, 2, 2, 2)]) == 8 * 6


def test_avg_pool2d_errors_name_the_operator() -> None:
    with pytest.raises(ParameterError, match=r"^F.avg_pool2d 'it': expected a divisor_override other than 0, got 0$"):
        layer("F.avg_pool2d", kernel_size=2, divisor_override=0)
    with pytest.raises(ShapeError, match=r"^F.avg_pool2d 'it': expected input of at least 4x4, got 3x4$"):
        run("F.avg_pool2d", X, kernel_size=4)


def test_avg_pool2d_refuses_a_dilated_window() -> None:
    with pytest.raises(UnsupportedOperatorError, match=r"nn\.AvgPool2d 'it': expected dilation 1, got \(2, 2\)"):
        run("nn.AvgPool2d", np.ones((1, 1, 6, 6), np.float32), kernel_size=2, dilation=2)

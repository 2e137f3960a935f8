import numpy as np
import pytest

from kuiper.errors import ParameterError, ShapeError
from kuiper.layers.operators.adaptive_avg_pool2d import adaptive_avg_pool2d
from kuiper.layers.reference import adaptive_pooling
from tests.layers.one_operator import layer, run

X = np.float32([[[1, 2, 3, 4, 5], [7, 6, 9, 8, 0], [2, 4, 6, 8, 1]]])


def test_adaptive_avg_pool2d_windows_overlap_by_one() -> None:
    # rows 0..2 and 1..3, columns 0..3 and 2..5
    out = run("nn.AdaptiveAvgPool2d", X, output_size=[2, 2])
    np.testing.assert_allclose(out, np.float32([[[28 / 6, 29 / 6], [34 / 6, 32 / 6]]]), rtol=1e-6)


@pytest.mark.parametrize("output_size", [[0, 1], [None, 1]])
def test_adaptive_avg_pool2d_none_keeps_the_size(output_size: list[int | None]) -> None:
    out = run("F.adaptive_avg_pool2d", X, output_size=output_size)
    np.testing.assert_allclose(out, np.float32([[[3], [6], [4.2]]]), rtol=1e-6)


def test_adaptive_avg_pool2d_one_number_stands_for_both() -> None:
    assert run("nn.AdaptiveAvgPool2d", X, output_size=4).shape == (1, 4, 4)
    assert run("nn.AdaptiveAvgPool2d", X, output_size=None).tolist() == X.tolist()


def test_adaptive_avg_pool2d_can_enlarge() -> None:
    out = run("nn.AdaptiveAvgPool2d", np.float32([[[1, 5]]]), output_size=[2, 3])
    np.testing.assert_array_equal(out, [[[1, 3, 5], [1, 3, 5]]])


def test_adaptive_avg_pool2d_global_mean_is_as_exact_as_float64() -> None:
    x = (np.random.default_rng(0).random((2, 3, 113, 127), np.float32) + 1000).astype(np.float32)
    out = run("nn.AdaptiveAvgPool2d", x, output_size=1)
    np.testing.assert_array_equal(out[..., 0, 0], x.mean((2, 3), dtype=np.float64).astype(np.float32))


@pytest.mark.parametrize("size", [(1, 1), (2, 8), (7, 13), (17, 33)])
@pytest.mark.parametrize("output_size", [(1, 1), (2, 3), (7, 8), (13, 1), (20, 40)])
def test_adaptive_avg_pool2d_kernel_equals_its_reference(size: tuple[int, int], output_size: tuple[int, int]) -> None:
    x = np.random.default_rng(size[1]).standard_normal((3, *size), np.float32)
    expected = adaptive_pooling.adaptive_average(x, output_size)
    np.testing.assert_allclose(adaptive_avg_pool2d(x, output_size), expected, rtol=0, atol=1e-6)


def test_adaptive_avg_pool2d_passes_nan_and_infinity_on() -> None:
    x = np.float32([[[1, np.inf, 2, np.nan], [3, -np.inf, 4, 5], [np.inf, 1, 2, 6]]])
    out = run("nn.AdaptiveAvgPool2d", x, output_size=[3, 2])
    np.testing.assert_array_equal(out, [[[np.inf, np.nan], [-np.inf, 4.5], [np.inf, 4]]])


def test_adaptive_avg_pool2d_of_an_empty_batch_is_empty() -> None:
    assert run("nn.AdaptiveAvgPool2d", np.zeros((0, 3, 5, 4), np.float32), output_size=1).shape == (0, 3, 1, 1)


def test_adaptive_avg_pool2d_flops_count_every_pixel_once() -> None:
    assert layer("nn.AdaptiveAvgPool2d", output_size=1).flops([(1, 2, 4, 6)], [(1, 2, 1, 1)]) == 48


@pytest.mark.parametrize("output_size", [[1, 2, 3], [-1, 2], 1.5, []])
def test_adaptive_avg_pool2d_checks_the_output_size(output_size: object) -> None:
    with pytest.raises(ParameterError, match=r"^nn.AdaptiveAvgPool2d 'it': expected output_size=one or two numbers"):
        layer("nn.AdaptiveAvgPool2d", output_size=output_size)


def test_adaptive_avg_pool2d_needs_pixels() -> None:
    with pytest.raises(ShapeError, match=r"expected input with h >= 1 and w >= 1, got \(1, 0, 4\)$"):
        run("nn.AdaptiveAvgPool2d", np.zeros((1, 0, 4), np.float32), output_size=1)

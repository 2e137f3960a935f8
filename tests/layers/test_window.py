import numpy as np
import pytest

from kuiper.errors import ParameterError, ShapeError
from kuiper.layers import registry
from kuiper.layers.window import Window, read_pooling_window
from tests.layers.one_operator import operator


def test_output_size_rounds_down_or_up() -> None:
    assert Window((2, 3), (2, 2)).output_size((5, 8)) == (2, 3)
    assert Window((2, 3), (2, 2), ceil_mode=True).output_size((5, 8)) == (3, 4)


def test_output_size_lets_the_only_window_reach_beyond_the_end() -> None:
    assert Window((3, 3), (2, 2), ceil_mode=True).output_size((2, 2)) == (1, 1)
    x = np.float32([[[[1, 2], [3, 4]]]])
    settings = {"kernel_size": 3, "stride": 2, "ceil_mode": True}
    for kind, expected in (("nn.AvgPool2d", 2.5), ("nn.MaxPool2d", 4.0)):  # as torch computes them
        layer = registry.create(operator(kind, **settings))
        np.testing.assert_array_equal(layer.forward(x), [[[[expected]]]])


def test_output_size_drops_a_last_window_that_starts_in_the_right_padding() -> None:
    # 6 pixels and 1 of padding on each side: windows start at -1, 2 and 5; for 4 pixels the third would start at 5
    assert Window((2, 2), (3, 3), (1, 1), ceil_mode=True).output_size((6, 4)) == (3, 2)


def test_output_size_counts_dilation() -> None:
    assert Window((3, 2), (1, 1), (1, 0), dilation=(2, 5)).output_size((9, 9)) == (7, 4)


def test_output_size_names_the_smallest_input() -> None:
    with pytest.raises(ShapeError, match=r"^pool: expected input of at least 3x5, got 2x9$"):
        Window((5, 3), (1, 1), (1, 0), dilation=(1, 2)).output_size((2, 9), "pool")


def test_bounds_start_and_end_inside_the_image() -> None:
    window = Window((3, 3), (2, 1), (1, 1), dilation=(1, 2))
    np.testing.assert_array_equal(window.bounds(0, 6, 3), [[0, 1, 3], [2, 4, 6]])
    np.testing.assert_array_equal(window.bounds(1, 5, 3), [[1, 0, 1], [4, 5, 5]])


def test_output_size_takes_any_number_of_axes_and_uneven_padding() -> None:
    assert Window((3,), before=(2,), after=(0,)).output_size((5,)) == (5,)
    assert Window((1, 2, 3), (1, 2, 3), before=(0, 1, 0), after=(2, 0, 1)).output_size((4, 5, 6)) == (6, 3, 2)


def test_window_pads_both_ends_alike_unless_told_otherwise() -> None:
    assert Window((3, 3), before=(1, 2)).after == (1, 2)
    assert Window((3, 3), before=(1, 2), after=(0, 0)).after == (0, 0)


def test_along_keeps_some_axes() -> None:
    window = Window((2, 3, 4), (1, 2, 3), (0, 1, 2), (1, 0, 1), (3, 2, 1), ceil_mode=True)
    assert window.along(1) == Window((3, 4), (2, 3), (1, 2), (0, 1), (2, 1), ceil_mode=True)
    assert window.along(0, 1) == Window((2,), (1,), (0,), (1,), (3,), ceil_mode=True)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kernel_size": [0, 2]}, r"kernel of at least 1, got \(0, 2\)"),
        ({"stride": [1, 0]}, r"stride of at least 1, got \(1, 0\)"),
        ({"dilation": [-1, 1]}, r"dilation of at least 1, got \(-1, 1\)"),
        ({"padding": [1, 2]}, r"padding of at most half the kernel, \(1, 1\), got \(1, 2\)"),
        ({"padding": [-1, 0]}, r"padding of at most half the kernel, \(1, 1\), got \(-1, 0\)"),
        ({"stride": [2, 2, 2]}, r"stride=one or two integers, got \(2, 2, 2\)"),
    ],
)
def test_read_pooling_window_checks_its_settings(settings: dict[str, list[int]], message: str) -> None:
    with pytest.raises(ParameterError, match=f"^nn.MaxPool2d 'it': expected {message}$"):
        read_pooling_window(operator("nn.MaxPool2d", **{"kernel_size": [2, 3], "stride": [1, 1], **settings}), 2)


@pytest.mark.parametrize("stride", [None, [], ()])
def test_read_pooling_window_moves_by_its_own_size_without_a_stride(stride: object) -> None:
    window = read_pooling_window(operator("F.max_pool2d", kernel_size=[2, 3], stride=stride), 2)
    assert window == Window((2, 3), (2, 3))


def test_read_pooling_window_of_one_axis_is_one_pixel_high() -> None:
    op = operator("nn.MaxPool1d", kernel_size=[5], padding=2, dilation=[3], ceil_mode=True)
    assert read_pooling_window(op, 1) == Window((1, 5), (1, 5), (0, 2), dilation=(1, 3), ceil_mode=True)


def test_read_pooling_window_of_one_axis_takes_one_number_each() -> None:
    with pytest.raises(ParameterError, match=r"expected stride=one integer, got \(2, 2\)"):
        read_pooling_window(operator("nn.MaxPool1d", kernel_size=3, stride=[2, 2]), 1)

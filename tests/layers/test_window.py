import numpy as np
import pytest

from kuiper.errors import ParameterError, ShapeError
from kuiper.layers.window import Window, read_row_window, read_window
from tests.layers.one_operator import operator


def test_output_size_rounds_down_or_up() -> None:
    assert Window((2, 3), (2, 2)).output_size((5, 8)) == (2, 3)
    assert Window((2, 3), (2, 2), ceil_mode=True).output_size((5, 8)) == (3, 4)


def test_output_size_drops_a_last_window_that_starts_in_the_right_padding() -> None:
    # 6 pixels and 1 of padding on each side: windows start at -1, 2 and 5; for 4 pixels the third would start at 5
    assert Window((2, 2), (3, 3), (1, 1), ceil_mode=True).output_size((6, 4)) == (3, 2)


def test_output_size_counts_dilation() -> None:
    assert Window((3, 2), (1, 1), (1, 0), (2, 5)).output_size((9, 9)) == (7, 4)


def test_output_size_names_the_smallest_input() -> None:
    with pytest.raises(ShapeError, match=r"^pool: expected input of at least 3x5, got 2x9$"):
        Window((5, 3), (1, 1), (1, 0), (1, 2), where="pool").output_size((2, 9))


def test_bounds_start_and_end_inside_the_image() -> None:
    window = Window((3, 3), (2, 1), (1, 1), (1, 2))
    np.testing.assert_array_equal(window.bounds(0, 6, 3), [[0, 1, 3], [2, 4, 6]])
    np.testing.assert_array_equal(window.bounds(1, 5, 3), [[1, 0, 1], [4, 5, 5]])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kernel": (0, 2)}, r"kernel of at least 1, got \(0, 2\)"),
        ({"stride": (1, 0)}, r"stride of at least 1, got \(1, 0\)"),
        ({"dilation": (-1, 1)}, r"dilation of at least 1, got \(-1, 1\)"),
        ({"padding": (1, 2)}, r"padding of at most half the kernel, \(1, 1\), got \(1, 2\)"),
        ({"padding": (-1, 0)}, r"padding of at most half the kernel, \(1, 1\), got \(-1, 0\)"),
    ],
)
def test_window_checks_its_settings(settings: dict[str, tuple[int, int]], message: str) -> None:
    with pytest.raises(ParameterError, match=f"^window: expected {message}$"):
        Window(**{"kernel": (2, 3), "stride": (1, 1), **settings})


@pytest.mark.parametrize("stride", [None, [], ()])
def test_read_window_moves_by_its_own_size_without_a_stride(stride: object) -> None:
    window = read_window(operator("F.max_pool2d", kernel_size=[2, 3], stride=stride))
    assert (window.kernel, window.stride, window.padding, window.dilation) == ((2, 3), (2, 3), (0, 0), (1, 1))


def test_read_row_window_is_one_pixel_high() -> None:
    window = read_row_window(operator("nn.MaxPool1d", kernel_size=[5], padding=2, dilation=[3], ceil_mode=True))
    assert window == Window((1, 5), (1, 5), (0, 2), (1, 3), True, "nn.MaxPool1d 'it'")


def test_read_row_window_takes_one_number_each() -> None:
    with pytest.raises(ParameterError, match=r"expected one number for each setting.*stride=\(2, 2\)"):
        read_row_window(operator("nn.MaxPool1d", kernel_size=3, stride=[2, 2]))

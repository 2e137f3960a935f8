from __future__ import annotations

import math

import numpy as np
import pytest

from kuiper.engine.kernels.convolution import LANES
from kuiper.engine.kernels.pooling import Pooling
from kuiper.layers.operators.adaptive_avg_pool2d import adaptive_bounds
from kuiper.layers.operators.max_pool2d import max_pool2d
from kuiper.layers.reference import adaptive_pooling, average_pooling, max_pooling
from kuiper.layers.window import Window
from tests.arrays import numbers
from tests.engine.one_step import Arena, image_at, round_up, run_step

WINDOWS = [
    Window((1, 1), (1, 1)),
    Window((2, 2), (2, 2)),
    Window((3, 3), (2, 2), (1, 1)),
    Window((3, 3), (2, 2), (1, 1), ceil_mode=True),
    Window((3, 3), (1, 1), (1, 1)),
    Window((5, 5), (1, 1), (2, 2)),
    Window((2, 5), (3, 1), (1, 0)),
    Window((4, 1), (2, 3), (2, 0), ceil_mode=True),
]


def pool(
    x: np.ndarray,
    rows: np.ndarray,
    columns: np.ndarray,
    divisors: tuple[np.ndarray, np.ndarray] | None = None,
    dilation: tuple[int, int] = (1, 1),
    spare_lanes: int = 0,
) -> np.ndarray:
    """Maxima, or means if there are divisors, of the boxes that the tables give."""
    (n, c, h, w), out_h, out_w = x.shape, rows.shape[1], columns.shape[1]
    arena = Arena()
    source, target = arena.image(x, spare_lanes), arena.target(n, c, out_h, out_w, spare_lanes)
    numbers = {
        "images": n, "in_h": h, "in_w": w, "out_h": out_h, "out_w": out_w, "channels": round_up(c),
        "source": source["start"], "in_image": source["image"], "in_row": source["row"], "in_pixel": source["pixel"],
        "target": target["start"], "out_image": target["image"], "out_row": target["row"], "out_pixel": target["pixel"],
        "dilation_h": dilation[0], "dilation_w": dilation[1], "maximum": divisors is None,
    }  # fmt: skip
    divisor_h, divisor_w = divisors or (np.ones(out_h, np.float32), np.ones(out_w, np.float32))
    step = Pooling(numbers, rows, columns, divisor_h, divisor_w)
    return image_at(run_step(step, arena.array), target, n, c, out_h, out_w)


def tables(window: Window, h: int, w: int) -> tuple[np.ndarray, np.ndarray]:
    out_h, out_w = window.output_size((h, w))
    return window.bounds(0, h, out_h), window.bounds(1, w, out_w)


def max_reference(x: np.ndarray, window: Window) -> np.ndarray:
    n, c, h, w = x.shape
    out, _ = max_pooling.max_pool(x.reshape(n * c, h, w), window)
    return out.reshape(n, c, *out.shape[1:])


@pytest.mark.parametrize("window", [*WINDOWS, Window((3, 2), (1, 2), (1, 1), dilation=(2, 3))], ids=str)
@pytest.mark.parametrize("channels", [1, 5, LANES + 1])
def test_pooling_of_maxima_equals_its_reference(window: Window, channels: int) -> None:
    x = numbers(2, channels, 7, 10)
    np.testing.assert_array_equal(pool(x, *tables(window, 7, 10), None, window.dilation, 3), max_reference(x, window))


@pytest.mark.parametrize("kernel", [3, 5])
def test_pooling_of_maxima_passes_nan_and_infinity_on(kernel: int) -> None:
    x = numbers(1, LANES + 4, 9, 9)
    x[0, 1, 4, 4] = x[0, LANES, 0, 0] = np.nan
    x[0, 2] = -np.inf
    x[0, 3, 8, 8] = np.inf
    window = Window((kernel, kernel), (1, 1), (kernel // 2, kernel // 2))
    np.testing.assert_array_equal(pool(x, *tables(window, 9, 9)), max_reference(x, window))


@pytest.mark.parametrize("window", WINDOWS, ids=str)
@pytest.mark.parametrize("count_include_pad", [False, True])
def test_pooling_of_means_equals_its_reference(window: Window, count_include_pad: bool) -> None:
    x = numbers(2, 5, 7, 10)
    out_h, out_w = window.output_size((7, 10))
    divisors = pixels(window, 0, 7, out_h, count_include_pad), pixels(window, 1, 10, out_w, count_include_pad)
    wanted = average_pooling.average_pool(x.reshape(10, 7, 10), window, count_include_pad, None)
    result = pool(x, *tables(window, 7, 10), divisors, spare_lanes=3)
    np.testing.assert_allclose(result.reshape(wanted.shape), wanted, rtol=0, atol=1e-6)


def pixels(window: Window, axis: int, size: int, outputs: int, include_pad: bool) -> np.ndarray:
    border = window.before[axis] if include_pad else 0
    starts = window.starts(axis, outputs)
    counted = np.minimum(starts + window.kernel[axis], size + border) - np.maximum(starts, -border)
    return counted.astype(np.float32)


@pytest.mark.parametrize("size", [(1, 1), (2, 3), (7, 10), (9, 11)])
def test_pooling_with_adaptive_windows_equals_its_reference(size: tuple[int, int]) -> None:
    x = numbers(2, 5, 7, 10)
    rows, columns = adaptive_bounds(7, size[0]), adaptive_bounds(10, size[1])
    divisors = (rows[1] - rows[0]).astype(np.float32), (columns[1] - columns[0]).astype(np.float32)
    wanted = adaptive_pooling.adaptive_average(x.reshape(10, 7, 10), size)
    np.testing.assert_allclose(pool(x, rows, columns, divisors).reshape(wanted.shape), wanted, rtol=0, atol=1e-6)


@pytest.mark.parametrize("channels", [1, 3 * LANES, 8 * LANES + 1, 80 * LANES])
def test_pooling_of_the_whole_image_keeps_precision(channels: int) -> None:
    side = 100 if channels < 8 * LANES else 10
    x = np.random.default_rng(0).random((2, channels, side, side)).astype(np.float32)
    whole, divisor = np.array([[0], [side]], np.intp), np.float32([side])
    wanted = x.mean((2, 3), dtype=np.float64)[:, :, None, None]
    np.testing.assert_allclose(pool(x, whole, whole, (divisor, divisor)), wanted, rtol=5e-7)


@pytest.mark.parametrize("window", [Window((3, 3), (2, 2), (1, 1)), Window((5, 5), (1, 1), (2, 2))], ids=str)
def test_pooling_of_many_tasks(window: Window) -> None:
    x = numbers(2, 7 * LANES, 40, 40)
    np.testing.assert_array_equal(pool(x, *tables(window, 40, 40)), max_pool2d(x, window))


def test_pooling_of_a_window_without_pixels() -> None:
    nothing = np.array([[2], [2]], np.intp)
    assert pool(numbers(1, 1, 3, 3), nothing, nothing).item() == -math.inf

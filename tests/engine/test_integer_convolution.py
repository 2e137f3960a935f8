"""Convolutions of bytes against plain sums, to the last bit: all remainders, and the largest numbers that there are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kuiper.engine.integer_packing import fits_fours, pack_integers, without_zero_point
from kuiper.engine.kernels.convolution import LANES
from kuiper.engine.kernels.integer_convolution import ROWS, WIDTH
from kuiper.engine.kernels.split_int8_product import RUNS
from kuiper.layers.kernels.activations import CODES
from kuiper.layers.window import Window
from tests.engine.integer_convolution import convolve, naive, numbers_of, rng

WAYS = pytest.mark.parametrize(
    "fours", [False, pytest.param(True, marks=pytest.mark.skipif(not RUNS, reason="this CPU lacks the instruction"))]
)


@WAYS
@pytest.mark.parametrize("outputs", [1, LANES, LANES + 1, WIDTH, WIDTH + 3, 2 * WIDTH + LANES])
@pytest.mark.parametrize("depth", [1, 2, 3, 4, 5, 17])
def test_products(outputs: int, depth: int, fours: bool) -> None:
    for pixels in (1, 2, ROWS - 1, ROWS, ROWS + 1, 2 * ROWS + 5):
        for dtype in (np.uint8, np.int8):
            x, weight = numbers_of(dtype, 1, depth, 1, pixels), numbers_of(np.int8, outputs, depth, 1, 1)
            zero = int(numbers_of(dtype, 1)[0])
            got = convolve(x, weight.astype(np.int16), Window((1, 1)), zero=zero, fours=fours, block=(1, 2 * ROWS))
            np.testing.assert_array_equal(got, naive(x, zero, weight, 1, Window((1, 1))))


@WAYS
@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("outputs", [LANES, WIDTH + 3])
@pytest.mark.parametrize(
    "window",
    [
        Window((1, 1)),
        Window((3, 3), before=(1, 1), after=(1, 1)),
        Window((2, 3), stride=(2, 1), before=(0, 2), after=(1, 0), dilation=(1, 2)),
    ],
)
def test_weights_of_another_range_than_int8(window: Window, outputs: int, dtype: Any, fours: bool) -> None:
    """Bytes without a sign, whose zero point is not 128, as dynamic quantisation writes them."""
    x, zero = numbers_of(dtype, 2, 9, 7, 8), int(numbers_of(dtype, 1)[0])
    numbers, zeros = numbers_of(np.uint8, outputs, 9, *window.kernel), numbers_of(np.uint8, outputs)
    numbers[0].reshape(-1)[:2] = 0, 255
    weight = without_zero_point(numbers, zeros)
    assert fits_fours(weight, 1)
    for panel_groups in (1, 2):
        got = convolve(x, weight, window, zero=zero, fours=fours, panel_groups=panel_groups, together=ROWS)
        np.testing.assert_array_equal(got, naive(x, zero, weight, 1, window))


def test_fits_fours_asks_for_256_values_of_each_output() -> None:
    weight = np.zeros((3, 2, 1, 1), np.int16)
    weight[1, :, 0, 0], weight[2, :, 0, 0] = (-255, 0), (-100, 155)
    assert fits_fours(weight, 1)
    assert not fits_fours(weight, 3)
    weight[2, 0] = -101
    assert not fits_fours(weight, 1)


@WAYS
@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize(
    ("window", "channels", "outputs", "groups"),
    [
        (Window((3, 3), before=(1, 1), after=(1, 1)), 3, 5, 1),
        (Window((7, 7), stride=(2, 2), before=(3, 3), after=(3, 3)), 3, WIDTH + 1, 1),
        (Window((3, 2), stride=(2, 3), before=(0, 1), after=(2, 1), dilation=(2, 1)), 4, 7, 1),
        (Window((2, 3), before=(1, 2), after=(1, 2), dilation=(1, 2)), 5, 3, 1),
        (Window((1, 5), before=(0, 4)), 6, 4, 1),
        (Window((3, 3), before=(1, 1), after=(1, 1)), 6, 4, 2),
        (Window((3, 1), stride=(2, 1), before=(1, 0)), 9, 3 * (WIDTH + 2), 3),
        (Window((3, 3), before=(5, 5), after=(5, 5)), 1, 1, 1),
    ],
)
def test_convolutions(window: Window, channels: int, outputs: int, groups: int, dtype: Any, fours: bool) -> None:
    for size, block, gap, panel_groups in (((9, 11), (3, 4), 0, 1), ((5, 8), (99, 99), 3, 2), ((4, 7), (1, 1), 1, 2)):
        x = numbers_of(dtype, 2, channels, *size)
        weight = numbers_of(np.int8, outputs, channels // groups, *window.kernel).astype(np.int16)
        zero, bias = int(numbers_of(dtype, 1)[0]), rng.integers(-(2**20), 2**20, outputs, np.int32)
        settings = {"zero": zero, "groups": groups, "fours": fours, "gap": gap, "panel_groups": panel_groups}
        settings["panel_groups"] = min(panel_groups, -(-outputs // groups // WIDTH) * groups)
        expected = naive(x, zero, weight, groups, window)
        got = convolve(x, weight, window, block=block, together=5, **settings)
        np.testing.assert_array_equal(got, expected)
        got = convolve(x, weight, window, block=block, bias=bias, computes_zero=True, **settings)
        np.testing.assert_array_equal(got, expected + bias[:, None, None])


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("channels", [2, 3, LANES, WIDTH - 1, WIDTH, WIDTH + 1, 3 * WIDTH + 5])
@pytest.mark.parametrize(
    "window",
    [
        Window((3, 3), before=(1, 1), after=(1, 1)),
        Window((2, 5), stride=(2, 1), before=(0, 2), after=(1, 2)),
        Window((3, 2), stride=(1, 2), before=(2, 1), after=(2, 0), dilation=(2, 1)),
        Window((1, 1)),
    ],
)
@WAYS
def test_a_channel_of_its_own_for_each_output(window: Window, channels: int, dtype: Any, fours: bool) -> None:
    x, bias = numbers_of(dtype, 2, channels, 7, 9), rng.integers(-(2**20), 2**20, channels, np.int32)
    weight = rng.integers(-255, 256, (channels, 1, *window.kernel)).astype(np.int16)
    weight = (weight // 2 + rng.integers(-127, 128, (channels, 1, 1, 1))).astype(np.int16) if fours else weight
    zero = int(numbers_of(dtype, 1)[0])
    for gap in (0, 3):
        got = convolve(x, weight, window, zero=zero, groups=channels, gap=gap, bias=bias, depthwise=True, fours=fours)
        np.testing.assert_array_equal(got, naive(x, zero, weight, channels, window) + bias[:, None, None])


@WAYS
def test_the_largest_numbers_that_there_are(fours: bool) -> None:
    """-128 * -128 and 255 * 127, and with a zero point of the weights 255 * 255, in long sums: nothing saturates."""
    depth = 4999
    for dtype, number, zero, factor in (
        (np.int8, -128, 0, -128), (np.int8, -128, 127, -128), (np.uint8, 255, 0, 127), (np.uint8, 255, 255, 127),
        (np.uint8, 0, 255, -128), (np.uint8, 255, 0, 255), (np.uint8, 0, 255, -255), (np.int8, 127, -128, 255),
    ):  # fmt: skip
        if fours and abs(factor) > 128:
            continue
        x, weight = np.full((1, depth, 1, 3), number, dtype), np.full((3, depth, 1, 1), factor, np.int16)
        got = convolve(x, weight, Window((1, 1)), zero=zero, fours=fours)
        assert (got == (number - zero) * factor * depth).all()


def test_sums_begin_anew_beyond_32_bits() -> None:
    x, weight = np.full((1, 40000, 1, 2), 255, np.uint8), np.full((2, 40000, 1, 1), 255, np.int16)
    window = Window((1, 1))
    np.testing.assert_array_equal(convolve(x, weight, window), naive(x, 0, weight, 1, window))


@pytest.mark.parametrize("out_type", [np.uint8, np.int8])
def test_bytes_are_rounded_to_even_and_saturate(out_type: Any) -> None:
    """All sums of 8 bits times a half: every second one lies between two integers."""
    x, weight = np.arange(256, dtype=np.uint8).reshape(1, 1, 16, 16), np.array([[1], [1], [-3]], np.int16)
    scale, limits = np.array([0.5, 1e30, 0.5], np.float32), np.iinfo(out_type)
    weight = np.broadcast_to(weight[:, :, None, None], (3, 1, 1, 1))
    for out_zero in (0, 3, 100, limits.min, limits.max):
        got = convolve(x, weight, Window((1, 1)), zero=128, scale=scale, out_zero=out_zero, out_type=out_type)
        sums = naive(x, 128, weight, 1, Window((1, 1))).astype(np.float32) * scale[:, None, None]
        expected = np.clip(np.rint(sums) + out_zero, limits.min, limits.max)
        np.testing.assert_array_equal(got, expected.astype(out_type))


@WAYS
@pytest.mark.parametrize(("channels", "outputs", "groups"), [(5, 1, 1), (6, WIDTH + 3, 1), (9, 3 * (LANES + 1), 3)])
def test_floats(channels: int, outputs: int, groups: int, fours: bool) -> None:
    """Each of what may be there or not: one factor or many, integers in front, a shift behind, an activation."""
    window = Window((3, 3), before=(1, 1), after=(1, 1))
    x = numbers_of(np.uint8, 2, channels, 6, 7)
    weight = numbers_of(np.int8, outputs, channels // groups, 3, 3).astype(np.int16)
    sums = naive(x, 77, weight, groups, window)
    scale, shift = rng.random((2, outputs)).astype(np.float32)
    relu = {"activation": CODES["clip"], "alpha": 0.0, "beta": np.inf}
    for factor in (None, np.float32([0.3]), rng.random(outputs).astype(np.float32)):
        for added in (None, rng.integers(-999, 999, outputs, np.int32)):
            whole = sums if added is None else sums + added[:, None, None]
            both = scale if factor is None else scale * factor
            expected = whole.astype(np.float32) * both[:, None, None]
            settings: dict[str, Any] = {"zero": 77, "groups": groups, "fours": fours, "factor": factor, "added": added}
            settings |= {"scale": scale, "out_type": np.float32, "gap": 1}
            np.testing.assert_array_equal(convolve(x, weight, window, **settings), expected)
            got = convolve(x, weight, window, **settings, shift=shift, activation=relu)
            np.testing.assert_array_equal(got, np.maximum(expected + shift[:, None, None], 0))
            if groups == 1:  # of several, a panel in the middle may end within a vector
                settings |= {"gap": -outputs % LANES, "has_room": True}
                np.testing.assert_array_equal(convolve(x, weight, window, **settings), expected)


@WAYS
def test_floats_of_channels_of_their_own(fours: bool) -> None:
    for channels in (2, LANES + 1, WIDTH + 3):
        x, weight = numbers_of(np.int8, 1, channels, 5, 6), numbers_of(np.int8, channels, 1, 3, 3).astype(np.int16)
        window, shift = Window((3, 3)), rng.random(channels).astype(np.float32)
        silu = {"activation": CODES["silu"], "alpha": 0.0, "beta": 0.0}
        settings: dict[str, Any] = {
            "groups": channels,
            "depthwise": True,
            "fours": fours,
            "factor": np.float32([0.001]),
        }
        settings |= {"out_type": np.float32, "shift": shift}
        linear = naive(x, 0, weight, channels, window) * np.float64(np.float32(0.001)) + shift[:, None, None]
        for gap in (1, -channels % LANES):
            got = convolve(x, weight, window, **settings, gap=gap, has_room=gap != 1)
            np.testing.assert_allclose(got, linear, rtol=1e-6, atol=1e-6)
        got = convolve(x, weight, window, **settings, activation=silu)
        np.testing.assert_allclose(got, linear / (1 + np.exp(-linear)), rtol=1e-5, atol=1e-6)


@WAYS
@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize(("channels", "groups"), [(8, 1), (64, 1), (10, 1), (16, 2), (12, 2)])
def test_pixels_that_are_as_the_tile_reads_them(channels: int, groups: int, dtype: Any, fours: bool) -> None:
    """Whole words of bytes without a sign, a gap or a border are read from the image; each of these once, too."""
    x, bias = numbers_of(dtype, 2, channels, 9, 7), rng.integers(-(2**20), 2**20, 6, np.int32)
    low, high = (-200, 56) if fours and groups == 1 else (-128, 128)  # weights that lack something
    weight = rng.integers(low, high, (6, channels // groups, 1, 1)).astype(np.int16)
    for stride, before, after in (
        ((1, 1), (0, 0), (0, 0)),
        ((2, 3), (0, 0), (0, 0)),
        ((2, 2), (0, 0), (2, 1)),
        ((1, 1), (1, 0), (0, 0)),
    ):
        window = Window((1, 1), stride=stride, before=before, after=after)
        for gap in (0, 4):
            got = convolve(x, weight, window, zero=5, groups=groups, fours=fours, gap=gap, bias=bias)
            np.testing.assert_array_equal(got, naive(x, 5, weight, groups, window) + bias[:, None, None])


def test_weights_lose_their_zero_points() -> None:
    weight = numbers_of(np.uint8, 3, 4, 1, 1)
    one, each = np.array(7, np.uint8), np.array([0, 128, 255], np.uint8)
    np.testing.assert_array_equal(without_zero_point(weight, one), weight.astype(int) - 7)
    np.testing.assert_array_equal(without_zero_point(weight, each), weight.astype(int) - each[:, None, None, None])


def test_a_row_of_the_kernel_is_one_tap_where_it_lies_so() -> None:
    weight = np.zeros((4, 3, 5, 5), np.int16)
    window = Window((5, 5))
    assert len(pack_integers(weight, 1, window, False).places) == 5
    assert len(pack_integers(weight, 1, replace(window, dilation=(1, 2)), False).places) == 25
    assert len(pack_integers(weight, 2, window, False).places) == 25

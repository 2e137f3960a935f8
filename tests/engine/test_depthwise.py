from __future__ import annotations

import math

import numpy as np
import pytest

from kuiper.engine.kernels.convolution import LANES
from kuiper.engine.kernels.depthwise import Depthwise
from kuiper.engine.lowering.depthwise import suits_depthwise
from kuiper.layers.kernels.activations import CODES
from kuiper.layers.operators.conv2d import Kernels, conv2d
from kuiper.layers.reference import conv2d as reference
from kuiper.layers.window import Window
from tests.arrays import assert_close
from tests.engine.machines import KERNELS
from tests.engine.one_step import UNTOUCHED, Arena, image_at, round_up, run_step


def depthwise(
    x: np.ndarray,
    weight: np.ndarray,
    bias: np.ndarray,
    window: Window,
    activation: tuple[str, float, float] = ("none", 0, 0),
    residual: np.ndarray | None = None,
    spare_lanes: int = 0,
    near: int = 1 << 18,
) -> np.ndarray:
    """``x`` (n, c, h, w) filtered by ``weight`` (c, own, kernel_h, kernel_w), slices of images with spare lanes."""
    (n, c, h, w), (kernel_h, kernel_w), own = x.shape, window.kernel, weight.shape[1]
    out_h, out_w = window.output_size((h, w))
    arena = Arena()
    source, target = arena.image(x, spare_lanes), arena.target(n, c, out_h, out_w, spare_lanes)
    added = arena.image(residual, spare_lanes) if residual is not None else {"start": -1, "pixel": 0}
    numbers = {
        "images": n, "in_h": h, "in_w": w, "out_h": out_h, "out_w": out_w, "channels": round_up(c), "own": own,
        "kernel_h": kernel_h, "kernel_w": kernel_w, "stride_h": window.stride[0], "stride_w": window.stride[1],
        "pad_top": window.before[0], "pad_left": window.before[1],
        "dilation_h": window.dilation[0], "dilation_w": window.dilation[1],
        "source": source["start"], "in_image": source["image"], "in_row": source["row"], "in_pixel": source["pixel"],
        "target": target["start"], "out_image": target["image"], "out_row": target["row"], "out_pixel": target["pixel"],
        "residual": added["start"], "residual_pixel": added["pixel"],
        "near": near, "activation": CODES[activation[0]], "alpha": activation[1], "beta": activation[2],
    }  # fmt: skip
    packed = np.zeros((kernel_h, own, kernel_w, round_up(c)), np.float32)
    packed[..., :c] = weight.transpose(2, 1, 3, 0)
    step = Depthwise(numbers, packed.ravel(), np.pad(bias, (0, round_up(c) - c)))
    return image_at(run_step(step, arena.array), target, n, c, out_h, out_w)


def operands(
    c: int, h: int, w: int, kernel: tuple[int, int], n: int = 1, own: int = 1
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    shapes = (n, c, h, w), (c, own, *kernel), (c,)
    x, weight, bias = (random.standard_normal(shape).astype(np.float32) for shape in shapes)
    return x, weight, bias


@pytest.mark.parametrize("width", [1, 2, 3, 6, 7, 8, 9, 13, 16, 17])
@pytest.mark.parametrize("kernel", [3, 5, 7])
@pytest.mark.parametrize("stride", [1, 2])
def test_depthwise_equals_its_reference_at_every_width(width: int, kernel: int, stride: int) -> None:
    window = Window((kernel, kernel), (stride, stride), (kernel // 2,) * 2, (kernel // 2,) * 2)
    x, weight, bias = operands(LANES + 1, 4, width, window.kernel)
    wanted = reference.conv2d(x, weight, bias, window, groups=x.shape[1])
    assert_close(depthwise(x, weight, bias, window), wanted, 1e-6)


@pytest.mark.parametrize(
    "window",
    [
        Window((1, 1)),
        Window((3, 3)),
        Window((3, 3), before=(3, 4), after=(4, 3)),  # whole windows outside of the image
        Window((5, 3), stride=(3, 1), before=(0, 2), after=(1, 0)),
        Window((2, 5), stride=(1, 2), before=(1, 0), after=(0, 4)),
        Window((3, 3), dilation=(2, 3), before=(2, 3), after=(2, 3)),
        Window((3, 5), dilation=(3, 1), before=(4, 2), after=(1, 2)),
        Window((7, 7), before=(3, 3), after=(3, 3)),
        Window((4, 4), stride=(3, 5), before=(1, 2), after=(3, 3)),
        Window((1, 9), before=(0, 8), after=(0, 8)),
    ],
)
def test_depthwise_equals_its_reference_with_any_window(window: Window) -> None:
    x, weight, bias = operands(5, 9, 11, window.kernel, n=2)
    wanted = reference.conv2d(x, weight, bias, window, groups=5)
    assert_close(depthwise(x, weight, bias, window, spare_lanes=3), wanted, 1e-6)


NARROW = [own for own in (2, 4, 8, 16) if LANES % own == 0]
"""Channels of a group of which several fill a vector, or one does."""


@pytest.mark.parametrize("own", NARROW)
@pytest.mark.parametrize("width", [1, 2, 7, 8, 9, 17])
@pytest.mark.parametrize(
    "window",
    [
        Window((3, 3), before=(1, 1), after=(1, 1)),
        Window((3, 3), stride=(2, 2), before=(1, 1), after=(1, 1)),
        Window((1, 1)),
        Window((5, 5), stride=(1, 3), before=(2, 2), after=(2, 2)),
        Window((3, 3), dilation=(2, 2), before=(2, 2), after=(2, 2)),
        Window((3, 3), before=(3, 4), after=(4, 3)),  # whole windows outside of the image
    ],
)
def test_narrow_groups_equal_the_layer(window: Window, width: int, own: int) -> None:
    channels = LANES + own  # the last vector is not full
    x, weight, bias = operands(channels, 6, width, window.kernel, n=2, own=own)
    residual = np.ones((2, channels, *window.output_size((6, width))), np.float32)
    wanted = conv2d(x, Kernels(weight, channels // own), bias, window) + residual
    result = depthwise(x, weight, bias, window, ("clip", -100.0, 100.0), residual, spare_lanes=3)
    np.testing.assert_allclose(result, wanted, rtol=0, atol=2e-6 * np.abs(wanted).max())


@pytest.mark.parametrize("own", NARROW)
def test_narrow_groups_keep_nan_within_their_group(own: int) -> None:
    window = Window((3, 3), (1, 1), (1, 1), (1, 1))
    x, weight, bias = operands(2 * LANES, 7, 20, window.kernel, own=own)
    x[0, own + 1, 3, 10] = np.nan
    expected = np.zeros(x.shape, bool)
    expected[0, own : 2 * own, 2:5, 9:12] = True
    np.testing.assert_array_equal(np.isnan(depthwise(x, weight, bias, window)), expected)


@pytest.mark.parametrize("channels", [1, LANES, LANES + 1, 3 * LANES, 72])
def test_depthwise_of_many_channels_and_tasks(channels: int) -> None:
    window = Window((3, 3), (1, 1), (1, 1), (1, 1))
    x, weight, bias = operands(channels, 33, 31, window.kernel, n=2)
    wanted = conv2d(x, Kernels(weight, channels), bias, window)
    assert_close(depthwise(x, weight, bias, window), wanted, 1e-6)


def test_depthwise_of_an_image_beyond_the_cache() -> None:
    window = Window((3, 3), (2, 2), (1, 1), (1, 1))
    x, weight, bias = operands(48, 96, 96, window.kernel)
    assert_close(depthwise(x, weight, bias, window), conv2d(x, Kernels(weight, 48), bias, window), 1e-6)


@pytest.mark.parametrize(
    "activation", [("clip", 0.0, 6.0), ("clip", 0.0, math.inf), ("hardswish", 0, 0), ("silu", 0, 0)]
)
def test_depthwise_adds_the_residual_then_activates(activation: tuple[str, float, float]) -> None:
    window = Window((3, 3), (1, 1), (1, 1), (1, 1))
    x, weight, bias = operands(LANES + 3, 6, 9, window.kernel, n=2)
    residual = np.random.default_rng(1).standard_normal(x.shape).astype(np.float32)
    linear = reference.conv2d(x, weight, bias, window, groups=x.shape[1]).astype(np.float64) + residual
    functions = {
        "clip": lambda: np.clip(linear, activation[1], activation[2]),
        "hardswish": lambda: linear * np.clip(linear + 3, 0, 6) / 6,
        "silu": lambda: linear / (1 + np.exp(-linear)),
    }
    result = depthwise(x, weight, bias, window, activation, residual, spare_lanes=5)
    np.testing.assert_allclose(result, functions[activation[0]](), rtol=0, atol=5e-6)


def test_depthwise_keeps_nan_within_its_window_and_channel() -> None:
    window = Window((3, 3), (1, 1), (1, 1), (1, 1))
    x, weight, bias = operands(3, 7, 20, window.kernel)
    x[0, 1, 3, 10] = np.nan
    result = depthwise(x, weight, bias, window, ("clip", 0.0, 6.0))
    expected = np.zeros(x.shape, bool)
    expected[0, 1, 2:5, 9:12] = True
    np.testing.assert_array_equal(np.isnan(result), expected)
    assert not (result == UNTOUCHED).any()


def test_suits_depthwise_takes_groups_that_share_a_vector() -> None:
    assert suits_depthwise(KERNELS, 24, 24, 24)
    assert not suits_depthwise(KERNELS, 24, 24, 48)  # two outputs of each input
    assert not suits_depthwise(KERNELS, 1, 4, 4)  # one group: the direct convolution
    assert not suits_depthwise(KERNELS, 8, 8 * 3, 8 * 3)  # three does not divide a vector
    whole = max(LANES, 2)  # one channel for each group is what this kernel is for
    assert not suits_depthwise(KERNELS, 2, 2 * whole, 2 * whole)
    assert suits_depthwise(KERNELS, 32, 128, 128) == (LANES >= 8)

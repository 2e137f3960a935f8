"""The direct convolution of the engine against its reference on sizes with all remainders of vectors, panels, tiles.

Integers are added up without rounding, in whatever order: most comparisons here are exact.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from kuiper.engine.kernels.convolution import LANES, TILE_ROWS, Convolution
from kuiper.engine.lowering.convolution import cut_tasks
from kuiper.engine.packing import pack
from kuiper.layers.kernels.activations import CODES, FUSED
from kuiper.layers.operators.conv2d import Kernels, conv2d
from kuiper.layers.reference import conv2d as reference
from kuiper.layers.reference.activations import FUNCTIONS
from kuiper.layers.window import Window
from tests.arrays import small_integers
from tests.engine.machines import KERNELS
from tests.engine.models import algorithms, assert_close, both, numbers, plan_of
from tests.engine.one_step import Arena, image_at, run_step

CHANNELS = (1, 3, 15, 16, 17, 40, 100)
FRAMED = Window((3, 3), before=(1, 1), after=(1, 1))


def convolve(
    x: np.ndarray,
    weight: np.ndarray,
    bias: np.ndarray | None,
    window: Window,
    groups: int = 1,
    activation: tuple[str, float, float] = ("none", 0, 0),
    residual: np.ndarray | None = None,
    spare_lanes: int = 0,
    block: int = 23,
    panel_groups: int = 1,
    expected_pixels: int = 1000,
) -> np.ndarray:
    """``x`` (n, c, h, w) filtered by ``weight`` (o, c / groups, kernel_h, kernel_w), in tasks of ``block`` pixels.

    With spare lanes the images are slices of wider ones. The panels are cut for this many ``expected_pixels``, and each
    task has one of ``panel_groups`` parts of them.
    """
    (n, _, h, w), (out_c, _, kernel_h, kernel_w) = x.shape, weight.shape
    out_h, out_w = window.output_size((h, w))
    packed = pack(KERNELS, weight, bias, groups, expected_pixels)
    arena = Arena()
    source, target = arena.image(x, spare_lanes), arena.target(n, out_c, out_h, out_w, spare_lanes)
    added = arena.image(residual, spare_lanes) if residual is not None else {"start": -1, "pixel": 0}
    fields = {
        "images": n, "in_h": h, "in_w": w, "out_h": out_h, "out_w": out_w,
        "kernel_h": kernel_h, "kernel_w": kernel_w, "stride_h": window.stride[0], "stride_w": window.stride[1],
        "pad_top": window.before[0], "pad_left": window.before[1],
        "dilation_h": window.dilation[0], "dilation_w": window.dilation[1], "depth": packed.depth,
        "source": source["start"], "in_image": source["image"], "in_row": source["row"], "in_pixel": source["pixel"],
        "target": target["start"], "out_image": target["image"], "out_row": target["row"], "out_pixel": target["pixel"],
        "residual": added["start"], "residual_pixel": added["pixel"], "zeros": arena.zeros(x.shape[1]),
        "block": block, "panels": len(packed.panels), "panel_groups": min(panel_groups, len(packed.panels)),
        "rest": 0, "far_weights": panel_groups > 1,
        "activation": CODES[activation[0]], "alpha": activation[1], "beta": activation[2],
    }  # fmt: skip
    step = Convolution(fields, packed.weights, packed.bias, packed.panels)
    return image_at(run_step(step, arena.array), target, n, out_c, out_h, out_w)


def operands(
    in_c: int, out_c: int, kernel: tuple[int, int], groups: int = 1, size: tuple[int, int] = (5, 6), n: int = 1
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Image, weight and bias."""
    x, weight = small_integers(n, in_c, *size), small_integers(out_c, in_c // groups, *kernel, seed=1)
    return x, weight, small_integers(out_c, seed=2)


@pytest.mark.parametrize("out_c", CHANNELS)
@pytest.mark.parametrize("in_c", CHANNELS)
def test_convolution_of_any_channels(in_c: int, out_c: int) -> None:
    for n, spare_lanes in ((1, 0), (3, LANES)):
        x, weight, bias = operands(in_c, out_c, (3, 3), n=n)
        wanted = conv2d(x, Kernels(weight), bias, FRAMED)
        np.testing.assert_array_equal(convolve(x, weight, bias, FRAMED, spare_lanes=spare_lanes), wanted)
        pointwise = np.ascontiguousarray(weight[:, :, :1, :1])
        wanted = conv2d(x, Kernels(pointwise), None, Window((1, 1)))
        np.testing.assert_array_equal(convolve(x, pointwise, None, Window((1, 1)), spare_lanes=spare_lanes), wanted)


@pytest.mark.parametrize("padding", [((0, 0), (0, 0)), ((1, 2), (1, 2)), ((3, 0), (0, 5))])
@pytest.mark.parametrize("dilation", [(1, 1), (2, 2), (1, 2)])
@pytest.mark.parametrize("stride", [(1, 1), (2, 2), (3, 3), (1, 3)])
@pytest.mark.parametrize("kernel", [(1, 1), (3, 3), (5, 5), (1, 7), (2, 2)])
def test_convolution_with_any_window(
    kernel: tuple[int, int],
    stride: tuple[int, int],
    dilation: tuple[int, int],
    padding: tuple[tuple[int, int], tuple[int, int]],
) -> None:
    window = Window(kernel, stride, *padding, dilation)
    x, weight, bias = operands(3, 2, kernel, size=(9, 13))
    wanted = reference.conv2d(x, weight, bias, window)
    np.testing.assert_array_equal(convolve(x, weight, bias, window, spare_lanes=3), wanted)


@pytest.mark.parametrize("size", [(1, 1), (1, 30), (30, 1), (2, 3)])
def test_convolution_of_images_that_the_kernel_covers(size: tuple[int, int]) -> None:
    window = Window((5, 5), before=(4, 4), after=(4, 4))
    x, weight, bias = operands(2, 3, (5, 5), size=size, n=2)
    np.testing.assert_array_equal(convolve(x, weight, bias, window), reference.conv2d(x, weight, bias, window))


@pytest.mark.parametrize(
    ("in_c", "out_c", "groups"),
    [
        (4, 4, 2),  # outputs that share one vector
        (6, 9, 3),
        (17, 34, 17),
        (40, 48, 2),  # whole vectors on some machines only
        (15, 120, 5),
        (16, 96, 8),
        (13 * 8, 13 * 8, 13),  # pairs, and one group left over
        (64, 64, 2),  # whole vectors
        (3 * 17, 3 * 2 * LANES, 3),
        (100, 100, 100),
    ],
)
def test_convolution_of_groups(in_c: int, out_c: int, groups: int) -> None:
    x, weight, bias = operands(in_c, out_c, (3, 3), groups, n=2)
    wanted = conv2d(x, Kernels(weight, groups), bias, FRAMED)
    np.testing.assert_array_equal(convolve(x, weight, bias, FRAMED, groups, spare_lanes=5), wanted)


@pytest.mark.parametrize("pixels", [1, 7, 13, 1000])
@pytest.mark.parametrize("vectors", range(1, 12))
def test_convolution_with_any_panels(vectors: int, pixels: int) -> None:
    x, weight, bias = operands(5, max(1, vectors * LANES - 2), (1, 1), n=2)
    wanted = conv2d(x, Kernels(weight), bias, Window((1, 1)))
    for panel_groups in (1, 2, vectors):
        result = convolve(x, weight, bias, Window((1, 1)), panel_groups=panel_groups, expected_pixels=pixels)
        np.testing.assert_array_equal(result, wanted)


@pytest.mark.parametrize("block", [1, 2, 5, 11, 12, 13, 24, 40, 89, 90, 1000])
def test_convolution_in_tasks_of_any_size(block: int) -> None:
    x, weight, bias = operands(3, 3 * LANES + 1, (3, 3), n=3)
    wanted = conv2d(x, Kernels(weight), bias, FRAMED)
    for panel_groups in (1, 2):
        np.testing.assert_array_equal(convolve(x, weight, bias, FRAMED, block=block, panel_groups=panel_groups), wanted)


@pytest.mark.parametrize("kernel", [(1, 1), (3, 3)])
@pytest.mark.parametrize("name", FUSED)
def test_convolution_adds_the_residual_then_activates(name: str, kernel: tuple[int, int]) -> None:
    window = FRAMED if kernel == (3, 3) else Window(kernel)
    random = np.random.default_rng(3)
    shapes = (2, 7, 5, 6), (LANES + 3, 7, *kernel), (LANES + 3,), (2, LANES + 3, 5, 6)
    x, weight, bias, residual = (random.standard_normal(shape).astype(np.float32) for shape in shapes)
    linear = reference.conv2d(x, weight, bias, window).astype(np.float64) + residual
    alpha, beta = {"clip": (0.0, 6.0), "leaky_relu": (0.1, 0.0), "elu": (0.75, 0.0)}.get(name, (0.0, 0.0))
    settings = {"clip": (alpha, beta), "leaky_relu": (alpha,), "elu": (alpha,)}.get(name, ())
    wanted = linear if name == "none" else FUNCTIONS[name](linear, *settings)
    result = convolve(x, weight, bias, window, activation=(name, alpha, beta), residual=residual, spare_lanes=9)
    np.testing.assert_allclose(result, wanted, rtol=0, atol=1e-5 * np.abs(wanted).max())


@pytest.mark.parametrize("limits", [(0.0, math.inf), (0.0, 6.0), (-math.inf, math.inf), (-1.0, 1.0)])
def test_convolution_keeps_nan_within_its_windows(limits: tuple[float, float]) -> None:
    x, weight, bias = operands(5, LANES + 1, (3, 3), size=(7, 20))
    x[0, 1, 3, 10] = np.nan
    expected = np.zeros((1, LANES + 1, 7, 20), bool)
    expected[0, :, 2:5, 9:12] = True
    for activation in (("none", 0, 0), ("clip", *limits)):
        result = convolve(x, weight, bias, FRAMED, activation=activation)
        np.testing.assert_array_equal(np.isnan(result), expected)


def test_convolution_keeps_infinities_as_its_twin_does() -> None:
    x, weight, bias = operands(3, LANES + 2, (3, 3), size=(6, 11))
    x[0, 1, 2, 3], x[0, 2, 3, 4] = np.inf, -np.inf
    with np.errstate(invalid="ignore"):
        wanted = reference.conv2d(x, weight, bias, FRAMED)
    assert np.isinf(wanted).any()
    assert np.isnan(wanted).any()
    np.testing.assert_array_equal(convolve(x, weight, bias, FRAMED), wanted)


def line(in_c: int, out_c: int, kernel: int, more: str = "", groups: int = 1) -> str:
    """A convolution x -> y that keeps the size, as a line of a .param file."""
    channels = f"in_channels={in_c} out_channels={out_c} groups={groups} bias=True"
    padding = f"padding=({kernel // 2},{kernel // 2})"
    weights = f"@weight=({out_c},{in_c // groups},{kernel},{kernel})f32 @bias=({out_c})f32"
    return f"nn.Conv2d conv 1 1 x y {channels} kernel_size=({kernel},{kernel}) {padding} {more} {weights}"


@pytest.mark.parametrize(
    ("in_c", "out_c", "kernel", "size"),
    [
        (3, 20, 3, (9, 11)),  # imported with its border
        (40, 24, 5, (9, 11)),
        (24, 100, 1, (30, 31)),  # tasks share the pixels
        (160, 1000, 1, (3, 3)),  # tasks share the weights
        (160, 200, 5, (7, 7)),
    ],
)
def test_planned_convolution_gives_the_numbers_of_the_layer(
    in_c: int, out_c: int, kernel: int, size: tuple[int, int]
) -> None:
    fast, plain = both(f"pnnx.Input in 0 1 x #x=(2,{in_c},9,11)f32", line(in_c, out_c, kernel), "pnnx.Output o 1 0 y")
    for n in (1, 2):
        x = numbers(n, in_c, *size)
        assert_close(fast(x), plain(x))
        assert "direct" in algorithms(plan_of(fast, [x]))


@pytest.mark.parametrize("stride", ["(1,1)", "(2,3)"])
@pytest.mark.parametrize("dilation", ["(1,1)", "(2,1)"])
@pytest.mark.parametrize("groups", [1, 2, 4])
def test_planned_convolution_with_any_geometry(stride: str, dilation: str, groups: int) -> None:
    conv = line(8, 12, 5, f"stride={stride} dilation={dilation}", groups)
    fast, plain = both("pnnx.Input in 0 1 x #x=(2,8,12,11)f32", conv, "pnnx.Output o 1 0 y")
    x = numbers(2, 8, 12, 11)
    assert_close(fast(x), plain(x))


@pytest.mark.parametrize("pixels", [1, 49, 196, 197, 3136])
@pytest.mark.parametrize("channels", [16, 192, 1000])
def test_cut_tasks_gives_each_task_whole_tiles(pixels: int, channels: int) -> None:
    for out_channels in (LANES, 3 * LANES, 192):
        packed = pack(KERNELS, numbers(out_channels, channels, 1, 1), None, 1, pixels)
        for cycles in (1e3, 1e5, 1e7):
            block, groups = cut_tasks(KERNELS, pixels * channels, pixels, cycles, packed)
            assert block >= pixels or block % TILE_ROWS[int(packed.panels[0, 0]) - 1] == 0
            assert groups in (1, len(packed.panels))
            assert -(-pixels // block) <= 64

"""Winograd's convolution against the formula, the plain convolution, and the bound of its rounding error."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from kuiper.engine.kernels.convolution import LANES
from kuiper.engine.kernels.winograd import Winograd
from kuiper.engine.kernels.winograd_packing import pack_winograd
from kuiper.engine.winograd_matrices import winograd_conv2d, winograd_matrices
from kuiper.layers.activation import Activation
from kuiper.layers.kernels.activations import CODES, FUSED
from kuiper.layers.operators.conv2d import Kernels, conv2d
from kuiper.layers.window import Window
from tests.engine.one_step import Arena, image_at, round_up, run_step

ROUNDING = 2.0**-24
TOLERANCE = {2: 1e-5, 4: 1e-4}  # of the largest output


@dataclass
class Case:
    """A convolution: its operands, and how the kernel cuts it."""

    n: int = 1
    h: int = 6
    w: int = 6
    in_c: int = 3
    out_c: int = 5
    padding: int = 1
    size: int = 2
    stride: int = 1
    block: int = 3
    panels: int = 0  # or as few as there can be
    panel_groups: int = 1
    spare_lanes: int = 0
    with_residual: bool = False
    activation: Activation = Activation()  # noqa: RUF009 - frozen

    def __post_init__(self) -> None:
        self.panels = max(self.panels, -(-round_up(self.out_c) // (4 * LANES)))
        random = np.random.default_rng(self.h * 100 + self.w)
        self.x = random.standard_normal((self.n, self.in_c, self.h, self.w)).astype(np.float32)
        self.weight = random.standard_normal((self.out_c, self.in_c, 3, 3)).astype(np.float32)
        self.bias = random.standard_normal(self.out_c).astype(np.float32)
        sides = ((side + 2 * self.padding - 3) // self.stride + 1 for side in (self.h, self.w))
        self.out_shape = (self.n, self.out_c, *sides)
        self.residual = np.zeros(self.out_shape, np.float32)
        if self.with_residual:
            self.residual = random.standard_normal(self.out_shape).astype(np.float32)

    def run(self) -> np.ndarray:
        """What the kernel makes of it."""
        arena = Arena()
        source = arena.image(self.x, self.spare_lanes)
        residual = arena.image(self.residual, self.spare_lanes)
        target = arena.target(*self.out_shape, self.spare_lanes)
        numbers = {
            "images": self.n,
            "in_h": self.h,
            "in_w": self.w,
            "out_h": self.out_shape[2],
            "out_w": self.out_shape[3],
            "pad_top": self.padding,
            "pad_left": self.padding,
            "channels": self.in_c,
            "out_channels": round_up(self.out_c),
            "source": source["start"],
            **{f"in_{name}": source[name] for name in ("image", "row", "pixel")},
            "target": target["start"],
            **{f"out_{name}": target[name] for name in ("image", "row", "pixel")},
            "residual": residual["start"] if self.with_residual else -1,
            "residual_pixel": residual["pixel"],
            "size": self.size,
            "stride": self.stride,
            "block": self.block,
            "panels": self.panels,
            "panel_groups": self.panel_groups,
            "activation": CODES[self.activation.name],
            "alpha": self.activation.alpha,
            "beta": self.activation.beta,
        }
        bias = np.pad(self.bias, (0, round_up(self.out_c) - self.out_c))
        step = Winograd(numbers, pack_winograd(self.weight, self.size, self.stride, self.panels), bias)
        return image_at(run_step(step, arena.array), target, *self.out_shape)

    def expected(self) -> np.ndarray:
        """The plain convolution."""
        border = (self.padding, self.padding)
        window = Window((3, 3), (self.stride, self.stride), before=border, after=border)
        y = conv2d(self.x, Kernels(self.weight), self.bias, window)
        return self.activation.apply(y + self.residual)

    def check(self) -> None:
        wanted = self.expected()
        np.testing.assert_allclose(self.run(), wanted, rtol=0, atol=TOLERANCE[self.size] * np.abs(wanted).max())


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("size", [2, 4])
def test_winograd_matrices_give_the_plain_convolution(size: int, stride: int) -> None:
    case = Case(2, 7, 9, stride=stride)
    plain = case.expected() - case.bias[:, None, None]
    formula = winograd_conv2d(case.x, case.weight, case.padding, winograd_matrices(size, stride))
    np.testing.assert_allclose(formula, plain, rtol=0, atol=1e-5)


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("size", [2, 4])
def test_pack_winograd_has_panels_of_transformed_kernels(size: int, stride: int) -> None:
    out_c, in_c, panels = 3 * LANES - LANES // 4, 5, 2
    weight = np.random.default_rng(0).standard_normal((out_c, in_c, 3, 3)).astype(np.float32)
    g = winograd_matrices(size, stride)[2][: size + 2]  # with stride 2, the rows behind them are the last one again
    transformed = np.zeros((round_up(out_c), in_c, (size + 2) ** 2), np.float32)
    transformed[:out_c] = (g @ weight.astype(np.float64) @ g.T).reshape(out_c, in_c, -1)
    parts = np.split(transformed, [LANES])  # 3 vectors in 2 panels
    wanted = np.concatenate([part.transpose(2, 1, 0).ravel() for part in parts])
    np.testing.assert_allclose(pack_winograd(weight, size, stride, panels), wanted, rtol=1e-6)


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("size", [2, 4])
@pytest.mark.parametrize("side", range(1, 21))
def test_winograd_any_size(size: int, stride: int, side: int) -> None:
    for padding in (0, 1, 2):
        if side + 2 * padding >= 3:
            Case(
                1 + side % 3, side, max(3, 21 - side), padding=padding, size=size, stride=stride, block=1 + side % 7
            ).check()


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("size", [2, 4])
@pytest.mark.parametrize("in_c", [1, 3, 16, 17, 40])
@pytest.mark.parametrize("out_c", [1, 16, 17, 40, 100])
def test_winograd_any_channels(size: int, stride: int, in_c: int, out_c: int) -> None:
    vectors = round_up(out_c) // LANES
    for panels in {-(-vectors // 4), -(-vectors // 3), vectors}:
        Case(1, 9, 10, in_c, out_c, size=size, stride=stride, block=13, panels=panels).check()


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("size", [2, 4])
@pytest.mark.parametrize("block", [1, 2, 5, 13, 30, 1000])
def test_winograd_any_cut(size: int, stride: int, block: int) -> None:
    case = Case(3, 12, 10, 20, 6 * LANES, size=size, stride=stride, panels=3)
    whole = replace(case, block=1000).run()
    for groups in (1, 2, 3):
        np.testing.assert_array_equal(replace(case, block=block, panel_groups=groups).run(), whole)


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("size", [2, 4])
@pytest.mark.parametrize(
    "activation",
    [Activation("clip", -1, 2), Activation("clip", 0, np.inf), Activation("leaky_relu", 0.1), Activation("elu", 1.5)]
    + [Activation(name) for name in FUSED if name not in ("clip", "leaky_relu", "elu")],
    ids=lambda activation: activation.name,
)
def test_winograd_residual_and_activation(size: int, stride: int, activation: Activation) -> None:
    case = Case(2, 7, 5, 6, 20, size=size, stride=stride, spare_lanes=2 * LANES, activation=activation)
    case.check()
    replace(case, with_residual=True).check()


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("size", [2, 4])
@pytest.mark.parametrize("in_c", [1, 16, 200])
def test_winograd_error_is_within_its_bound(size: int, stride: int, in_c: int) -> None:
    case = Case(1, 12, 12, in_c, 16, size=size, stride=stride)
    case.bias[:] = 0
    exact = winograd_conv2d(case.x, case.weight, case.padding, winograd_matrices(size, stride))
    absolute = tuple(np.abs(matrix) for matrix in winograd_matrices(size, stride))
    bound = (in_c + 20) * ROUNDING * winograd_conv2d(np.abs(case.x), np.abs(case.weight), case.padding, absolute)
    assert (np.abs(case.run() - exact) <= bound).all()


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("size", [2, 4])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_winograd_passes_nan_and_inf_on(size: int, stride: int, value: float) -> None:
    case = Case(1, 13, 13, size=size, stride=stride)
    clean = case.run()
    case.x[0, 1, 6, 7] = value
    with np.errstate(invalid="ignore"):
        touched = ~np.isfinite(winograd_conv2d(case.x, case.weight, 1, winograd_matrices(size, stride)))
    result = case.run()
    rows, columns = (np.abs(stride * np.arange(result.shape[-1]) - at) <= 1 for at in (6, 7))  # that see it
    assert not np.isfinite(result[0][:, rows][..., columns]).any()  # inf may have become NaN
    np.testing.assert_array_equal(result[~touched], clean[~touched])

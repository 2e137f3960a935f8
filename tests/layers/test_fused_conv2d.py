from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from kuiper.errors import ShapeError
from kuiper.layers.activation import Activation
from kuiper.layers.fused.conv2d import FusedConv2d
from tests.layers.one_operator import layer, run

if TYPE_CHECKING:
    from kuiper.layers import Layer

GENERATOR = np.random.default_rng(0)
BIAS = GENERATOR.standard_normal(6).astype(np.float32)
KINDS = [
    ("Conv1d", (6, 2, 3), (2, 4, 9)),
    ("Conv2d", (6, 2, 3, 2), (2, 4, 7, 6)),
    ("ConvTranspose1d", (4, 3, 3), (2, 4, 9)),
    ("ConvTranspose2d", (4, 3, 3, 2), (2, 4, 7, 6)),
]


def pair_of(kind: str, shape: tuple[int, ...], **params: object) -> tuple[Layer, Layer]:
    """The plain layer of two groups with stride 2, and the fused one with the same weights."""
    weights = {"weight": np.random.default_rng(1).standard_normal(shape), "bias": BIAS}
    common = {"in_channels": 4, "out_channels": 6, "kernel_size": list(shape[2:]), "stride": 2, "groups": 2}
    return layer(f"nn.{kind}", weights, **common), layer(f"kuiper.Fused{kind}", weights, **common, **params)


@pytest.mark.parametrize(("kind", "weight", "size"), KINDS)
@pytest.mark.parametrize("with_residual", [False, True])
def test_fused_conv_adds_and_activates(
    kind: str, weight: tuple[int, ...], size: tuple[int, ...], with_residual: bool
) -> None:
    plain, fused = pair_of(kind, weight, activation="clip", activation_alpha=-0.5, activation_beta=2.0)
    x = GENERATOR.standard_normal(size).astype(np.float32)
    y = plain.forward(x)
    residual = (GENERATOR.standard_normal(y.shape).astype(np.float32),) if with_residual else ()
    np.testing.assert_array_equal(fused.forward(x, *residual), np.clip(sum(residual, y), -0.5, 2))


@pytest.mark.parametrize(("kind", "weight", "size"), KINDS)
def test_fused_conv_without_activation_is_the_convolution(
    kind: str, weight: tuple[int, ...], size: tuple[int, ...]
) -> None:
    plain, fused = pair_of(kind, weight)
    x = GENERATOR.standard_normal(size).astype(np.float32)
    np.testing.assert_array_equal(fused.forward(x), plain.forward(x))
    np.testing.assert_array_equal(fused.forward(x[0]), plain.forward(x[0]))


def test_fused_conv2d_shows_what_an_engine_needs() -> None:
    fused = pair_of("Conv2d", (6, 2, 3, 2), activation="relu")[1]
    assert isinstance(fused, FusedConv2d)
    assert fused.activation == Activation("relu")
    assert (fused.weight.shape, fused.window.stride, fused.parameters.groups) == ((6, 2, 3, 2), (2, 2), 2)
    assert fused.bias is not None
    assert "kernels" not in vars(fused)  # nothing is packed yet


def test_fused_conv2d_counts_addition_and_activation() -> None:
    plain, fused = pair_of("Conv2d", (6, 2, 3, 2), activation="relu")
    shapes = [(1, 4, 7, 6)], [(1, 6, 3, 3)]
    assert fused.flops(*shapes) == plain.flops(*shapes) + 54
    assert fused.flops([*shapes[0], *shapes[1]], shapes[1]) == plain.flops(*shapes) + 2 * 54


def test_fused_conv2d_names_itself_in_errors() -> None:
    fused = pair_of("Conv2d", (6, 2, 3, 2))[1]
    with pytest.raises(
        ShapeError, match=r"kuiper\.FusedConv2d 'it': expected input \(n, 4, h, w\), got \(2, 3, 7, 6\)"
    ):
        fused.forward(np.zeros((2, 3, 7, 6), np.float32))
    with pytest.raises(ShapeError, match=r"kuiper\.FusedConv2d 'it': expected a residual that broadcasts"):
        fused.forward(np.zeros((2, 4, 7, 6), np.float32), np.zeros((2, 6, 2, 2), np.float32))


@pytest.mark.parametrize("rows", [(3, 5), (2, 3, 5), (5,)])
def test_fused_linear_adds_and_activates(rows: tuple[int, ...]) -> None:
    weights = {"weight": GENERATOR.standard_normal((6, 5)), "bias": BIAS}
    params = {"in_features": 5, "out_features": 6}
    fused = layer("kuiper.FusedLinear", weights, **params, activation="leaky_relu", activation_alpha=0.5)
    x = GENERATOR.standard_normal(rows).astype(np.float32)
    y = layer("nn.Linear", weights, **params).forward(x)
    residual = GENERATOR.standard_normal(y.shape).astype(np.float32)
    np.testing.assert_array_equal(fused.forward(x), run("nn.LeakyReLU", y, negative_slope=0.5))
    np.testing.assert_array_equal(fused.forward(x, residual), run("nn.LeakyReLU", y + residual, negative_slope=0.5))

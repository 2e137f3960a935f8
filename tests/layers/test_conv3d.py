from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kuiper.errors import DataTypeError, ParameterError, ShapeError, UnsupportedOperatorError
from kuiper.layers.operators.conv3d import conv3d, kernel_images
from kuiper.layers.operators.conv_transpose3d import conv_transpose3d, stamp_images
from kuiper.layers.window import Window
from tests.layers.one_operator import layer, run

X = np.arange(8, dtype=np.float32).reshape(1, 1, 2, 2, 2)
ONE = np.ones((1, 1, 2, 1, 1), np.float32)


def naive_conv3d(x: np.ndarray, weight: np.ndarray, stride: int, padding: int, dilation: int) -> np.ndarray:
    """The definition, for one image and one group."""
    padded = np.pad(x[0], ((0, 0), *((padding, padding),) * 3)).astype(np.float64)
    sizes = [
        (n - dilation * (k - 1) - 1) // stride + 1 for n, k in zip(padded.shape[1:], weight.shape[2:], strict=True)
    ]
    out = np.zeros((len(weight), *sizes))
    for place in np.ndindex(*sizes):
        cuts = tuple(
            slice(i * stride, i * stride + dilation * (k - 1) + 1, dilation)
            for i, k in zip(place, weight.shape[2:], strict=True)
        )
        out[(slice(None), *place)] = (weight * padded[(slice(None), *cuts)]).sum((1, 2, 3, 4))
    return out[None]


@pytest.mark.parametrize(("stride", "padding", "dilation"), [(1, 0, 1), (2, 1, 1), (1, 2, 2), (3, 2, 1)])
def test_conv3d_equals_its_definition(stride: int, padding: int, dilation: int) -> None:
    random = np.random.default_rng(stride)
    x, weight = random.standard_normal((1, 3, 5, 4, 6), np.float32), random.standard_normal((2, 3, 2, 1, 3), np.float32)
    window = Window((2, 1, 3), (stride,) * 3, (padding,) * 3, (padding,) * 3, (dilation,) * 3)
    expected = naive_conv3d(x, weight, stride, padding, dilation)
    np.testing.assert_allclose(conv3d(x, kernel_images(weight, 1), None, window), expected, atol=1e-5)


def test_transposed_convolution_is_the_transpose() -> None:
    """<conv3d(a), b> = <a, conv_transpose3d(b)>."""
    random = np.random.default_rng(0)
    weight = random.standard_normal((2, 3, 2, 3, 1), np.float32)
    window = Window((2, 3, 1), (2, 1, 2), (1, 0, 0), (1, 0, 0), (1, 2, 1))
    a = random.standard_normal((2, 3, 4, 6, 5), np.float32)
    forwards = conv3d(a, kernel_images(weight, 1), None, window)
    b = random.standard_normal(forwards.shape, np.float32)
    backwards = conv_transpose3d(b, stamp_images(weight, 1), None, window)
    assert backwards.shape == a.shape
    np.testing.assert_allclose((forwards * b).sum(), (a * backwards).sum(), rtol=1e-4)


def conv(x: np.ndarray, kind: str = "nn.Conv3d", **params: Any) -> list[Any]:
    settings = {"in_channels": 1, "out_channels": 1, "kernel_size": [2, 1, 1], "bias": False}
    out: list[Any] = layer(kind, {"weight": ONE}, **{**settings, **params}).forward(x).tolist()
    return out


def test_conv3d_by_hand() -> None:
    assert conv(X) == [[[[[4, 6], [8, 10]]]]]
    assert conv(X[0]) == [[[[4, 6], [8, 10]]]]
    assert np.shape(conv(X, padding="same")) == (1, 1, 2, 2, 2)


def test_conv_transpose3d_by_hand() -> None:
    got = conv(X[:, :, :1], "nn.ConvTranspose3d", stride=[2, 1, 1])
    assert got == [[[[[0, 1], [2, 3]], [[0, 1], [2, 3]]]]]
    assert np.shape(conv(X, "nn.ConvTranspose3d", stride=2, output_padding=1)) == (1, 1, 5, 4, 4)


@pytest.mark.parametrize(
    ("padding", "expected"), [("valid", [[[[4, 6], [8, 10]]]]), ("same", [[[[4, 6], [8, 10]], [[4, 5], [6, 7]]]])]
)
def test_conv3d_with_padding_as_a_word(padding: str, expected: list[list[list[list[int]]]]) -> None:
    parameters = {"in_channels": 1, "out_channels": 1, "kernel_size": (2, 1, 1), "bias": False, "padding": padding}
    assert layer("nn.Conv3d", {"weight": ONE}, **parameters).forward(X).tolist() == [expected]


@pytest.mark.parametrize(("padding", "sizes"), [((0, 0, 1, 1, 2, 2), (5, 4, 2)), ((2, 1, 0), (5, 4, 2))])
def test_conv3d_with_padding_from_either_end(padding: tuple[int, ...], sizes: tuple[int, ...]) -> None:
    parameters = {"in_channels": 1, "out_channels": 1, "kernel_size": (2, 1, 1), "bias": False, "padding": padding}
    assert layer("nn.Conv3d", {"weight": ONE}, **parameters).forward(X).shape[2:] == sizes


@pytest.mark.parametrize("padding", [(0, 1, 1, 1, 2, 2), (1, 1, 1, 1, 2, 0)])
def test_conv3d_refuses_padding_that_differs_from_side_to_side(padding: tuple[int, ...]) -> None:
    with pytest.raises(ParameterError, match="padding"):
        layer("nn.Conv3d", {"weight": ONE}, in_channels=1, out_channels=1, kernel_size=(2, 1, 1), padding=padding)


def test_weights_as_operands() -> None:
    np.testing.assert_array_equal(run("F.conv3d", X, ONE), conv(X))
    np.testing.assert_array_equal(run("F.conv_transpose3d", X, ONE), conv(X, "nn.ConvTranspose3d"))
    np.testing.assert_array_equal(run("F.conv3d", X, ONE, np.float32([100])), np.asarray(conv(X)) + 100)


def test_flops_count_a_multiply_add_as_two() -> None:
    settings = {"in_channels": 1, "out_channels": 1, "kernel_size": [2, 1, 1], "bias": False}
    assert layer("nn.Conv3d", {"weight": ONE}, **settings).flops([X.shape], [(1, 1, 1, 2, 2)]) == 16
    assert layer("nn.ConvTranspose3d", {"weight": ONE}, **settings).flops([X.shape], [(1, 1, 3, 2, 2)]) == 32


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"stride": [1, 2]}, r"stride=one or three integers of at least 1, got \(1, 2\)"),
        ({"padding": "full"}, r"padding=integers, valid, or same with stride 1, got full"),
        ({"padding": "same", "stride": 2}, r"same with stride 1"),
        ({"groups": 0}, r"groups of at least 1, got 0"),
    ],
)
def test_settings_out_of_range_are_refused(params: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        conv(X, **params)


def test_inputs_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ShapeError, match=r"nn.Conv3d 'it': expected input \(n, 1, d, h, w\), got \(2, 2, 2\)"):
        conv(X[0, 0])
    with pytest.raises(ShapeError, match=r"input of at least 2x1x1, got 1x2x2"):
        conv(X[:, :, :1])
    with pytest.raises(DataTypeError, match=r"expected float32 input, got float64"):
        conv(X.astype(np.float64))
    with pytest.raises(ShapeError, match=r"weight \(a, b, kernel_d, kernel_h, kernel_w\) where groups=1 divides a"):
        run("F.conv3d", X, ONE[0])
    with pytest.raises(UnsupportedOperatorError, match=r"expected padding_mode zeros, reflect, replicate or circular"):
        conv(X, padding_mode="wrap")


def test_transposed_convolutions_refuse_what_torch_refuses() -> None:
    with pytest.raises(
        ParameterError, match=r"expected output_padding smaller than stride or dilation, got \(1, 0, 0\)"
    ):
        conv(X, "nn.ConvTranspose3d", output_padding=[1, 0, 0])
    with pytest.raises(ParameterError, match=r"expected padding=integers, got same"):
        conv(X, "nn.ConvTranspose3d", padding="same")
    with pytest.raises(ShapeError, match=r"no more padding than it has output"):
        conv(X, "nn.ConvTranspose3d", padding=[2, 0, 0])
    with pytest.raises(UnsupportedOperatorError, match=r"expected padding_mode zeros, got reflect"):
        conv(X, "nn.ConvTranspose3d", padding_mode="reflect")

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kuiper.errors import ParameterError, ShapeError, UnsupportedOperatorError
from kuiper.layers import Layer
from kuiper.layers.operators.conv_transpose2d import Stamps, conv_transpose2d
from kuiper.layers.reference import conv_transpose2d as reference
from kuiper.layers.window import Window
from tests.arrays import small_integers
from tests.layers.one_operator import layer, run

IMAGE = np.float32([[[[1, 2], [3, 4]]]])
STAMP = np.float32([[[[1, 10], [100, 1000]]]])


def transposed(weight: np.ndarray, bias: np.ndarray | None = None, groups: int = 1, **params: object) -> Layer:
    """An nn.ConvTranspose2d, or 1d, with these weights."""
    weights = {"weight": weight} if bias is None else {"weight": weight, "bias": bias}
    channels = {"in_channels": len(weight), "out_channels": weight.shape[1] * groups}
    settings = {"kernel_size": list(weight.shape[2:]), "groups": groups, "bias": bias is not None, **channels}
    return layer(f"nn.ConvTranspose{weight.ndim - 2}d", weights, **{**settings, **params})


def pairs(low: int, high: int) -> st.SearchStrategy[tuple[int, int]]:
    return st.tuples(st.integers(low, high), st.integers(low, high))


def test_conv_transpose2d_adds_up_stamps() -> None:
    expected = [[1, 12, 20], [103, 1234, 2040], [300, 3400, 4000]]
    np.testing.assert_array_equal(transposed(STAMP).forward(IMAGE), [[expected]])


def test_conv_transpose2d_starts_from_the_bias() -> None:
    out = transposed(STAMP, np.float32([7]), stride=2).forward(IMAGE[:, :, :1])
    np.testing.assert_array_equal(out, [[[[8, 17, 9, 27], [107, 1007, 207, 2007]]]])


def test_conv_transpose2d_padding_cuts_and_output_padding_adds() -> None:
    layer = transposed(STAMP, np.float32([7]), stride=[3, 2], padding=[1, 0], output_padding=[2, 1])
    expected = [[107, 1007, 207, 2007, 7], [7] * 5, [10, 37, 11, 47, 7], [307, 3007, 407, 4007, 7], [7] * 5]
    np.testing.assert_array_equal(layer.forward(IMAGE), [[expected]])


def test_conv_transpose2d_groups_make_their_own_channels() -> None:
    x = np.float32([1, 10, 100, 1000]).reshape(1, 4, 1, 1)
    weight = np.float32([1, 2, 3, 4]).reshape(4, 1, 1, 1)
    np.testing.assert_array_equal(transposed(weight, groups=2).forward(x).ravel(), [21, 4300])


def test_conv_transpose2d_of_an_image_without_batch() -> None:
    np.testing.assert_array_equal(transposed(STAMP, padding=1).forward(IMAGE[0]), [[[1234]]])


def test_conv_transpose2d_of_an_empty_batch_is_empty() -> None:
    x = np.zeros((0, 1, 3, 4), np.float32)
    assert transposed(STAMP, stride=2).forward(x).shape == (0, 1, 6, 8)


def test_conv_transpose2d_padding_may_leave_nothing() -> None:
    assert transposed(STAMP[:, :, :1], padding=[1, 0]).forward(IMAGE).shape == (1, 1, 0, 3)


@settings(max_examples=60)
@given(
    pairs(1, 3),
    pairs(1, 3),
    pairs(0, 2),
    pairs(1, 3),
    pairs(1, 5),
    st.sampled_from([(1, 3, 5), (2, 4, 6), (3, 3, 6), (4, 4, 4)]),
)
def test_conv_transpose2d_equals_seven_loops(kernel, stride, padding, dilation, size, channels) -> None:
    groups, in_c, out_c = channels
    window = Window(kernel, stride, padding, padding, dilation)
    extra = (max(stride[0], dilation[0]) - 1, 0)
    out_size = tuple((size[i] - 1) * stride[i] + window.span[i] - 2 * padding[i] + extra[i] for i in (0, 1))
    if min(out_size) < 1:
        return
    x, bias = small_integers(2, in_c, *size), small_integers(out_c, seed=2)
    weight = small_integers(in_c, out_c // groups, *kernel, seed=1)
    out = conv_transpose2d(x, Stamps(weight, groups), bias, window, extra)
    np.testing.assert_array_equal(out, reference.conv_transpose2d(x, weight, bias, window, out_size, groups))


def test_functional_conv_transpose2d_takes_weight_and_bias_as_operands() -> None:
    np.testing.assert_array_equal(run("F.conv_transpose2d", IMAGE, STAMP, padding=1), [[[[1234]]]])
    np.testing.assert_array_equal(run("F.conv_transpose2d", IMAGE, STAMP, np.float32([6]), padding=1), [[[[1240]]]])


def test_conv_transpose1d_makes_a_sequence_longer() -> None:
    x = np.float32([[[1, 2, 3]]])
    layer = transposed(np.float32([[[1, 10, 100]]]), stride=[2], output_padding=[1])
    np.testing.assert_array_equal(layer.forward(x), [[[1, 10, 102, 20, 203, 30, 300, 0]]])
    np.testing.assert_array_equal(layer.forward(x[0]), [[1, 10, 102, 20, 203, 30, 300, 0]])
    out = run("F.conv_transpose1d", x, np.float32([[[1, 10]]]), padding=[1], dilation=[2])
    np.testing.assert_array_equal(out, [[[2, 13, 20]]])


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"output_padding": 1}, r"output_padding smaller than stride or dilation, got \(1, 1\)"),
        ({"stride": [2, 1], "output_padding": [1, 1]}, r"output_padding smaller than stride or dilation, got \(1, 1\)"),
        ({"output_padding": [-1, 0]}, r"output_padding=one or two integers of at least 0, got \(-1, 0\)"),
        ({"padding": "same"}, "padding=integers, got same"),
        ({"in_channels": 3}, "in_channels and out_channels that groups=2 divides, got 3 and 2"),
    ],
)
def test_conv_transpose2d_refuses_parameters_out_of_range(params: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=f"^nn.ConvTranspose2d 'it': expected {message}$"):
        transposed(np.ones((4, 1, 2, 2), np.float32), groups=2, **params)


def test_conv_transpose2d_output_padding_may_reach_the_dilation() -> None:
    assert transposed(STAMP, dilation=3, output_padding=2).forward(IMAGE).shape == (1, 1, 7, 7)


def test_conv_transpose2d_names_what_it_expects() -> None:
    with pytest.raises(
        ShapeError, match=r"^nn.ConvTranspose2d 'it': expected input \(n, 1, h, w\), got \(1, 2, 3, 3\)$"
    ):
        transposed(STAMP).forward(np.ones((1, 2, 3, 3), np.float32))
    with pytest.raises(ShapeError, match=r"no more padding than it has output, got -2x0 from 1x2$"):
        transposed(STAMP, padding=[2, 3], stride=[1, 4]).forward(IMAGE[:, :, :1])
    with pytest.raises(ShapeError, match=r"^nn.ConvTranspose1d 'it': expected input \(n, 1, l\), got \(2, 3\)$"):
        transposed(STAMP[:, :, 0]).forward(np.ones((2, 3), np.float32))
    with pytest.raises(ShapeError, match=r"^nn.ConvTranspose2d 'it': expected bias \(1,\), got \(2,\)$"):
        transposed(STAMP, np.ones(2, np.float32))
    with pytest.raises(UnsupportedOperatorError, match="padding_mode zeros, got circular"):
        transposed(STAMP, padding_mode="circular")


def test_conv_transpose2d_flops_count_the_stamps() -> None:
    layer = transposed(np.ones((4, 3, 2, 5), np.float32), np.ones(6, np.float32), groups=2)
    assert layer.flops([(2, 4, 7, 8)], [(2, 6, 8, 12)]) == 2 * (2 * 4 * 7 * 8) * (3 * 2 * 5) + 2 * 6 * 8 * 12

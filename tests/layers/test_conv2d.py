from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kuiper.layers.operators.conv2d as module
from kuiper.errors import DataTypeError, ParameterError, ShapeError, UnsupportedOperatorError
from kuiper.layers.convolution import ConvolutionParameters
from kuiper.layers.operators.conv2d import Kernels, conv2d
from kuiper.layers.reference import conv2d as reference
from kuiper.layers.window import Window
from tests.arrays import small_integers
from tests.layers.one_operator import layer, operator, run

IMAGE = np.float32([[[1, 2, 3], [4, 5, 6]]])  # (1, 2, 3)
KERNEL = np.float32([[[[1, 0], [0, 10]]]])


def test_window_of_a_kernel_with_one_entry_along_an_axis_has_no_dilation_there() -> None:
    parameters = ConvolutionParameters(2, (1, 1), "same", (2, 2**63), 1, "conv")  # more than a kernel's numbers hold
    assert parameters.window((3, 1)) == Window((3, 1), before=(2, 0), after=(2, 0), dilation=(2, 1))
    assert parameters.window((1, 1)).is_pointwise


def conv(weight: np.ndarray, bias: np.ndarray | None = None, groups: int = 1, **params: object) -> module.Conv2d:
    """An nn.Conv2d with these weights."""
    weights = {"weight": weight} if bias is None else {"weight": weight, "bias": bias}
    channels = {"in_channels": weight.shape[1] * groups, "out_channels": len(weight)}
    settings = {"kernel_size": list(weight.shape[2:]), "groups": groups, "bias": bias is not None, **channels}
    return layer("nn.Conv2d", weights, **{**settings, **params})


def pairs(low: int, high: int) -> st.SearchStrategy[tuple[int, int]]:
    return st.tuples(st.integers(low, high), st.integers(low, high))


def test_conv2d_does_not_turn_the_kernel() -> None:
    np.testing.assert_array_equal(conv(KERNEL).forward(IMAGE[None]), [[[[51, 62]]]])


def test_conv2d_adds_the_bias_and_all_channels() -> None:
    x = np.float32([[[[1, 2]], [[10, 20]]]])
    weight = np.float32([[[[1]], [[1]]], [[[0]], [[2]]]])
    np.testing.assert_array_equal(conv(weight, np.float32([100, 500])).forward(x), [[[[111, 122]], [[520, 540]]]])


def test_conv2d_pads_with_zeros() -> None:
    out = conv(KERNEL, stride=[2, 1], padding=[1, 0]).forward(IMAGE[None])
    np.testing.assert_array_equal(out, [[[[20, 30], [4, 5]]]])


def test_conv2d_same_pads_more_at_bottom_and_right() -> None:
    out = conv(KERNEL, padding="same").forward(IMAGE[None])
    np.testing.assert_array_equal(out, [[[[51, 62, 3], [4, 5, 6]]]])


def test_conv2d_valid_pads_nothing() -> None:
    np.testing.assert_array_equal(conv(KERNEL, padding="valid").forward(IMAGE[None]), [[[[51, 62]]]])


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("zeros", [10, 21, 32, 3]),
        ("replicate", [11, 21, 32, 33]),
        ("reflect", [12, 21, 32, 23]),
        ("circular", [13, 21, 32, 13]),
    ],
)
def test_conv2d_padding_modes(mode: str, expected: list[int]) -> None:
    layer = conv(np.float32([[[[1, 10]]]]), padding=[0, 1], padding_mode=mode)
    np.testing.assert_array_equal(layer.forward(np.float32([[[[1, 2, 3]]]])), [[[expected]]])


def test_conv2d_groups_see_only_their_channels() -> None:
    x = np.float32([1, 10, 100, 1000]).reshape(1, 4, 1, 1)
    weight = np.float32([[1, 2], [3, 4], [5, 6], [7, 8]]).reshape(4, 2, 1, 1)
    np.testing.assert_array_equal(conv(weight, groups=2).forward(x).ravel(), [21, 43, 6500, 8700])


def test_conv2d_channel_multiplier_gives_each_channel_several_kernels() -> None:
    x = np.float32([[[[1, 2]], [[10, 20]]]])
    weight = np.float32([3, 5, 7, 9]).reshape(4, 1, 1, 1)
    out = conv(weight, np.float32([0, 100, 0, 0]), groups=2).forward(x)
    np.testing.assert_array_equal(out[0, :, 0], [[3, 6], [105, 110], [70, 140], [90, 180]])


def test_conv2d_of_an_image_without_batch() -> None:
    np.testing.assert_array_equal(conv(KERNEL).forward(IMAGE), [[[51, 62]]])


@pytest.mark.parametrize("groups", [1, 2, 4])
def test_conv2d_of_an_empty_batch_is_empty(groups: int) -> None:
    weight = small_integers(8, 4 // groups, 3, 3)
    assert conv(weight, groups=groups).forward(np.zeros((0, 4, 7, 5), np.float32)).shape == (0, 8, 5, 3)


def test_conv2d_takes_an_input_that_is_a_view() -> None:
    x = small_integers(2, 9, 7, 3)
    view = x.transpose(0, 3, 1, 2)[:, :, ::2]
    layer = conv(small_integers(4, 3, 3, 3, seed=1), padding=1)
    np.testing.assert_array_equal(layer.forward(view), layer.forward(view.copy()))


@settings(max_examples=60)
@given(
    pairs(1, 3),
    pairs(1, 3),
    pairs(0, 3),
    pairs(1, 2),
    pairs(3, 9),
    st.sampled_from([(1, 3, 5), (2, 4, 6), (3, 3, 6), (4, 4, 4)]),
)
def test_conv2d_equals_seven_loops(kernel, stride, padding, dilation, size, channels) -> None:
    groups, in_c, out_c = channels
    window = Window(kernel, stride, padding, padding, dilation)
    if any(size[i] + 2 * padding[i] < window.span[i] for i in (0, 1)):
        return
    x, bias = small_integers(2, in_c, *size), small_integers(out_c, seed=2)
    weight = small_integers(out_c, in_c // groups, *kernel, seed=1)
    out = conv2d(x, Kernels(weight, groups), bias, window)
    np.testing.assert_array_equal(out, reference.conv2d(x, weight, bias, window, groups))


@pytest.mark.parametrize("block", [1, 100, 333, 10**9])
def test_conv2d_does_not_depend_on_the_block_size(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "this_machine", lambda: SimpleNamespace(l2=4 * block))
    x, weight, window = small_integers(2, 3, 13, 7), small_integers(5, 3, 3, 3, seed=1), Window((3, 3))
    out = conv2d(x, Kernels(weight), None, window)
    np.testing.assert_array_equal(out, reference.conv2d(x, weight, None, window))


@pytest.mark.parametrize("width", [1, 2, 7, 8, 13, 17, 33])
@pytest.mark.parametrize("stride", [(1, 1), (2, 2), (1, 3)])
def test_depthwise_equals_seven_loops(width: int, stride: tuple[int, int]) -> None:
    x, weight = small_integers(1, 3, 5, width), small_integers(6, 1, 3, 2, seed=1)
    for window in (
        Window((3, 2), stride, (1, 1), (1, 1)),
        Window((3, 2), stride, (5, 4), (0, 0), dilation=(2, 3)),
    ):
        expected = reference.conv2d(x, weight, None, window, groups=3)
        np.testing.assert_array_equal(conv2d(x, Kernels(weight, 3), None, window), expected)


def test_conv2d_passes_nan_on_where_the_kernel_meets_it() -> None:
    for groups in (1, 2):
        x = np.ones((1, 2, 1, 5), np.float32)
        x[0, :, 0, 1] = np.nan
        out = conv(np.ones((2, 2 // groups, 1, 2), np.float32), groups=groups).forward(x)
        np.testing.assert_array_equal(np.isnan(out[0, :, 0]), [[True, True, False, False]] * 2)


def test_functional_conv2d_takes_weight_and_bias_as_operands() -> None:
    np.testing.assert_array_equal(run("F.conv2d", IMAGE[None], KERNEL), [[[[51, 62]]]])
    np.testing.assert_array_equal(run("F.conv2d", IMAGE[None], KERNEL, np.float32([7]), stride=2), [[[[58]]]])


@pytest.mark.parametrize("shape", [(1, 32, 56, 56), (64, 56), (1, 1, 64, 56, 56), (56,), ()])
def test_conv2d_names_the_input_that_it_expects(shape: tuple[int, ...]) -> None:
    with pytest.raises(ShapeError) as raised:
        conv(np.ones((8, 64, 3, 3), np.float32)).forward(np.ones(shape, np.float32))
    assert str(raised.value) == f"nn.Conv2d 'it': expected input (n, 64, h, w), got {shape}"


def test_conv2d_refuses_a_kernel_larger_than_the_padded_image() -> None:
    layer = conv(np.ones((2, 1, 3, 3), np.float32), padding=[0, 1], dilation=2)
    with pytest.raises(ShapeError, match=r"^nn.Conv2d 'it': expected input of at least 5x3, got 4x4$"):
        layer.forward(np.ones((1, 1, 4, 4), np.float32))
    with pytest.raises(ShapeError, match=r"expected input of at least 5x3, got 0x4$"):
        layer.forward(np.ones((1, 1, 0, 4), np.float32))


def test_conv2d_refuses_borders_that_the_image_cannot_fill() -> None:
    for mode, padding in (("reflect", 3), ("circular", 4)):
        with pytest.raises(ShapeError, match=r"^nn.Conv2d 'it': expected input with .* got \(1, 1, 2, 3\)$"):
            conv(KERNEL, padding=[0, padding], padding_mode=mode).forward(IMAGE[None])


def test_conv2d_refuses_other_element_types() -> None:
    with pytest.raises(DataTypeError, match=r"^nn.Conv2d 'it': expected float32 input, got int64$"):
        conv(KERNEL).forward(np.ones((1, 1, 4, 4), np.int64))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"stride": [0, 1]}, r"stride=one or two integers of at least 1, got \(0, 1\)"),
        ({"stride": [1, 1, 1]}, r"stride=one or two integers of at least 1, got \(1, 1, 1\)"),
        ({"padding": [1, -1]}, r"padding=one or two integers of at least 0, got \(1, -1\)"),
        ({"dilation": 0}, r"dilation=one or two integers of at least 1, got \(0,\)"),
        ({"groups": 0}, r"groups of at least 1, got 0"),
        ({"groups": 3, "in_channels": 4}, r"in_channels and out_channels that groups=3 divides, got 4 and 6"),
        ({"in_channels": 0}, r"in_channels and out_channels that groups=1 divides, got 0 and 6"),
        ({"padding": "full"}, r"padding=integers, same or valid, got full"),
        ({"padding": "same", "stride": [1, 2]}, r"stride 1 with padding=same, got \(1, 2\)"),
    ],
)
def test_conv2d_refuses_parameters_out_of_range(params: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=f"^nn.Conv2d 'it': expected {message}$"):
        conv(np.ones((6, 4, 3, 3), np.float32), **params)


def test_conv2d_refuses_weights_of_another_shape() -> None:
    with pytest.raises(ShapeError, match=r"expected weight of shape \(6, 4, 2, 3\), got \(6, 4, 3, 3\)$"):
        conv(np.ones((6, 4, 3, 3), np.float32), kernel_size=[2, 3])
    with pytest.raises(ShapeError, match=r"expected bias \(6,\), got \(5,\)$"):
        conv(np.ones((6, 4, 3, 3), np.float32), np.ones(5, np.float32))
    with pytest.raises(ParameterError, match=r"expected a weight 'bias', got weights: weight$"):
        layer("nn.Conv2d", {"weight": KERNEL}, in_channels=1, out_channels=1, kernel_size=2, bias=True)


def test_conv2d_refuses_an_unknown_padding_mode() -> None:
    with pytest.raises(
        UnsupportedOperatorError, match="padding_mode zeros, reflect, replicate or circular, got mirror"
    ):
        conv(KERNEL, padding_mode="mirror")


def test_functional_conv2d_refuses_operands_that_do_not_fit() -> None:
    x = np.ones((1, 4, 5, 5), np.float32)
    with pytest.raises(ShapeError, match=r"^F.conv2d 'it': expected input \(n, 6, h, w\), got \(1, 4, 5, 5\)$"):
        run("F.conv2d", x, np.ones((4, 3, 2, 2), np.float32), groups=2)
    with pytest.raises(
        ShapeError, match=r"weight \(a, b, kernel_h, kernel_w\) where groups=2 divides a, got \(3, 2, 2, 2\)$"
    ):
        run("F.conv2d", x, np.ones((3, 2, 2, 2), np.float32), groups=2)
    with pytest.raises(ShapeError, match=r"expected bias \(3,\), got \(4,\)$"):
        run("F.conv2d", x, np.ones((3, 4, 2, 2), np.float32), np.ones(4, np.float32))


def test_conv2d_flops_count_multiply_adds_twice_and_the_bias_once() -> None:
    layer = conv(np.ones((6, 2, 3, 5), np.float32), np.ones(6, np.float32), groups=2)
    assert layer.flops([(2, 4, 9, 9)], [(2, 6, 7, 5)]) == 2 * 6 * 7 * 5 * (2 * 2 * 3 * 5 + 1)
    functional = module.FunctionalConv2d(operator("F.conv2d"))
    assert functional.flops([(1, 4, 9, 9), (6, 4, 3, 5)], [(1, 6, 7, 5)]) == 6 * 7 * 5 * 2 * 4 * 3 * 5

import numpy as np
import pytest

from kuiper.errors import ParameterError, ShapeError
from kuiper.layers import Layer
from tests.layers.one_operator import layer, run

X = np.float32([[[1, 2, 3, 4, 5], [10, 20, 30, 40, 50]]])  # (1, 2, 5)


def conv(weight: np.ndarray, bias: np.ndarray | None = None, groups: int = 1, **params: object) -> Layer:
    """An nn.Conv1d with these weights."""
    weights = {"weight": weight} if bias is None else {"weight": weight, "bias": bias}
    channels = {"in_channels": weight.shape[1] * groups, "out_channels": len(weight)}
    settings = {"kernel_size": [weight.shape[2]], "groups": groups, "bias": bias is not None, **channels}
    return layer("nn.Conv1d", weights, **{**settings, **params})


def test_conv1d_slides_along_the_last_axis() -> None:
    weight = np.float32([[[1, 0, -1], [0, 1, 0]]])
    np.testing.assert_array_equal(conv(weight, np.float32([7])).forward(X), [[[25, 35, 45]]])
    np.testing.assert_array_equal(conv(weight, stride=[2], padding=[1]).forward(X), [[[8, 28, 54]]])


def test_conv1d_dilated_same() -> None:
    weight = np.float32([[[1, 100]]]).repeat(2, axis=0)
    out = conv(weight, groups=2, dilation=[3], padding="same").forward(X)
    np.testing.assert_array_equal(out[0, 0], [300, 401, 502, 3, 4])


def test_conv1d_circular() -> None:
    out = conv(np.float32([[[1, 100]], [[1, 0]]]), groups=2, padding=[2], padding_mode="circular").forward(X)
    np.testing.assert_array_equal(out[0], [[504, 105, 201, 302, 403, 504, 105, 201], [40, 50, 10, 20, 30, 40, 50, 10]])


def test_conv1d_of_a_sequence_without_batch() -> None:
    weight = np.float32([[[1, 1], [0, 0]]])
    np.testing.assert_array_equal(conv(weight).forward(X[0]), [[3, 5, 7, 9]])


def test_functional_conv1d_takes_weight_and_bias_as_operands() -> None:
    weight = np.float32([[[2, 0]], [[0, 1]]])
    out = run("F.conv1d", X, weight, np.float32([0, 5]), groups=2, stride=[3])
    np.testing.assert_array_equal(out, [[[2, 8], [25, 55]]])


def test_conv1d_names_what_it_expects() -> None:
    with pytest.raises(ShapeError, match=r"^nn.Conv1d 'it': expected input \(n, 2, l\), got \(1, 3, 5\)$"):
        conv(np.ones((1, 2, 3), np.float32)).forward(np.ones((1, 3, 5), np.float32))
    with pytest.raises(ShapeError, match=r"^nn.Conv1d 'it': expected input of at least 1x6, got 1x5$"):
        conv(np.ones((1, 2, 6), np.float32)).forward(X)
    with pytest.raises(ParameterError, match=r"expected stride=one integer of at least 1, got \(1, 2\)$"):
        conv(np.ones((1, 2, 3), np.float32), stride=[1, 2])
    with pytest.raises(ShapeError, match=r"weight \(a, b, kernel\) where groups=1 divides a, got \(1, 2\)$"):
        run("F.conv1d", X, np.ones((1, 2), np.float32))


def test_conv1d_flops() -> None:
    assert conv(np.ones((3, 2, 4), np.float32)).flops([(1, 2, 9)], [(1, 3, 6)]) == 3 * 6 * 2 * 2 * 4

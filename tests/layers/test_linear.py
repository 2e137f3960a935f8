import numpy as np
import pytest

from kuiper.errors import DataTypeError, ParameterError, ShapeError, UnsupportedOperatorError
from kuiper.layers import Layer
from kuiper.layers.operators.linear import linear
from kuiper.layers.reference import linear as reference
from tests.arrays import small_integers
from tests.layers.one_operator import layer, run

WEIGHT = np.float32([[1, 2, 3], [10, 0, -1]])


def made(weight: np.ndarray = WEIGHT, bias: np.ndarray | None = None, **params: object) -> Layer:
    """An nn.Linear with these weights."""
    weights = {"weight": weight} if bias is None else {"weight": weight, "bias": bias}
    settings = {"in_features": weight.shape[1], "out_features": weight.shape[0], "bias": bias is not None}
    return layer("nn.Linear", weights, **{**settings, **params})


def test_linear_weighs_the_last_axis() -> None:
    x = np.float32([[1, 1, 1], [1, 2, 3]])
    np.testing.assert_array_equal(made().forward(x), [[6, 9], [14, 7]])
    np.testing.assert_array_equal(made(bias=np.float32([100, 200])).forward(x), [[106, 209], [114, 207]])


@pytest.mark.parametrize("leading", [(), (1,), (2, 5), (2, 1, 3), (0,), (3, 0)])
def test_linear_keeps_any_leading_axes(leading: tuple[int, ...]) -> None:
    x = small_integers(*leading, 3)
    out = made(bias=np.float32([1, 2])).forward(x)
    assert out.shape == (*leading, 2)
    np.testing.assert_array_equal(out, x @ WEIGHT.T + [1, 2])


def test_linear_takes_an_input_that_is_a_view() -> None:
    x = small_integers(3, 4).T[::2]
    np.testing.assert_array_equal(made().forward(x), x @ WEIGHT.T)


@pytest.mark.parametrize(("rows", "inputs", "outputs"), [(1, 1, 1), (2, 7, 8), (7, 13, 17), (8, 17, 49), (13, 8, 50)])
def test_linear_equals_three_loops(rows: int, inputs: int, outputs: int) -> None:
    x, weight = small_integers(rows, inputs), small_integers(outputs, inputs, seed=1)
    bias = small_integers(outputs, seed=2)
    np.testing.assert_array_equal(linear(x, np.ascontiguousarray(weight.T), bias), reference.linear(x, weight, bias))
    np.testing.assert_array_equal(made(weight, bias).forward(x), reference.linear(x, weight, bias))


def test_functional_linear_takes_weight_and_bias_as_operands() -> None:
    x = np.float32([[1, 2, 3]])
    np.testing.assert_array_equal(run("F.linear", x, WEIGHT), [[14, 7]])
    np.testing.assert_array_equal(run("F.linear", x, WEIGHT, np.float32([1, 2])), [[15, 9]])
    np.testing.assert_array_equal(run("F.linear", x, WEIGHT, np.float32([5])), [[19, 12]])


def test_functional_linear_adds_whatever_broadcasts_as_its_bias() -> None:
    x = np.float32([[1, 2, 3]])
    np.testing.assert_array_equal(run("F.linear", x, WEIGHT, 0.5), [[14.5, 7.5]])
    np.testing.assert_array_equal(run("F.linear", x, WEIGHT, np.float32([[1], [2]])), [[15, 8], [16, 9]])
    np.testing.assert_array_equal(run("F.linear", x, WEIGHT, np.float32([[[1, 2]]])), [[[15, 9]]])
    assert run("F.linear", x, WEIGHT, np.int64([[1, 2]])).dtype == np.float32
    assert run("F.linear", x, WEIGHT, np.float64([[1, 2]])).dtype == np.float64


def test_functional_linear_adds_a_number_that_the_file_gives() -> None:
    np.testing.assert_array_equal(run("F.linear", np.float32([[1, 2, 3]]), WEIGHT, bias=0.5), [[14.5, 7.5]])


@pytest.mark.parametrize(
    "type_name", ["F.conv1d", "F.conv2d", "F.conv3d", "F.conv_transpose2d", "F.layer_norm", "F.batch_norm"]
)
def test_functions_that_would_not_see_a_number_as_their_bias_refuse_it(type_name: str) -> None:
    with pytest.raises(UnsupportedOperatorError, match=r"expected bias as an input, got bias=0\.5"):
        layer(type_name, bias=0.5)


def test_functional_linear_with_a_weight_vector_drops_the_last_axis() -> None:
    x = np.float32([[1, 2, 3], [4, 5, 6]])
    np.testing.assert_array_equal(run("F.linear", x, WEIGHT[0]), [14, 32])


def test_linear_names_what_it_expects() -> None:
    with pytest.raises(ShapeError, match=r"^nn.Linear 'it': expected input \(..., 3\), got \(3, 4\)$"):
        made().forward(np.ones((3, 4), np.float32))
    with pytest.raises(ShapeError, match=r"expected input \(..., 3\), got \(\)$"):
        made().forward(np.float32(1))
    with pytest.raises(DataTypeError, match=r"^nn.Linear 'it': expected float32 input, got int64$"):
        made().forward(np.ones((2, 3), np.int64))
    with pytest.raises(ShapeError, match=r"expected weight of shape \(2, 4\), got \(2, 3\)$"):
        made(in_features=4)
    with pytest.raises(ShapeError, match=r"expected bias \(2,\), got \(3,\)$"):
        made(bias=np.ones(3, np.float32))
    with pytest.raises(ParameterError, match=r"expected a parameter 'out_features'"):
        layer("nn.Linear", {"weight": WEIGHT}, in_features=3)


def test_functional_linear_names_what_it_expects() -> None:
    x = np.ones((2, 3), np.float32)
    with pytest.raises(ShapeError, match=r"^F.linear 'it': expected weight .* got \(1, 2, 3\)$"):
        run("F.linear", x, WEIGHT[None])
    with pytest.raises(ShapeError, match=r"expected bias \(2,\), got \(3,\)$"):
        run("F.linear", x, WEIGHT, np.ones(3, np.float32))
    with pytest.raises(ShapeError, match=r"expected a bias that broadcasts with \(2, 2\), got \(3, 2\)$"):
        run("F.linear", x, WEIGHT, np.ones((3, 2), np.float32))
    with pytest.raises(ShapeError, match=r"expected no bias with a weight \(in_features,\), got one$"):
        run("F.linear", x, WEIGHT[0], np.ones(2, np.float32))


def test_linear_flops() -> None:
    assert made(bias=np.ones(2, np.float32)).flops([(5, 7, 3)], [(5, 7, 2)]) == 5 * 7 * 2 * (2 * 3 + 1)

from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import ShapeError
from kuiper.layers import create
from kuiper.layers.operators.reshape import reshape
from tests.layers.one_operator import run
from tests.layers.wired_operator import run_wired, wired

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


@pytest.mark.parametrize("type_name", ["Tensor.reshape", "Tensor.view", "torch.reshape"])
def test_reshape_keeps_the_order_of_elements(type_name: str) -> None:
    np.testing.assert_array_equal(run(type_name, X, shape=[4, -1])[1], [6, 7, 8, 9, 10, 11])


def test_reshape_of_a_contiguous_array_is_a_view() -> None:
    assert np.shares_memory(reshape(X, (6, 4)), X)


def test_reshape_of_a_permuted_array_follows_its_axes() -> None:
    np.testing.assert_array_equal(reshape(X.transpose(1, 0, 2), (3, 8))[0], [0, 1, 2, 3, 12, 13, 14, 15])


def test_reshape_to_a_scalar_and_back() -> None:
    scalar = run("Tensor.reshape", np.float32([[7]]), shape=[])
    assert scalar.shape == ()
    assert reshape(scalar, (-1,)).tolist() == [7]


def test_reshape_of_nothing() -> None:
    empty = np.zeros((2, 0, 3), np.float32)
    assert reshape(empty, (0, 6)).shape == (0, 6)
    assert reshape(empty, (-1, 6)).shape == (0, 6)
    with pytest.raises(ShapeError, match=r"expected a shape of 0 elements with at most one -1, got \(0, -1\)"):
        reshape(empty, (0, -1))  # any size would do


@pytest.mark.parametrize("shape", [[5, 5], [-1, 5], [-1, -1, 4], [-2, -12], [24, 0]])
def test_reshape_refuses_a_shape_of_another_size(shape: list[int]) -> None:
    with pytest.raises(ShapeError, match=r"Tensor.reshape 'it': expected a shape of 24 elements"):
        run("Tensor.reshape", X, shape=shape)


@pytest.mark.parametrize("shape", [(1, 12), (1, -1), (1, 2, 6)])
def test_reshape_frees_a_batch_that_the_export_has_baked_in(shape: tuple[int, ...]) -> None:
    layer = create(wired("Tensor.reshape", declared=(1, 3, 4), shape=list(shape)))
    assert layer.forward(X).shape == (2, *reshape(X[:1], shape).shape[1:])
    np.testing.assert_array_equal(layer.forward(X)[1:], layer.forward(X[1:]))


def test_reshape_from_a_larger_baked_batch_to_a_single_image() -> None:
    layer = create(wired("Tensor.view", declared=(8, 3, 4), shape=[8, 12]))
    assert layer.forward(X[:1]).shape == (1, 12)


@pytest.mark.parametrize(
    ("declared", "shape", "actual"),
    [
        ((4, 3, 2, 1), (4, 6), (2, 3, 4)),  # other axes than declared
        ((2, 12), (2, 3, 2, 2), (3, 8)),  # the 8 is 3 * 2 * 2 no more, and 24 numbers would fit (2, 3, 2, 2)
        ((1, 2, 8), (1, 4, 4), (1, 4, 4)),  # h * 2 and w / 2 would be 8 and 2
        ((2, 24, 12), (2, -1, 24, 12), (2, 48, 12)),  # is it the -1 that has become 2, or the 24 that is 48?
        ((1, 7), (2, 3), (1, 6)),  # never were the declared sizes these
    ],
)
def test_reshape_refuses_an_input_that_contradicts_baked_sizes(
    declared: tuple[int, ...], shape: tuple[int, ...], actual: tuple[int, ...]
) -> None:
    layer = create(wired("Tensor.reshape", declared=declared, shape=list(shape)))
    with pytest.raises(ShapeError, match=r"expected input .*, from which the file makes .*; export the model with"):
        layer.forward(np.zeros(actual, np.float32))


def test_reshape_lets_a_minus_one_take_what_changed() -> None:
    layer = create(wired("Tensor.reshape", declared=(1, 196, 64), shape=[1, -1, 4, 16]))
    assert layer.forward(np.zeros((3, 49, 64), np.float32)).shape == (3, 49, 4, 16)


def test_reshape_frees_a_batch_that_the_export_has_merged_with_other_sizes() -> None:
    layer = create(wired("Tensor.reshape", declared=(1, 3, 4), shape=[3, 4]))
    np.testing.assert_array_equal(layer.forward(X), X.reshape(6, 4))


def test_reshape_takes_the_declared_shape_if_the_parameter_has_another_number_of_axes() -> None:
    op = wired("Tensor.reshape", declared=(2, 3, 4), shape=[2, 12, -1])
    op.outputs[0].shape = (2, 12)
    assert create(op).forward(X).shape == (2, 12)


@pytest.mark.parametrize("type_name", ["Tensor.view_as", "Tensor.reshape_as"])
def test_reshape_as_takes_the_other_shape(type_name: str) -> None:
    assert run_wired(type_name, X, np.zeros((4, 6)), names=("input", "other")).shape == (4, 6)


def test_reshape_keeps_a_size_for_0_as_onnx_does() -> None:
    x = np.arange(24.0).reshape(2, 3, 4)
    assert run("Tensor.reshape", x, shape=[0, -1]).shape == (2, 12)
    assert run("Tensor.reshape", x, shape=[0, 0, 2, -1]).shape == (2, 3, 2, 2)
    assert run("Tensor.reshape", np.zeros((0, 3)), shape=[3, 0]).shape == (3, 0)


def test_reshape_makes_a_vector_of_a_number() -> None:
    assert run("Tensor.reshape", 7, shape=[1]).tolist() == [7]


def test_reshape_takes_a_shape_that_the_graph_computes_as_it_is() -> None:
    layer = create(wired("Tensor.reshape", inputs=2, names=("input", "shape"), declared=(1, 3, 4)))
    assert layer.forward(X, [2, 12]).shape == (2, 12)
    assert layer.forward(X, [1, 6, 4]).shape == (1, 6, 4)

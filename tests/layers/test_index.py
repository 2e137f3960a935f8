from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import DataTypeError, ParameterError, ShapeError, TensorIndexError, UnsupportedOperatorError
from kuiper.layers import create
from tests.layers.wired_operator import run_wired, wired

X = np.arange(24).reshape(2, 3, 4)


def test_index_picks_along_one_axis() -> None:
    np.testing.assert_array_equal(run_wired("Tensor.index", X, [None, np.array([2, -3])]), X[:, [2, 0]])


def test_index_broadcasts_several_tensors() -> None:
    out = run_wired("Tensor.index", X, [np.array([[0], [1]]), None, np.array([3, 1])])
    np.testing.assert_array_equal(out, X[np.array([[0], [1]]), :, np.array([3, 1])])


def test_index_takes_masks() -> None:
    assert run_wired("Tensor.index", X, [X > 21]).tolist() == [22, 23]


def test_index_refuses_what_does_not_fit() -> None:
    with pytest.raises(TensorIndexError, match=r"Tensor.index 'it': expected indices within \(2, 3, 4\), got"):
        run_wired("Tensor.index", X, [np.array([2])])
    with pytest.raises(ShapeError, match=r"expected indices that broadcast, got \[\(2,\), \(3,\)\]"):
        run_wired("Tensor.index", X, [np.zeros(2, int), np.zeros(3, int)])
    with pytest.raises(DataTypeError, match=r"expected indices that are integers or bools, got float32"):
        run_wired("Tensor.index", X, [np.zeros(2, np.float32)])


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        ("[None,[2,1,0]]", X[:, [2, 1, 0]]),
        ("[[1,0],[2,-1]]", X[[1, 0], [2, -1]]),
        ("[None,None,[3]]", X[:, :, [3]]),
    ],
)
def test_index_takes_constant_indices(expr: str, expected: np.ndarray) -> None:
    np.testing.assert_array_equal(run_wired("Tensor.index", X, expr=expr), expected)


@pytest.mark.parametrize("expr", ["[[3,...,41]]", "[None,[2,", "[None,[0.5]]", "7"])
def test_index_refuses_constant_indices_that_are_not_whole(expr: str) -> None:
    with pytest.raises(ParameterError, match=r"expected expr=a list of None and lists of integers"):
        create(wired("Tensor.index", expr=expr))


def test_index_refuses_indices_of_which_pnnx_kept_a_part() -> None:
    op = wired("Tensor.index", expr="[None,[0,1],[0]]")
    op.outputs[0].shape = (2, 2, 3)
    with pytest.raises(UnsupportedOperatorError, match=r"expected indices with one axis, as pnnx keeps no other"):
        create(op).forward(X)

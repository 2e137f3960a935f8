from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import DataTypeError, ShapeError, TensorIndexError
from tests.layers.wired_operator import run_wired

X = np.zeros((3, 2), np.float32)


def test_index_put_writes_to_a_copy() -> None:
    out = run_wired("Tensor.index_put", X, [np.array([2, 0])], np.float32([[1, 2], [3, 4]]))
    assert out.tolist() == [[3, 4], [0, 0], [1, 2]]
    assert not X.any()


def test_index_put_accumulates_where_a_place_comes_twice() -> None:
    places = [np.array([1, 1]), np.array([0, 0])]
    assert run_wired("Tensor.index_put", X, places, np.float32([1, 2]), accumulate=True)[1].tolist() == [3, 0]
    assert run_wired("Tensor.index_put", X, places, np.float32([1, 2]))[1].tolist() == [2, 0]


def test_index_put_of_a_number_under_a_mask_and_in_a_column() -> None:
    assert run_wired("Tensor.index_put", X + 1, [X == 0], values=0.5).tolist() == [[0.5, 0.5]] * 3
    assert run_wired("Tensor.index_put", X, [None, np.array([1])], values=7).tolist() == [[0, 7]] * 3


def test_index_put_refuses_what_does_not_fit() -> None:
    with pytest.raises(
        ShapeError, match=r"Tensor.index_put 'it': expected values that broadcast to the places, got \(3,\)"
    ):
        run_wired("Tensor.index_put", X, [np.array([0])], np.zeros(3, np.float32))
    with pytest.raises(TensorIndexError, match=r"expected indices within \(3, 2\)"):
        run_wired("Tensor.index_put", X, [np.array([3])], np.float32(1))
    with pytest.raises(DataTypeError, match=r"expected indices that are integers or bools, got float64"):
        run_wired("Tensor.index_put", X, [np.array([0.5])], np.float32(1))
    with pytest.raises(DataTypeError, match=r"expected values of the input's type float32, got int(32|64)"):
        run_wired("Tensor.index_put", X, [np.array([0])], np.array([1]))
    with pytest.raises(ShapeError, match=r"expected an input or a parameter 'values', got none"):
        run_wired("Tensor.index_put", X, [np.array([0])])

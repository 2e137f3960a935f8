from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import DataTypeError, ShapeError, TensorIndexError
from tests.layers.wired_operator import run_wired

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
    with pytest.raises(DataTypeError, match=r"expected indices that are whole numbers or bools, got float32"):
        run_wired("Tensor.index", X, [np.zeros(2, np.float32)])

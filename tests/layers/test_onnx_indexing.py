from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import DataTypeError, ParameterError, ShapeError, TensorIndexError
from kuiper.layers import create
from tests.layers.wired_operator import run_wired, wired

X = np.arange(12, dtype=np.float32).reshape(3, 4)


def test_gather_puts_the_shape_of_the_indices_in_the_place_of_the_axis() -> None:
    assert run_wired("Gather", X, np.array([[0, -1]]), axis=1).tolist() == X[:, [[0, 3]]].tolist()
    assert run_wired("Gather", X, 2).tolist() == [8, 9, 10, 11]
    with pytest.raises(TensorIndexError, match=r"Gather 'it': expected indices within -3\.\.2, got 3"):
        run_wired("Gather", X, np.array([3]))
    with pytest.raises(DataTypeError):
        run_wired("Gather", X, np.array([1.0]))


def test_gather_takes_indices_from_its_parameter() -> None:
    assert run_wired("Gather", X, indices=2).tolist() == X[[2]].tolist()
    assert run_wired("Gather", X, indices=[-1, 0], axis=1).tolist() == X[:, [-1, 0]].tolist()
    op = wired("Gather", 1, 1, indices=2)
    op.outputs[0].shape = (4,)
    assert create(op).forward(X).tolist() == X[2].tolist()
    with pytest.raises(ParameterError, match="expected a parameter 'indices'"):
        run_wired("Gather", X)


def test_gather_nd_indexes_the_first_axes() -> None:
    assert run_wired("GatherND", X, np.array([[2, -1], [0, 0]])).tolist() == [11, 0]
    assert run_wired("GatherND", X, np.array([[1]])).tolist() == [[4, 5, 6, 7]]
    with pytest.raises(TensorIndexError, match=r"indices into \(3, 4\), got \[\[3, 0\]\]"):
        run_wired("GatherND", X, np.array([[3, 0]]))
    with pytest.raises(TensorIndexError):
        run_wired("GatherND", X, np.array([[0, 0, 0]]))


def test_gather_nd_takes_batches_apart() -> None:
    assert run_wired("GatherND", X, np.array([[1], [0], [3]]), batch_dims=1).tolist() == [1, 4, 11]
    with pytest.raises(ShapeError, match="indices"):
        run_wired("GatherND", X, np.array([[1]]), batch_dims=1)


def test_scatter_nd_combines_updates_with_what_is_there() -> None:
    places = np.array([[0], [0]])
    assert run_wired("ScatterND", X, places, np.float32([[2] * 4] * 2), reduction="mul")[0].tolist() == [0, 4, 8, 12]


def test_scatter_nd_leaves_its_input_alone() -> None:
    before = X.copy()
    result = run_wired("ScatterND", X, np.array([[0], [2]]), np.zeros((2, 4), np.float32))
    assert result.tolist() == [[0, 0, 0, 0], [4, 5, 6, 7], [0, 0, 0, 0]]
    assert np.array_equal(X, before)
    assert run_wired("ScatterND", X, 1, np.zeros((1, 4), np.float32))[1].tolist() == [0, 0, 0, 0]
    with pytest.raises(ShapeError, match=r"updates \(1, 4\), got \(2, 4\)"):
        run_wired("ScatterND", X, np.array([[0]]), np.zeros((2, 4), np.float32))


def test_gather_and_scatter_elements_are_those_of_torch() -> None:
    index = np.array([[3, 0], [1, 1]])
    assert run_wired("GatherElements", X, index, axis=1).tolist() == [[3, 0], [5, 5]]
    assert run_wired("ScatterElements", X, index[:1], np.float32([[9, 8]]), axis=1)[0].tolist() == [8, 1, 2, 9]
    added = run_wired("ScatterElements", X, index[1:], np.float32([[9, 8]]), axis=1, reduction="add")
    assert added[0].tolist() == [0, 18, 2, 3]

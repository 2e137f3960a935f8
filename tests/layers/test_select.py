from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import ShapeError, TensorIndexError
from tests.layers.one_operator import run

X = np.array([[1, 2, 3], [4, 5, 6]])


@pytest.mark.parametrize(("dim", "index", "expected"), [(0, 1, [4, 5, 6]), (1, 0, [1, 4]), (-1, -1, [3, 6])])
def test_select_takes_one_index_of_an_axis(dim: int, index: int, expected: list[int]) -> None:
    out = run("Tensor.select", X, dim=dim, index=index)
    assert out.tolist() == expected
    assert np.shares_memory(out, X)


def test_select_from_a_vector_is_an_array_without_axes() -> None:
    out = run("Tensor.select", X[0], dim=0, index=2)
    assert isinstance(out, np.ndarray)
    assert out.shape == ()
    assert out == 3


@pytest.mark.parametrize("index", [3, -4])
def test_select_refuses_an_index_outside(index: int) -> None:
    with pytest.raises(TensorIndexError, match=rf"Tensor.select 'it': expected an index within -3..2, got {index}"):
        run("Tensor.select", X, dim=1, index=index)


def test_select_refuses_a_scalar() -> None:
    with pytest.raises(ShapeError, match=r"expected input with axes"):
        run("Tensor.select", np.array(3), dim=0, index=0)


def test_select_of_several_indices_keeps_the_axis() -> None:
    assert run("Tensor.select", X, dim=1, index=[2, 0, -1]).tolist() == X[:, [2, 0, -1]].tolist()
    assert run("Tensor.select", X, dim=1, index=[1]).shape == (*X.shape[:1], 1, *X.shape[2:])
    with pytest.raises(TensorIndexError, match=r"expected an index within -3..2, got 3"):
        run("Tensor.select", X, dim=1, index=[0, 3])

from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import ShapeError
from tests.layers.one_operator import run

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


@pytest.mark.parametrize(("dim0", "dim1", "shape"), [(0, 1, (3, 2, 4)), (-1, 0, (4, 3, 2)), (1, 1, (2, 3, 4))])
def test_transpose_swaps_two_axes(dim0: int, dim1: int, shape: tuple[int, ...]) -> None:
    out = run("torch.transpose", X, dim0=dim0, dim1=dim1)
    assert out.shape == shape
    assert np.shares_memory(out, X)


def test_transpose_refuses_a_missing_axis() -> None:
    with pytest.raises(ShapeError, match=r"torch.transpose 'it': expected dim within -3..2, got 3"):
        run("torch.transpose", X, dim0=0, dim1=3)


def test_t_lays_a_matrix_on_its_side() -> None:
    np.testing.assert_array_equal(run("torch.t", np.array([[1, 2, 3], [4, 5, 6]])), [[1, 4], [2, 5], [3, 6]])


def test_t_leaves_a_vector_as_it_is() -> None:
    assert run("torch.t", np.array([1, 2, 3])).tolist() == [1, 2, 3]


def test_t_refuses_more_than_two_axes() -> None:
    with pytest.raises(ShapeError, match=r"torch.t 'it': expected input with at most two axes, got \(2, 3, 4\)"):
        run("torch.t", X)

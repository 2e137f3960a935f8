from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import ShapeError, TensorIndexError
from tests.layers.wired_operator import run_wired

X = np.array([[1, 2, 3], [4, 5, 6]])


def test_gather_picks_along_an_axis() -> None:
    assert run_wired("torch.gather", X, np.array([[2, 0], [1, 1]]), dim=1).tolist() == [[3, 1], [5, 5]]
    assert run_wired("torch.gather", X, np.array([[1, 0]]), dim=0).tolist() == [[4, 2]]  # smaller off the axis


def test_gather_refuses_what_does_not_fit() -> None:
    with pytest.raises(
        ShapeError, match=r"torch.gather 'it': expected an index within \(2, 3\) off axis 1, got \(3, 1\)"
    ):
        run_wired("torch.gather", X, np.zeros((3, 1), int), dim=1)
    with pytest.raises(TensorIndexError, match=r"expected indices within 0..2, got -1"):
        run_wired("torch.gather", X, np.array([[-1], [0]]), dim=1)


def test_index_select_picks_whole_entries() -> None:
    assert run_wired("torch.index_select", X, np.array([2, 2, 0]), dim=-1).tolist() == [[3, 3, 1], [6, 6, 4]]


def test_index_select_refuses_what_does_not_fit() -> None:
    with pytest.raises(TensorIndexError, match=r"torch.index_select 'it': expected indices within 0..1, got 2"):
        run_wired("torch.index_select", X, np.array([2]), dim=0)
    with pytest.raises(ShapeError, match=r"expected an input with axes and an index with one"):
        run_wired("torch.index_select", X, np.array([[0]]), dim=0)

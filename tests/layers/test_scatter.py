from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import DataTypeError, ShapeError, TensorIndexError
from tests.layers.wired_operator import run_wired

X = np.zeros((2, 3), np.float32)
INDEX = np.array([[2, 2], [0, 1]])
SOURCE = np.float32([[1, 2, 3], [4, 5, 6]])


def test_scatter_add_adds_up_what_meets() -> None:
    assert run_wired("torch.scatter_add", X, INDEX, SOURCE, dim=1).tolist() == [[0, 0, 3], [4, 5, 0]]
    assert run_wired("torch.scatter_add", X, INDEX[1:], SOURCE, dim=0).tolist() == [[1, 0, 0], [0, 2, 0]]
    assert run_wired("torch.scatter_add", X, INDEX[:1] - 3, SOURCE, dim=1).tolist() == [[0, 0, 3], [0, 0, 0]]
    assert not X.any()


def test_scatter_writes_entries_or_a_number() -> None:
    assert run_wired("torch.scatter", X, INDEX[1:], SOURCE, dim=-1).tolist() == [[1, 2, 0], [0, 0, 0]]
    assert run_wired("aten::scatter", X, 1, INDEX[1:], 1.5).tolist() == [[1.5, 1.5, 0], [0, 0, 0]]


def test_scatter_index_may_be_longer_along_dim_only() -> None:
    index, source = np.array([[0, 0, 1, 0]]), np.float32([[1, 2, 4, 8]])
    assert run_wired("torch.scatter_add", X, index, source, dim=1).tolist() == [[11, 4, 0], [0, 0, 0]]
    with pytest.raises(ShapeError, match=r"expected an index within \(2, 3\) off dim 0"):
        run_wired("torch.scatter_add", X, index, source, dim=0)


def test_scatter_of_no_index_is_the_input() -> None:
    assert run_wired("torch.scatter_add", X, INDEX[:0], SOURCE, dim=1).tolist() == X.tolist()


def test_scatter_refuses_what_does_not_fit() -> None:
    with pytest.raises(TensorIndexError, match=r"torch.scatter_add 'it': expected indices within -2..1, got 2"):
        run_wired("torch.scatter_add", X, INDEX, SOURCE, dim=0)
    with pytest.raises(ShapeError, match=r"expected an index within \(2, 3\) off dim 1 and within the source \(1, 3\)"):
        run_wired("torch.scatter_add", X, INDEX, SOURCE[:1], dim=1)
    with pytest.raises(DataTypeError, match=r"expected a source of the input's type float32, got int64"):
        run_wired("torch.scatter_add", X, INDEX, SOURCE.astype(np.int64), dim=1)
    with pytest.raises(ShapeError, match=r"expected dim within -2..1, got 2"):
        run_wired("torch.scatter_add", X, INDEX, SOURCE, dim=2)

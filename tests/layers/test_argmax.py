from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import ShapeError
from tests.layers.one_operator import run

X = np.float32([[1, 7, 7], [4, -5, -5]])


def test_argmax_and_argmin_find_the_first() -> None:
    assert run("torch.argmax", X, dim=1, keepdim=False).tolist() == [1, 0]
    assert run("torch.argmin", X, dim=-1, keepdim=True).tolist() == [[0], [1]]


def test_argmax_without_dim_counts_through_the_whole_input() -> None:
    out = run("torch.argmin", X, dim=None)
    assert out.dtype == np.int64
    assert out.shape == ()
    assert out == 4


def test_argmax_and_argmin_stop_at_nan() -> None:
    x = np.float32([[9, np.nan, np.nan]])
    assert run("torch.argmax", x, dim=1).tolist() == [1]
    assert run("torch.argmin", x, dim=1).tolist() == [1]


def test_argmax_refuses_an_empty_axis() -> None:
    with pytest.raises(ShapeError, match=r"torch.argmax 'it': expected at least one entry"):
        run("torch.argmax", np.zeros((2, 0)), dim=1)

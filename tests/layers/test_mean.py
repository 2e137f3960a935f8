from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import DataTypeError
from kuiper.layers.operators.mean import mean
from tests.layers.one_operator import run

X = np.float32([[1, 2, 6], [4, 5, 0]])


def test_mean_over_axes() -> None:
    assert run("torch.mean", X, dim=[0], keepdim=False).tolist() == [2.5, 3.5, 3]
    assert run("torch.mean", X, dim=[1], keepdim=True).tolist() == [[3], [3]]
    assert run("torch.mean", X).tolist() == 3


def test_mean_does_not_lose_small_numbers_in_a_long_column() -> None:
    column = np.full((1 << 16, 2), 1000.1, np.float32)
    assert mean(column, (0,)).tolist() == [np.float32(1000.1)] * 2


def test_mean_of_nothing_is_nan() -> None:
    assert np.isnan(mean(np.zeros((0, 2), np.float32), (0,))).all()


def test_mean_refuses_integers() -> None:
    with pytest.raises(DataTypeError, match=r"torch.mean 'it': expected floats, got int64"):
        run("torch.mean", np.int64([1, 2]))

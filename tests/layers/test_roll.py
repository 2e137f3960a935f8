from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import ParameterError, ShapeError
from tests.layers.one_operator import run

X = np.array([[1, 2, 3], [4, 5, 6]])


def test_roll_moves_on_along_axes() -> None:
    assert run("torch.roll", X, shifts=[1], dims=[1]).tolist() == [[3, 1, 2], [6, 4, 5]]
    assert run("torch.roll", X, shifts=[1, -1], dims=[0, -1]).tolist() == [[5, 6, 4], [2, 3, 1]]


def test_roll_without_dims_moves_through_all() -> None:
    assert run("torch.roll", X, shifts=2, dims=None).tolist() == [[5, 6, 1], [2, 3, 4]]


def test_roll_refuses_what_does_not_fit() -> None:
    with pytest.raises(ParameterError, match=r"torch.roll 'it': expected 2 shifts, got \(1,\)"):
        run("torch.roll", X, shifts=[1], dims=[0, 1])
    with pytest.raises(ShapeError, match=r"expected dim within -2..1, got 2"):
        run("torch.roll", X, shifts=[1], dims=[2])

from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import ShapeError
from tests.layers.one_operator import run

X = np.array([[1, 2, 3], [4, 5, 6]])


def test_flip_turns_axes_round() -> None:
    assert run("torch.flip", X, dims=[-1]).tolist() == [[3, 2, 1], [6, 5, 4]]
    assert run("torch.flip", X, dims=[0, 1]).tolist() == [[6, 5, 4], [3, 2, 1]]
    assert np.shares_memory(run("torch.flip", X, dims=[0]), X)


def test_flip_refuses_a_missing_axis() -> None:
    with pytest.raises(ShapeError, match=r"torch.flip 'it': expected dim within -2..1, got 2"):
        run("torch.flip", X, dims=[2])

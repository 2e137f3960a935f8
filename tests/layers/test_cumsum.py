from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import ShapeError
from tests.layers.one_operator import run


def test_cumsum_adds_along_an_axis() -> None:
    x = np.float32([[1, 2, 3], [4, 5, 6]])
    assert run("torch.cumsum", x, dim=-1).tolist() == [[1, 3, 6], [4, 9, 15]]
    assert run("torch.cumsum", x, dim=0).tolist() == [[1, 2, 3], [5, 7, 9]]


def test_cumsum_of_bools_counts() -> None:
    out = run("torch.cumsum", np.array([True, False, True]), dim=0)
    assert out.dtype == np.int64
    assert out.tolist() == [1, 1, 2]


def test_cumsum_of_a_scalar_has_no_axes() -> None:
    assert run("torch.cumsum", np.array(3.0), dim=0).shape == ()


def test_cumsum_refuses_a_missing_axis() -> None:
    with pytest.raises(ShapeError, match=r"torch.cumsum 'it': expected dim within -1..0, got 1"):
        run("torch.cumsum", np.zeros(3), dim=1)

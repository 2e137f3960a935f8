from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import DataTypeError, ShapeError
from tests.layers.one_operator import run

X = np.int64([[1, 2, 3], [4, 5, 6]])


def test_masked_select_makes_a_vector() -> None:
    assert run("torch.masked_select", X, X % 2 == 0).tolist() == [2, 4, 6]
    assert run("torch.masked_select", X, np.array([True, False, True])).tolist() == [1, 3, 4, 6]
    assert run("torch.masked_select", np.array(7), np.array([True, True])).tolist() == [7, 7]


def test_masked_select_refuses_what_is_no_mask() -> None:
    with pytest.raises(DataTypeError, match=r"torch.masked_select 'it': expected a mask of bools, got int64"):
        run("torch.masked_select", X, X)
    with pytest.raises(ShapeError, match=r"expected a mask that broadcasts with \(2, 3\), got \(2,\)"):
        run("torch.masked_select", X, np.array([True, False]))

from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import ShapeError
from tests.layers.one_operator import run
from tests.layers.wired_operator import run_wired

X = np.float32([[1, 7, 7], [4, -5, 6]])


def test_max_with_two_outputs_gives_values_and_indices() -> None:
    values, indices = run_wired("torch.max", X, outputs=2, dim=1, keepdim=False)
    assert values.tolist() == [7, 6]
    assert indices.tolist() == [1, 2]
    assert indices.dtype == np.int64


def test_min_keeps_the_axis_if_asked() -> None:
    values, indices = run_wired("torch.min", X, outputs=2, dim=-2, keepdim=True)
    assert values.tolist() == [[1, -5, 6]]
    assert indices.tolist() == [[0, 1, 1]]


def test_max_with_one_output_gives_values() -> None:
    assert run("torch.max", X, dim=0).tolist() == [4, 7, 7]
    assert run("torch.min", X).tolist() == -5


def test_max_takes_nan_for_the_largest_and_min_for_the_smallest() -> None:
    x = np.float32([[1, np.nan, 3]])
    for type_name in ("torch.max", "torch.min"):
        values, indices = run_wired(type_name, x, outputs=2, dim=1)
        assert np.isnan(values).all()
        assert indices.tolist() == [1]


def test_max_of_a_scalar_is_itself() -> None:
    values, indices = run_wired("torch.max", np.array(5.0), outputs=2, dim=0)
    assert (values, indices) == (5, 0)


def test_max_refuses_a_missing_axis() -> None:
    with pytest.raises(ShapeError, match=r"torch.max 'it': expected dim within -2..1, got 2"):
        run_wired("torch.max", X, outputs=2, dim=2)

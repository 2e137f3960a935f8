from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import DataTypeError
from tests.layers.wired_operator import run_wired

MASK = np.array([[True], [False]])
X, Y = np.int64([1, 2]), np.int64([[3, 4], [5, 6]])


def test_where_chooses_and_broadcasts() -> None:
    assert run_wired("torch.where", MASK, X, Y, names=("condition", "input", "other")).tolist() == [[1, 2], [5, 6]]


def test_where_takes_numbers_and_promotes() -> None:
    out = run_wired("torch.where", MASK, X, names=("condition", "input"), other=0.5)
    assert out.dtype == np.float32
    assert out.tolist() == [[1, 2], [0.5, 0.5]]
    out = run_wired("torch.where", MASK, Y, names=("condition", "other"), input=0)
    assert out.tolist() == [[0, 0], [5, 6]]


def test_where_refuses_a_condition_of_numbers() -> None:
    with pytest.raises(DataTypeError, match=r"torch.where 'it': expected a condition of bools, got int64"):
        run_wired("torch.where", X, X, X, names=("condition", "input", "other"))


def test_masked_fill_keeps_the_element_type() -> None:
    out = run_wired("Tensor.masked_fill", np.float32([1, 2]), MASK, names=("input", "mask"), value="-inf")
    assert out.dtype == np.float32
    assert out.tolist() == [[-np.inf, -np.inf], [1, 2]]


@pytest.mark.parametrize(("condition", "expected"), [(True, [1, 2]), (False, [3, 4])])
def test_where_takes_a_condition_that_pnnx_knew(condition: bool, expected: list[int]) -> None:
    other = np.array([3, 4])
    assert run_wired("torch.where", X, other, names=("input", "other"), condition=condition).tolist() == expected

from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import ParameterError
from tests.layers.one_operator import run
from tests.layers.wired_operator import run_wired

X = np.float32([1, 2, np.nan])


@pytest.mark.parametrize(
    ("type_name", "expected"),
    [
        ("torch.gt", [False, False, False]),
        ("torch.ge", [False, True, False]),
        ("torch.lt", [True, False, False]),
        ("torch.le", [True, True, False]),
        ("torch.eq", [False, True, False]),
        ("torch.ne", [True, False, True]),
    ],
)
def test_compare_with_a_number(type_name: str, expected: list[bool]) -> None:
    out = run(type_name, X, other=2)
    assert out.dtype == np.bool_
    assert out.tolist() == expected


def test_compare_with_a_tensor_broadcasts() -> None:
    out = run_wired("torch.gt", np.array([[1], [3]]), np.array([0, 2]), names=("input", "other"))
    assert out.tolist() == [[True, False], [True, True]]


def test_compare_refuses_nothing_to_compare_with() -> None:
    with pytest.raises(ParameterError, match=r"torch.gt 'it': expected something to compare with, other, got none"):
        run("torch.gt", X)


def test_compare_with_a_list_broadcasts() -> None:
    assert run("torch.eq", np.array([[1], [2]]), other=[0, 1, 2]).tolist() == np.eye(3, dtype=bool)[1:].tolist()

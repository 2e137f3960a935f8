from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import ShapeError
from tests.layers.wired_operator import run_wired

A, B = np.array([1, 2, 3]), np.array([4, 5, 6])


@pytest.mark.parametrize(
    ("dim", "expected"),
    [(0, [[1, 2, 3], [4, 5, 6]]), (1, [[1, 4], [2, 5], [3, 6]]), (-1, [[1, 4], [2, 5], [3, 6]])],
)
def test_stack_makes_a_new_axis(dim: int, expected: list[list[int]]) -> None:
    assert run_wired("torch.stack", A, B, dim=dim).tolist() == expected


def test_stack_takes_one_list_and_promotes() -> None:
    out = run_wired("torch.stack", [A, B.astype(np.float32)], names=("tensors",))
    assert out.shape == (2, 3)
    assert out.dtype == np.float32


def test_stack_refuses_different_shapes() -> None:
    with pytest.raises(ShapeError, match=r"torch.stack 'it': expected inputs of one shape, got \(3,\), \(2,\)"):
        run_wired("torch.stack", A, B[:2])


def test_stack_refuses_nothing_and_a_missing_axis() -> None:
    with pytest.raises(ShapeError, match=r"expected inputs of one shape, got none"):
        run_wired("torch.stack", [], names=("tensors",))
    with pytest.raises(ShapeError, match=r"expected dim within -2..1, got 2"):
        run_wired("torch.stack", A, B, dim=2)

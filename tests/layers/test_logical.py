from __future__ import annotations

import numpy as np
import pytest

from tests.layers.wired_operator import run_wired

X, Y = np.array([[True], [False]]), np.float32([0, -2])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("and", [[False, True], [False, False]]),
        ("or", [[True, True], [False, True]]),
        ("xor", [[True, False], [False, True]]),
    ],
)
def test_logical_functions_of_two_broadcast(name: str, expected: list[list[bool]]) -> None:
    assert run_wired(f"torch.logical_{name}", X, Y, names=("input", "other")).tolist() == expected


def test_logical_not_takes_numbers_and_bitwise_not_turns_bits() -> None:
    assert run_wired("torch.logical_not", Y).tolist() == [True, False]
    assert run_wired("torch.bitwise_not", X).tolist() == [[False], [True]]
    assert run_wired("torch.bitwise_not", np.array([0, 5])).tolist() == [-1, -6]

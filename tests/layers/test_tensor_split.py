from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import ParameterError, ShapeError
from tests.layers.wired_operator import run_wired

X = np.arange(7)


def lists(out: object) -> list[list[int]]:
    return [piece.tolist() for piece in out]  # type: ignore[attr-defined]


def test_tensor_split_makes_the_first_sections_larger() -> None:
    assert lists(run_wired("torch.tensor_split", X, outputs=3, sections=3)) == [[0, 1, 2], [3, 4], [5, 6]]
    assert lists(run_wired("torch.tensor_split", X[:2], outputs=3, sections=3)) == [[0], [1], []]


@pytest.mark.parametrize(
    ("indices", "expected"),
    [
        ([2, 5], [[0, 1], [2, 3, 4], [5, 6]]),
        ([2, -1], [[0, 1], [2, 3, 4, 5], [6]]),
        ([5, 2], [[0, 1, 2, 3, 4], [], [2, 3, 4, 5, 6]]),
        ([3, 99], [[0, 1, 2], [3, 4, 5, 6], []]),
    ],
)
def test_tensor_split_reads_indices_as_python_does(indices: list[int], expected: list[list[int]]) -> None:
    assert lists(run_wired("torch.tensor_split", X, outputs=3, indices=indices)) == expected


def test_tensor_split_refuses_no_sections() -> None:
    with pytest.raises(ParameterError, match=r"torch.tensor_split 'it': expected sections >= 1, got 0"):
        run_wired("torch.tensor_split", X, sections=0)


def test_tensor_split_refuses_a_single_number() -> None:
    with pytest.raises(ShapeError, match=r"expected input with axes, got \(\)"):
        run_wired("torch.tensor_split", np.float32(1), outputs=2, sections=2)

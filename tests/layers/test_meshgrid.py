from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import ShapeError, UnsupportedOperatorError
from tests.layers.wired_operator import run_wired

A, B = np.array([1, 2, 3]), np.array([4, 5])


def test_meshgrid_varies_one_axis_in_each_grid() -> None:
    first, second = run_wired("aten::meshgrid", [A, B], "ij", outputs=2)
    assert first.tolist() == [[1, 1], [2, 2], [3, 3]]
    assert second.tolist() == [[4, 5]] * 3


def test_meshgrid_xy_swaps_the_first_two_axes() -> None:
    first, second = run_wired("torch.meshgrid", A, B, outputs=2, indexing="xy")
    assert first.tolist() == [[1, 2, 3]] * 2
    assert second.tolist() == [[4, 4, 4], [5, 5, 5]]


def test_meshgrid_refuses_other_words_and_matrices() -> None:
    with pytest.raises(UnsupportedOperatorError, match=r'expected indexing "ij" or "xy", got ji'):
        run_wired("aten::meshgrid", [A, B], "ji", outputs=2)
    with pytest.raises(ShapeError, match=r"expected vectors, got \[\(3,\), \(1, 2\)\]"):
        run_wired("aten::meshgrid", [A, B[None]], "ij", outputs=2)

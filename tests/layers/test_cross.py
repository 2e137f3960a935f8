from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import ShapeError
from tests.layers.one_operator import run
from tests.layers.wired_operator import run_wired


def test_cross_is_perpendicular() -> None:
    assert run("torch.cross", np.array([[1, 0, 0], [1, 2, 3]]), np.array([[0, 1, 0], [4, 5, 6]]), dim=1).tolist() == [
        [0, 0, 1],
        [-3, 6, -3],
    ]


def test_cross_takes_the_first_axis_of_three() -> None:
    x, y = np.eye(3), np.roll(np.eye(3), 1, 1)
    assert run("torch.cross", x, y).tolist() == run("torch.cross", x, y, dim=0).tolist()
    assert run_wired("aten::linalg_cross", x, y, -1).tolist() == run("torch.cross", x, y, dim=1).tolist()


def test_cross_refuses_what_has_no_three_numbers() -> None:
    with pytest.raises(ShapeError, match=r"torch.cross 'it': expected three numbers along dim=None, got \(2, 4\)"):
        run("torch.cross", np.zeros((2, 4)), np.zeros((2, 4)))
    with pytest.raises(ShapeError, match=r"expected three numbers along dim=0, got \(2, 3\)"):
        run("torch.cross", np.zeros((2, 3)), np.zeros((2, 3)), dim=0)
    with pytest.raises(ShapeError, match=r"expected inputs that broadcast, got \(\(3,\), \(2,\)\)"):
        run("torch.cross", np.zeros(3), np.zeros(2))

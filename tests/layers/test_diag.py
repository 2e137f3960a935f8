from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import ShapeError
from tests.layers.one_operator import run


def test_diag_makes_a_matrix_and_takes_it_apart() -> None:
    matrix = run("torch.diag", np.array([1, 2]), diagonal=1)
    assert matrix.tolist() == [[0, 1, 0], [0, 0, 2], [0, 0, 0]]
    assert run("torch.diag", matrix, diagonal=1).tolist() == [1, 2]
    assert run("torch.diag", matrix).tolist() == [0, 0, 0]
    assert run("torch.diag", matrix).flags.writeable


def test_diag_refuses_other_ranks_and_missing_diagonals() -> None:
    with pytest.raises(ShapeError, match=r"torch.diag 'it': expected input \(n\) or \(m, n\), got \(1, 1, 1\)"):
        run("torch.diag", np.zeros((1, 1, 1)))
    with pytest.raises(ShapeError, match=r"expected a matrix that has diagonal 4, got \(2, 3\)"):
        run("torch.diag", np.zeros((2, 3)), diagonal=4)


def test_diag_of_a_wide_matrix_has_diagonals_up_to_its_width() -> None:
    wide = np.arange(6).reshape(2, 3)
    assert run("torch.diag", wide, diagonal=2).tolist() == [2]
    assert run("torch.diag", wide, diagonal=3).tolist() == []
    assert run("torch.diag", wide.T, diagonal=-2).tolist() == [2]
    with pytest.raises(ShapeError, match="a matrix that has diagonal 3"):
        run("torch.diag", wide.T, diagonal=3)

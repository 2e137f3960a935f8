from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import ShapeError
from tests.layers.wired_operator import run_wired

X = np.ones((2, 3, 4), np.float32)


def test_tril_and_triu_count_diagonals_upwards() -> None:
    assert run_wired("aten::tril", X)[1].tolist() == np.tril(X[1]).tolist()
    assert run_wired("aten::triu", X, 1)[0].tolist() == [[0, 1, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1]]
    assert run_wired("aten::triu", X, -2)[0].tolist() == np.triu(X[0], -2).tolist()


def test_trilu_is_the_upper_half_unless_told_otherwise() -> None:
    assert run_wired("Trilu", X, np.array(1)).tolist() == np.triu(X, 1).tolist()
    assert run_wired("Trilu", X, upper=0).tolist() == np.tril(X).tolist()


def test_tril_needs_matrices() -> None:
    with pytest.raises(ShapeError, match="input with two axes or more"):
        run_wired("aten::tril", X[0, 0])

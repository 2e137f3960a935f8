from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import ShapeError
from tests.layers.one_operator import run
from tests.layers.wired_operator import run_wired

X = np.zeros((2, 3, 5))


def test_size_of_an_axis_and_of_all() -> None:
    assert run("Tensor.size", X, dim=-1) == 5
    assert run("Tensor.size", X) == [2, 3, 5]
    assert run_wired("aten::size", X, 1) == 3
    assert run_wired("aten::size", X) == [2, 3, 5]


def test_numel_counts_entries() -> None:
    assert run("aten::numel", X) == 30
    assert run("aten::numel", np.array(4)) == 1


def test_size_of_a_missing_axis_is_refused() -> None:
    with pytest.raises(ShapeError, match=r"Tensor.size 'it': expected dim within -3..2, got 3"):
        run("Tensor.size", X, dim=3)
    with pytest.raises(ShapeError, match=r"expected input with axes, got \(\)"):
        run("Tensor.size", np.array(1), dim=0)

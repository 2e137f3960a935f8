from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import ShapeError
from tests.layers.one_operator import layer, run


def test_mv_multiplies_each_row_with_the_vector() -> None:
    assert run("torch.mv", np.float32([[1, 2], [3, 4], [5, 6]]), np.float32([10, 1])).tolist() == [12, 34, 56]
    assert layer("torch.mv").flops([(3, 2), (2,)], [(3,)]) == 12


def test_mv_refuses_other_ranks_and_sizes() -> None:
    with pytest.raises(ShapeError, match=r"torch.mv 'it': expected \(m, k\) and \(k\), got \(\(2,\), \(2,\)\)"):
        run("torch.mv", np.zeros(2, np.float32), np.zeros(2, np.float32))
    with pytest.raises(ShapeError, match=r"a right input with 3 rows"):
        run("torch.mv", np.zeros((2, 3), np.float32), np.zeros(2, np.float32))

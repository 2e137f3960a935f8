from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import ParameterError, ShapeError
from tests.layers.one_operator import layer, run

X = np.float32([[[1, 2], [3, 4], [5, 6]]])


def test_local_response_norm_by_hand() -> None:
    y = run("nn.LocalResponseNorm", X, size=3, alpha=3.0, beta=1.0, k=2.0)
    squares = np.float32([[1 + 9, 4 + 16], [1 + 9 + 25, 4 + 16 + 36], [9 + 25, 16 + 36]])
    np.testing.assert_allclose(y, X / (2 + squares), rtol=1e-6)


def test_local_response_norm_of_even_size_reaches_further_back() -> None:
    y = run("F.local_response_norm", X, size=2, alpha=2.0, beta=0.5, k=0.0)
    squares = np.float32([[1, 4], [1 + 9, 4 + 16], [9 + 25, 16 + 36]])
    np.testing.assert_allclose(y, X / np.sqrt(squares), rtol=1e-6)


def test_local_response_norm_says_what_it_cannot_use() -> None:
    with pytest.raises(ParameterError, match="expected size >= 1, got 0"):
        layer("nn.LocalResponseNorm", size=0)
    with pytest.raises(ShapeError, match=r"expected input \(n, c, ...\), got \(3,\)"):
        run("nn.LocalResponseNorm", X[0, :, 0], size=3)


def test_local_response_norm_flops_grow_with_the_window() -> None:
    assert layer("nn.LocalResponseNorm", size=3).flops([(1, 3, 2)], [(1, 3, 2)]) == 48

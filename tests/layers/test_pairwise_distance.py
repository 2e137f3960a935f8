from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import ShapeError
from tests.layers.one_operator import run


def test_pairwise_distance_along_the_last_axis() -> None:
    x, y = np.float32([[3, 4], [1, 1]]), np.float32([[0, 0], [1, -1]])
    np.testing.assert_allclose(run("F.pairwise_distance", x, y, eps=0.0), [5, 2])
    np.testing.assert_allclose(run("F.pairwise_distance", x, y, eps=1, p=1, keepdim=True), [[9], [4]])
    np.testing.assert_allclose(run("F.pairwise_distance", x, y[0], eps=0, p="inf"), [4, 1])


def test_pairwise_distance_of_scalars_is_refused() -> None:
    with pytest.raises(ShapeError, match=r"F.pairwise_distance 'it': expected inputs with axes"):
        run("F.pairwise_distance", np.float32(1), np.float32(2))
    for one, other in ((np.float32(1), np.float32([2])), (np.float32([2]), np.float32(1))):
        with pytest.raises(ShapeError, match="expected inputs with axes"):
            run("F.pairwise_distance", one, other)


def test_pairwise_distance_adds_1e_6_unless_the_file_says_otherwise() -> None:
    x = np.float32([[0.0, 0.0]])
    np.testing.assert_allclose(run("F.pairwise_distance", x, x), [2**0.5 * 1e-6], rtol=1e-6)

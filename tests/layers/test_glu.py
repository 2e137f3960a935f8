from __future__ import annotations

import math

import numpy as np
import pytest

from kuiper.errors import ShapeError
from kuiper.layers.operators.glu import glu
from tests.layers.one_operator import run


def test_glu_opens_the_first_half_by_the_second() -> None:
    x = np.float32([[1, 2, 0, math.log(3)], [3, 4, 100, -200]])
    np.testing.assert_allclose(run("nn.GLU", x), [[0.5, 1.5], [3, 0]], atol=1e-30)
    np.testing.assert_array_equal(glu(x), run("nn.GLU", x))
    y = run("F.glu", np.float32([[8, 4], [0, math.log(3)]]), dim=0)
    np.testing.assert_allclose(y, [[4, 3]], rtol=1e-6)


def test_glu_needs_an_even_size() -> None:
    with pytest.raises(ShapeError, match=r"F.glu 'it': expected an even size along dim=1, got \(2, 3\)"):
        run("F.glu", np.zeros((2, 3), np.float32), dim=1)

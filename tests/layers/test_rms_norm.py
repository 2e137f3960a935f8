from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import ShapeError
from tests.layers.one_operator import layer, run


def test_rms_norm_by_hand() -> None:
    x = np.float32([[1, 7], [-5, 5]])  # root mean squares 5 and 5
    y = layer("nn.RMSNorm", {"weight": np.float32([5, 10])}, normalized_shape=[2], eps=0.0).forward(x)
    np.testing.assert_allclose(y, [[1, 14], [-5, 10]], rtol=1e-6)


def test_rms_norm_without_eps_uses_the_rounding_unit() -> None:
    x = np.float32([[2**-12, 2**-12]])
    y = run("F.rms_norm", x, normalized_shape=(2,), eps=None, weight=None)
    np.testing.assert_allclose(y, x / np.sqrt(2.0**-24 + 2.0**-23), rtol=1e-6)


def test_rms_norm_names_the_shapes_that_do_not_fit() -> None:
    with pytest.raises(ShapeError, match=r"F.rms_norm 'it': expected input \(..., 5\), got \(2, 4\)"):
        run("F.rms_norm", np.zeros((2, 4), np.float32), normalized_shape=(5,))

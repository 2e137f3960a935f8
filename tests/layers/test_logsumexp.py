from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import ShapeError
from tests.layers.one_operator import run


def test_logsumexp_of_large_numbers_does_not_overflow() -> None:
    x = np.float32([[1000, 1000], [-1000, -1000]])
    np.testing.assert_allclose(run("torch.logsumexp", x, dim=[1]), [1000 + np.log(2), -1000 + np.log(2)], rtol=1e-6)


def test_logsumexp_keeps_infinities() -> None:
    x = np.float32([[-np.inf, -np.inf], [np.inf, 0], [np.nan, 0]])
    np.testing.assert_array_equal(run("torch.logsumexp", x, dim=1, keepdim=True), [[-np.inf], [np.inf], [np.nan]])


def test_logsumexp_refuses_an_empty_axis() -> None:
    with pytest.raises(ShapeError, match=r"torch.logsumexp 'it': expected at least one entry"):
        run("torch.logsumexp", np.zeros((2, 0), np.float32), dim=1)

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kuiper.errors import ShapeError
from tests.layers.one_operator import run

X = np.zeros((1, 2, 1, 3, 1), np.float32)


@pytest.mark.parametrize(
    ("params", "shape"),
    [
        ({}, (2, 3)),
        ({"dim": None}, (2, 3)),
        ({"dim": 0}, (2, 1, 3, 1)),
        ({"dim": -1}, (1, 2, 1, 3)),
        ({"dim": 1}, (1, 2, 1, 3, 1)),
        ({"dim": [2, -1, 3]}, (1, 2, 3)),
    ],
)
def test_squeeze_drops_axes_of_size_one(params: dict[str, Any], shape: tuple[int, ...]) -> None:
    out = run("torch.squeeze", X, **params)
    assert out.shape == shape
    assert np.shares_memory(out, X)


def test_squeeze_of_a_scalar_is_itself() -> None:
    assert run("torch.squeeze", np.array(3.0), dim=0).shape == ()


def test_squeeze_refuses_a_missing_axis() -> None:
    with pytest.raises(ShapeError, match=r"torch.squeeze 'it': expected dim within -5..4, got 5"):
        run("torch.squeeze", X, dim=5)


def test_squeeze_takes_a_number() -> None:
    assert run("torch.squeeze", 7, dim=[0]).shape == ()

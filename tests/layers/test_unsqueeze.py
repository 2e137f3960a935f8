from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import ShapeError
from tests.layers.one_operator import run

X = np.zeros((2, 3), np.float32)


@pytest.mark.parametrize(("dim", "shape"), [(0, (1, 2, 3)), (2, (2, 3, 1)), (-1, (2, 3, 1)), (-3, (1, 2, 3))])
def test_unsqueeze_adds_an_axis(dim: int, shape: tuple[int, ...]) -> None:
    out = run("torch.unsqueeze", X, dim=dim)
    assert out.shape == shape
    assert np.shares_memory(out, X)


@pytest.mark.parametrize("dim", [3, -4])
def test_unsqueeze_refuses_a_place_outside(dim: int) -> None:
    with pytest.raises(ShapeError, match=rf"torch.unsqueeze 'it': expected dim within -3..2, got {dim}"):
        run("torch.unsqueeze", X, dim=dim)


def test_unsqueeze_makes_a_vector_of_a_number() -> None:
    assert run("torch.unsqueeze", 15, dim=0).tolist() == [15]

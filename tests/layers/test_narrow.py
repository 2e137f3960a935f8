from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import ShapeError
from kuiper.layers import create
from tests.layers.one_operator import run
from tests.layers.wired_operator import wired

X = np.array([[1, 2, 3, 4], [5, 6, 7, 8]])


@pytest.mark.parametrize(
    ("dim", "start", "length", "expected"),
    [(1, 1, 2, [[2, 3], [6, 7]]), (-1, -3, 3, [[2, 3, 4], [6, 7, 8]]), (0, 2, 0, [])],
)
def test_narrow_takes_a_stretch(dim: int, start: int, length: int, expected: list[list[int]]) -> None:
    assert run("torch.narrow", X, dim=dim, start=start, length=length).tolist() == expected


@pytest.mark.parametrize(("start", "length"), [(3, 2), (-5, 1), (0, -1)])
def test_narrow_refuses_what_does_not_fit(start: int, length: int) -> None:
    with pytest.raises(ShapeError, match=r"torch.narrow 'it': expected start and length within 4 entries, got"):
        run("torch.narrow", X, dim=1, start=start, length=length)


def test_narrow_refuses_another_size_where_the_export_took_all() -> None:
    layer = create(wired("torch.narrow", declared=(2, 4), dim=1, start=0, length=4))
    assert layer.forward(X).shape == (2, 4)
    with pytest.raises(ShapeError, match=r"expected an axis of 4 numbers, which the file cuts at 4, got 5"):
        layer.forward(np.zeros((2, 5)))

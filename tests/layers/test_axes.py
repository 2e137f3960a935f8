from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import ShapeError
from kuiper.layers.axes import along, axes, axis


def test_axis_counts_from_both_ends() -> None:
    assert [axis(dim, 3, "here") for dim in (0, 2, -1, -3)] == [0, 2, 2, 0]


def test_axis_of_a_scalar_is_zero() -> None:
    assert [axis(dim, 0, "here") for dim in (0, -1)] == [0, 0]


@pytest.mark.parametrize("dim", [3, -4])
def test_axis_refuses_what_is_not_there(dim: int) -> None:
    with pytest.raises(ShapeError, match=rf"here: expected dim within -3..2, got {dim}"):
        axis(dim, 3, "here")


def test_axes_keep_their_order_and_come_once() -> None:
    assert axes((-1, 0), 3, "here") == (2, 0)
    with pytest.raises(ShapeError, match=r"here: expected each dim once, got \(2, -1\)"):
        axes((2, -1), 3, "here")


def test_along_indexes_one_axis() -> None:
    x = np.arange(24).reshape(2, 3, 4)
    np.testing.assert_array_equal(x[along(1, slice(1, 2))], x[:, 1:2])
    assert isinstance(np.arange(3)[along(0, 1)], np.ndarray)

from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import ShapeError
from tests.layers.one_operator import run

X = np.arange(12, dtype=np.float32).reshape(2, 6)


def test_unflatten_splits_one_axis() -> None:
    np.testing.assert_array_equal(run("Tensor.unflatten", X, dim=1, sizes=[2, 3])[1], [[6, 7, 8], [9, 10, 11]])


def test_unflatten_module_works_out_the_rest() -> None:
    assert run("nn.Unflatten", X, dim=-1, unflattened_size=[-1, 2]).shape == (2, 3, 2)


@pytest.mark.parametrize("sizes", [[2, 4], [-1, 4], [-1, -1], [-2, -3]])
def test_unflatten_refuses_sizes_that_do_not_multiply_to_the_axis(sizes: list[int]) -> None:
    with pytest.raises(ShapeError, match=r"'it': expected a shape of 6 elements with at most one -1, got"):
        run("Tensor.unflatten", X, dim=1, sizes=sizes)


def test_unflatten_refuses_a_missing_axis() -> None:
    with pytest.raises(ShapeError, match=r"expected dim within -2..1, got 2"):
        run("Tensor.unflatten", X, dim=2, sizes=[2, 3])

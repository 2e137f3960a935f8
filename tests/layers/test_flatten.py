from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import ShapeError
from kuiper.layers.operators.flatten import flatten
from tests.layers.one_operator import run

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


def test_flatten_merges_all_axes_by_default() -> None:
    np.testing.assert_array_equal(run("torch.flatten", X), np.arange(24))


def test_flatten_module_keeps_the_batch_by_default() -> None:
    assert run("nn.Flatten", X).shape == (2, 12)


@pytest.mark.parametrize(
    ("start", "end", "shape"), [(0, 1, (6, 4)), (-2, -1, (2, 12)), (1, 1, (2, 3, 4)), (-3, 2, (24,))]
)
def test_flatten_counts_axes_from_both_ends(start: int, end: int, shape: tuple[int, ...]) -> None:
    assert flatten(X, start, end).shape == shape


def test_flatten_of_a_contiguous_array_is_a_view() -> None:
    assert np.shares_memory(flatten(X, 1), X)


def test_flatten_of_a_scalar_is_a_vector() -> None:
    assert flatten(np.float32(3).reshape(())).tolist() == [3]


def test_flatten_reads_a_permuted_array_in_its_own_order() -> None:
    assert flatten(X.transpose(2, 0, 1)[:2], 0).tolist() == [0, 4, 8, 12, 16, 20, 1, 5, 9, 13, 17, 21]


@pytest.mark.parametrize(("start", "end"), [(2, 1), (0, 3), (-4, 0)])
def test_flatten_refuses_axes_out_of_range_or_order(start: int, end: int) -> None:
    with pytest.raises(ShapeError, match=r"torch.flatten 'it': expected start_dim <= end_dim within -3..2"):
        run("torch.flatten", X, start_dim=start, end_dim=end)

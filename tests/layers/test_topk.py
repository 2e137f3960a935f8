from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import ShapeError
from tests.layers.wired_operator import run_wired

X = np.float32([[3, 9, 1, 9], [4, 0, 8, 5]])


def test_topk_gives_the_largest_in_order() -> None:
    values, indices = run_wired("torch.topk", X, outputs=2, k=3, dim=-1, largest=True, sorted=True)
    assert values.tolist() == [[9, 9, 3], [8, 5, 4]]
    assert indices.tolist() == [[1, 3, 0], [2, 3, 0]]
    assert indices.dtype == np.int64


def test_topk_gives_the_smallest_along_any_axis() -> None:
    values, indices = run_wired("torch.topk", X, outputs=2, k=1, dim=0, largest=False)
    assert values.tolist() == [[3, 0, 1, 5]]
    assert indices.tolist() == [[0, 1, 0, 1]]


def test_topk_takes_nan_for_the_largest() -> None:
    _, indices = run_wired("torch.topk", np.float32([1, np.nan, 2]), outputs=2, k=2)
    assert indices.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("k", "largest", "expected"),
    [(1, True, [1]), (2, True, [1, 4]), (4, True, [1, 4, 2, 3]), (1, False, [6]), (3, False, [6, 0, 5])],
)
def test_topk_takes_the_first_of_equals_at_its_border(k: int, largest: bool, expected: list[int]) -> None:
    x = np.float32([1, np.nan, 7, 7, np.nan, 1, -np.inf, 7])
    values, indices = run_wired("torch.topk", np.stack([x, x]), outputs=2, k=k, largest=largest)
    assert indices.tolist() == [expected, expected]
    np.testing.assert_array_equal(values, [x[expected], x[expected]])


def test_topk_with_one_output_gives_values() -> None:
    assert run_wired("torch.topk", X, k=0).shape == (2, 0)


def test_topk_refuses_more_than_there_are() -> None:
    with pytest.raises(ShapeError, match=r"torch.topk 'it': expected k within 0..4, got 5"):
        run_wired("torch.topk", X, k=5)

from __future__ import annotations

import numpy as np
import pytest

from kuiper.layers.operators.sum import sum_over
from tests.layers.one_operator import run

X = np.float32([[1, 2, 6], [4, 5, 0]])


def test_sum_over_axes() -> None:
    assert run("torch.sum", X, dim=0).tolist() == [5, 7, 6]
    assert run("torch.sum", X, dim=[-1], keepdim=True).tolist() == [[9], [9]]
    assert run("torch.sum", X).tolist() == 18


@pytest.mark.parametrize("dtype", [np.bool_, np.uint8, np.int32])
def test_sum_of_whole_numbers_is_int64(dtype: type) -> None:
    total = sum_over(np.ones(300, dtype))
    assert total.dtype == np.int64
    assert total == 300


def test_sum_beyond_float32_is_infinite() -> None:
    assert sum_over(np.float32([3e38, 3e38])) == np.inf


def test_sum_of_nothing_is_zero() -> None:
    assert sum_over(np.zeros((0, 2), np.float32), (0,)).tolist() == [0, 0]

from __future__ import annotations

import numpy as np

from tests.layers.one_operator import run


def test_prod_over_one_axis_or_all() -> None:
    x = np.float32([[1, 2, 3], [4, 5, -1]])
    assert run("torch.prod", x, dim=0, keepdim=True).tolist() == [[4, 10, -3]]
    assert run("torch.prod", x).tolist() == -120


def test_prod_of_whole_numbers_is_int64_and_of_nothing_one() -> None:
    assert run("torch.prod", np.full(5, 100, np.uint8)).tolist() == 10**10
    assert run("torch.prod", np.zeros((0, 2), np.float32), dim=0).tolist() == [1, 1]

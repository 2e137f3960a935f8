from __future__ import annotations

import numpy as np

from tests.layers.one_operator import run
from tests.layers.wired_operator import run_wired

X = np.array([[1, 0], [2, 3]])


def test_any_and_all_over_axes() -> None:
    assert run("torch.any", X - 3, dim=[1]).tolist() == [True, True]
    assert run("torch.all", X, dim=1, keepdim=True).tolist() == [[False], [True]]
    assert run("torch.all", X).tolist() is False
    assert run("torch.any", X).dtype == np.bool_


def test_any_and_all_in_the_spelling_of_torchscript() -> None:
    assert run_wired("aten::all", X, 0, True).tolist() == [[True, False]]
    assert run_wired("aten::any", X).tolist() is True


def test_all_of_nothing_is_true() -> None:
    assert run("torch.all", np.zeros((0, 2)), dim=0).tolist() == [True, True]

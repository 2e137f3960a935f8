from __future__ import annotations

import numpy as np

from tests.layers.one_operator import run
from tests.layers.wired_operator import run_wired

X = np.float32([-1.7, 0, 2.5])


def test_to_cuts_fractions_towards_zero() -> None:
    out = run("Tensor.to", X, dtype="torch.long", copy=False)
    assert out.dtype == np.int64
    assert out.tolist() == [-1, 0, 2]


def test_to_bool_is_true_for_all_but_zero() -> None:
    assert run("Tensor.to", np.float32([0, -0.5, np.nan]), dtype="torch.bool").tolist() == [False, True, True]


def test_to_another_device_is_the_input() -> None:
    assert run("Tensor.to", X, device="cpu") is X


def test_to_of_nan_says_nothing() -> None:
    run("Tensor.to", np.float32([np.nan, np.inf]), dtype="torch.int")


def test_type_as_takes_the_other_type() -> None:
    assert run_wired("Tensor.type_as", X, np.zeros(1, np.int32), names=("input", "other")).dtype == np.int32


def test_to_makes_a_tensor_of_a_number() -> None:
    y = run("Tensor.to", 0.5, dtype="torch.float")
    assert (y.shape, y.dtype, y.tolist()) == ((), np.float32, 0.5)

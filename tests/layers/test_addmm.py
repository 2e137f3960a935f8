from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import ShapeError
from tests.layers.wired_operator import run_wired

BIAS, A, B = np.float32([10, 20]), np.float32([[1, 2], [3, 4]]), np.float32([[1, 1], [0, 1]])


def test_addmm_adds_the_product() -> None:
    assert run_wired("torch.addmm", BIAS, A, B).tolist() == [[11, 23], [13, 27]]


def test_addmm_weighs_both_sides() -> None:
    assert run_wired("torch.addmm", BIAS, A, B, alpha=2, beta=0.5).tolist() == [[7, 16], [11, 24]]


def test_addmm_with_beta_zero_does_not_look_at_the_input() -> None:
    assert run_wired("torch.addmm", BIAS * np.nan, A, B, beta=0).tolist() == [[1, 3], [3, 7]]


def test_baddbmm_works_on_stacks() -> None:
    assert run_wired("torch.baddbmm", BIAS, A[None], B[None]).tolist() == [[[11, 23], [13, 27]]]


def test_addmm_refuses_what_does_not_fit() -> None:
    with pytest.raises(ShapeError, match=r"torch.addmm 'it': expected two factors with 2 axes, got"):
        run_wired("torch.addmm", BIAS, A[None], B)
    with pytest.raises(ShapeError, match=r"expected an input that broadcasts to \(2, 2\), got \(3,\)"):
        run_wired("torch.addmm", np.zeros(3, np.float32), A, B)

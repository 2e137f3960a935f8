from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import ParameterError, ShapeError
from tests.layers.one_operator import run

X = np.array([[1, 2], [3, 4]])


def test_repeat_interleave_repeats_each_entry_in_place() -> None:
    assert run("torch.repeat_interleave", X, repeats=2, dim=-1).tolist() == [[1, 1, 2, 2], [3, 3, 4, 4]]


def test_repeat_interleave_without_dim_flattens() -> None:
    assert run("torch.repeat_interleave", X, repeats=2, dim=None).tolist() == [1, 1, 2, 2, 3, 3, 4, 4]


def test_repeat_interleave_takes_a_number_for_each_entry() -> None:
    assert run("torch.repeat_interleave", X, repeats=[0, 2], dim=0).tolist() == [[3, 4], [3, 4]]


def test_repeat_interleave_refuses_wrong_numbers() -> None:
    with pytest.raises(ShapeError, match=r"expected one or 2 repeats, got \(1, 2, 3\)"):
        run("torch.repeat_interleave", X, repeats=[1, 2, 3], dim=0)
    with pytest.raises(ParameterError, match=r"expected repeats >= 0"):
        run("torch.repeat_interleave", X, repeats=-1, dim=0)


def test_repeat_interleave_refuses_a_size_that_no_machine_has() -> None:
    for repeats in ([2**62], [2**63]):
        with pytest.raises(ShapeError, match=r"torch.repeat_interleave 'it': expected a tensor of at most"):
            run("torch.repeat_interleave", np.zeros((2, 3), np.float32), repeats=repeats, dim=0)

from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import ParameterError, ShapeError
from tests.layers.one_operator import run
from tests.layers.wired_operator import run_wired

X = np.array([[1, 2, 3, 4, 5], [6, 7, 8, 9, 10]])


def test_unfold_makes_overlapping_stretches() -> None:
    out = run("Tensor.unfold", X, dimension=-1, size=3, step=2)
    assert out.tolist() == [[[1, 2, 3], [3, 4, 5]], [[6, 7, 8], [8, 9, 10]]]
    assert np.shares_memory(out, X)


def test_unfold_puts_the_stretch_last_whatever_the_axis() -> None:
    assert run("Tensor.unfold", X, dimension=0, size=2, step=1).tolist() == [[[1, 6], [2, 7], [3, 8], [4, 9], [5, 10]]]


def test_unfold_in_the_spelling_of_torchscript() -> None:
    assert run_wired("aten::unfold", X, 1, 2, 3).tolist() == [[[1, 2], [4, 5]], [[6, 7], [9, 10]]]


def test_unfold_refuses_what_does_not_fit() -> None:
    with pytest.raises(ShapeError, match=r"Tensor.unfold 'it': expected size <= 5, got 6"):
        run("Tensor.unfold", X, dimension=1, size=6, step=1)
    with pytest.raises(ParameterError, match=r"expected size >= 0 and step >= 1, got \(2, 0\)"):
        run("Tensor.unfold", X, dimension=1, size=2, step=0)

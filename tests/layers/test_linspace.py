from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import ParameterError, ShapeError, UnsupportedOperatorError
from tests.layers.one_operator import layer, run
from tests.layers.wired_operator import run_wired


def test_linspace_has_both_ends() -> None:
    numbers = layer("torch.linspace", start=0, end=1.5, steps=4).forward()
    assert numbers.tolist() == [0, 0.5, 1, 1.5]
    assert numbers.dtype == np.float32
    assert layer("torch.linspace", start=3, end=9, steps=1).forward().tolist() == [3]
    assert run_wired("aten::linspace", 0, 4, 3, 4, None, "cpu", False).dtype == np.int64


def test_eye_is_the_unit_matrix() -> None:
    assert layer("torch.eye", n=2).forward().tolist() == [[1, 0], [0, 1]]
    assert run_wired("aten::eye", 1, 3, 4, None, "cpu", False).tolist() == [[1, 0, 0]]
    assert run_wired("aten::eye", 2, None, None, "cpu", False).dtype == np.float32


def test_eye_in_the_spelling_of_onnx() -> None:
    got = run("EyeLike", np.zeros((2, 3), np.int32), k=1)
    assert got.tolist() == [[0, 1, 0], [0, 0, 1]]
    assert got.dtype == np.int32


def test_numbers_out_of_range_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"torch.linspace 'it': expected steps >= 0, got -1"):
        layer("torch.linspace", start=0, end=1, steps=-1)
    with pytest.raises(ParameterError, match=r"torch.eye 'it': expected n >= 0 and m >= 0, got \(2, -1\)"):
        layer("torch.eye", n=2, m=-1)
    with pytest.raises(ShapeError, match=r"EyeLike 'it': expected input \(n, m\), got \(2,\)"):
        run("EyeLike", np.zeros(2))
    with pytest.raises(UnsupportedOperatorError, match=r"expected the input's element type, got 7"):
        layer("EyeLike", dtype=7)

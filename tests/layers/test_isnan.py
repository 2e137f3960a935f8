from __future__ import annotations

import numpy as np

from tests.layers.one_operator import run

X = np.float32([1, np.nan, np.inf, -np.inf])


def test_isnan_and_isinf() -> None:
    assert run("aten::isnan", X).tolist() == [False, True, False, False]
    assert run("IsNaN", X).tolist() == [False, True, False, False]
    assert run("aten::isinf", X).tolist() == [False, False, True, True]


def test_onnx_isinf_may_look_for_one_infinity() -> None:
    assert run("IsInf", X, detect_negative=0).tolist() == [False, False, True, False]
    assert run("IsInf", X, detect_positive=0).tolist() == [False, False, False, True]


def test_whole_numbers_are_finite() -> None:
    assert run("aten::isnan", np.array([1])).tolist() == [False]
    assert run("aten::isinf", np.array([1])).tolist() == [False]

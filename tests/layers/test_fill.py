from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import ParameterError, ShapeError
from tests.layers.one_operator import run
from tests.layers.wired_operator import run_wired


def test_fill_keeps_shape_and_element_type() -> None:
    for x, value, expected in ((np.zeros((1, 2), np.float32), 1.5, [[1.5, 1.5]]), (np.ones(2, np.int64), 2.9, [2, 2])):
        filled = run("Tensor.fill", x, value=value)
        assert filled.tolist() == expected
        assert filled.dtype == x.dtype
        assert not np.shares_memory(filled, x)


def test_fill_with_an_operand() -> None:
    assert run_wired("Tensor.fill", np.zeros(2), np.array(4.0), names=("input", "value")).tolist() == [4, 4]


def test_fill_without_a_number_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"Tensor.fill 'it': expected a number value, got none"):
        run("Tensor.fill", np.zeros(2), value=None)


def test_copy_broadcasts_and_converts() -> None:
    copied = run("Tensor.copy", np.zeros((2, 3), np.int64), np.array([1.5, 2.5, -3.5]))
    assert copied.tolist() == [[1, 2, -3]] * 2
    assert copied.dtype == np.int64


def test_copy_of_a_source_that_does_not_broadcast_is_refused() -> None:
    with pytest.raises(
        ShapeError, match=r"Tensor.copy 'it': expected a source that broadcasts to \(2, 3\), got \(2,\)"
    ):
        run("Tensor.copy", np.zeros((2, 3)), np.zeros(2))

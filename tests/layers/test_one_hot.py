from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import ShapeError, TensorIndexError
from tests.layers.wired_operator import run_wired

INDICES = np.array([[2, 0]])


def test_one_hot_has_as_many_classes_as_it_takes() -> None:
    assert run_wired("aten::one_hot", INDICES, -1).tolist() == [[[0, 0, 1], [1, 0, 0]]]
    assert run_wired("aten::one_hot", INDICES, 4).shape == (1, 2, 4)
    with pytest.raises(TensorIndexError):
        run_wired("aten::one_hot", INDICES, 2)
    with pytest.raises(ShapeError, match="an index, or num_classes"):
        run_wired("aten::one_hot", np.zeros(0, np.int64))


def test_onnx_one_hot_has_its_own_values_and_axis() -> None:
    values = np.float32([-1, 5])
    assert run_wired("OneHot", INDICES, np.array([3]), values).tolist() == [[[-1, -1, 5], [5, -1, -1]]]
    assert run_wired("OneHot", INDICES, 3, values, axis=1).tolist() == [[[-1, 5], [-1, -1], [5, -1]]]
    assert run_wired("OneHot", np.array([-1, 7]), 2, values).tolist() == [[-1, 5], [-1, -1]]

from __future__ import annotations

import numpy as np

from tests.layers.one_operator import run

X = np.float32([[0, 2], [np.nan, 0]])


def test_nonzero_has_rows_in_torch_and_columns_in_onnx() -> None:
    assert run("aten::nonzero", X).tolist() == [[0, 1], [1, 0]]
    assert run("NonZero", np.array([[0, 2, 3]])).tolist() == [[0, 0], [1, 2]]
    assert run("aten::nonzero", X).dtype == np.int64


def test_nonzero_of_a_scalar_has_no_axes_to_count() -> None:
    assert run("aten::nonzero", np.array(3.0)).shape == (1, 0)
    assert run("aten::nonzero", np.array(0.0)).shape == (0, 0)

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kuiper.errors import ParameterError, ShapeError, TensorIndexError
from tests.layers.one_operator import run
from tests.layers.wired_operator import run_wired

END = 2147483647


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"dim": 1, "start": 1, "end": END, "step": 2}, [[0, 9, 0, 9], [0, 9, 0, 9]]),
        ({"dim": 0, "start": -1}, [[0, 0, 0, 0], [9, 9, 9, 9]]),
        ({"dim": 1, "start": 0, "end": 0, "step": 0, "select": -1}, [[0, 0, 0, 9], [0, 0, 0, 9]]),
        (
            {"dims": [0, 1], "starts": [0, 1], "ends": [0, 3], "steps": [0, 1], "selects": [1, END]},
            [[0] * 4, [0, 9, 9, 0]],
        ),
        ({"dims": [1], "starts": [2], "ends": [3], "steps": [1]}, [[0, 0, 9, 0], [0, 0, 9, 0]]),
    ],
)
def test_slice_copy_writes_where_slice_would_cut(params: dict[str, Any], expected: list[list[int]]) -> None:
    x = np.zeros((2, 4), np.int64)
    assert run("Tensor.slice_copy", x, np.array(9), **params).tolist() == expected
    assert not x.any()


def test_slice_copy_by_computed_bounds() -> None:
    out = run_wired("Tensor.slice_copy", np.zeros(4), np.ones(2), 1, 3, names=("self", "src", "start", "end"), dim=0)
    assert out.tolist() == [0, 1, 1, 0]


def test_slice_copy_gives_the_source_the_type_of_the_whole() -> None:
    out = run("torch.slice_scatter", np.zeros(3, np.int32), np.array([1.9]), dim=0, end=1)
    assert out.tolist() == [1, 0, 0]
    assert out.dtype == np.int32


def test_slice_copy_refuses_what_does_not_fit() -> None:
    with pytest.raises(
        ShapeError, match=r"Tensor.slice_copy 'it': expected a source that broadcasts to \(2, 2\), got \(3,\)"
    ):
        run("Tensor.slice_copy", np.zeros((2, 4)), np.zeros(3), dim=1, end=2)
    with pytest.raises(TensorIndexError, match=r"expected an index within -2..1, got 2"):
        run("Tensor.slice_copy", np.zeros((2, 4)), np.zeros(4), dim=0, select=2)
    with pytest.raises(ParameterError, match=r"expected step >= 1, got -1"):
        run("Tensor.slice_copy", np.zeros((2, 4)), np.zeros(4), dim=0, step=-1)

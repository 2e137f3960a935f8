from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kuiper.errors import ParameterError
from tests.layers.wired_operator import run_wired


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"end": 3}, [0, 1, 2]),
        ({"start": 2, "end": 9, "step": 3}, [2, 5, 8]),
        ({"start": 5, "end": 0, "step": -2}, [5, 3, 1]),
        ({"start": 3, "end": 3}, []),
    ],
)
def test_arange_of_integers(params: dict[str, Any], expected: list[int]) -> None:
    out = run_wired("torch.arange", **params)
    assert out.dtype == np.int64
    assert out.tolist() == expected


def test_arange_of_floats_is_float32() -> None:
    out = run_wired("torch.arange", end=1.0, step=0.25)
    assert out.dtype == np.float32
    assert out.tolist() == [0, 0.25, 0.5, 0.75]
    assert run_wired("torch.arange", end=2, dtype="torch.float").dtype == np.float32


@pytest.mark.parametrize("params", [{"end": -1}, {"end": 3, "step": 0}, {"end": "inf"}, {}])
def test_arange_refuses_an_end_out_of_reach(params: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=r"torch.arange 'it': expected"):
        run_wired("torch.arange", **params)

from __future__ import annotations

import numpy as np
import pytest

from kuiper.layers.promotion import promoted


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([np.zeros(1, np.float32), np.zeros(1, np.int64)], np.float32),
        ([np.zeros(1, np.float32), np.zeros(1, np.float64)], np.float64),
        ([np.zeros(1, np.bool_), np.zeros(1, np.int32)], np.int32),
        ([np.zeros(1, np.uint8), np.zeros(1, np.int8)], np.int16),
        ([np.zeros(1, np.float32), np.array(1.0)], np.float32),  # without axes, of the same kind
        ([np.zeros(1, np.int64), np.array(1.0)], np.float64),  # without axes, but of a higher kind
        ([np.zeros(1, np.int32), 5], np.int32),
        ([np.zeros(1, np.int32), 5.0], np.float32),
        ([np.zeros(1, np.bool_), 5], np.int64),
        ([np.zeros(1, np.float16), 5.0], np.float16),
        ([True, 2], np.int64),
    ],
)
def test_promoted_follows_torch(values: list[np.ndarray | float], expected: type) -> None:
    assert promoted(values) == expected


@pytest.mark.torch
@pytest.mark.parametrize("second", ["axes", "scalar", "number"])
def test_promoted_equals_torch_result_type(second: str) -> None:
    torch = pytest.importorskip("torch")
    names = ["float32", "float64", "float16", "int64", "int32", "int8", "uint8", "bool"]
    for a in names:
        for b in names if second != "number" else ["float", "int", "bool"]:
            x = np.zeros(1, a)
            y = (
                {"float": 1.5, "int": 2, "bool": True}[b]
                if second == "number"
                else np.zeros([1][: second == "axes"], b)
            )
            expected = torch.result_type(torch.from_numpy(x), y if second == "number" else torch.from_numpy(y))
            assert str(expected) == f"torch.{promoted([x, y])}"

"""Functions of expressions on numbers and tensors of all types, beside torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kuiper.expression import evaluate
from kuiper.expression.functions import BINARY, CASTS, UNARY
from tests.arrays import ints
from tests.expression.test_functions import INF, NAN, f32

FLOATS = f32(NAN, INF, -INF, 0, -0.0, 0.5, 1.5, 2.5, -0.5, -2.5, 1, -1, 1e-3, 3e3, -7, 7)


SAMPLES = {
    "float32": FLOATS,
    "float64": FLOATS.astype(np.float64),
    "float16": FLOATS[3:13].astype(np.float16),
    "int64": ints(1, 2, 3, -1, -2, -3, 7, -7),
    "int32": ints(5, 1, -4).astype(np.int32),
    "uint8": ints(1, 2, 200).astype(np.uint8),
    "bool": np.array([True, False]),
    "no axes": np.array(2.5, np.float32),
    "no axes, whole": np.array(3),
}


NUMBERS = (1, 2, 3, -1, 7, 0.0, 0.5, 1.5, 2.0, -0.5, -1.0, 3.0, True, INF, NAN)


NAMES_IN_TORCH = {"and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor"}
NAMES_IN_TORCH |= {"lshift": "bitwise_left_shift", "rshift": "bitwise_right_shift", "max": "maximum", "min": "minimum"}


def assert_same_as_torch(name: str, *arguments: Any) -> None:
    """The value and the element type that torch gives; what torch refuses is not compared."""
    import torch

    tensors = [torch.from_numpy(value) if isinstance(value, np.ndarray) else value for value in arguments]
    try:
        reference = getattr(torch, NAMES_IN_TORCH.get(name, name))(*tensors).numpy()
    except (RuntimeError, TypeError):
        return
    value = evaluate(f"{name}({','.join(f'@{i}' for i in range(len(arguments)))})", arguments)
    assert value.dtype == reference.dtype
    tolerance = {"float16": 2e-3, "float64": 1e-12}.get(str(reference.dtype), 1e-6)
    np.testing.assert_allclose(value, reference, rtol=tolerance, atol=1e-30)


@pytest.mark.torch
@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize("name", sorted({*UNARY} - {*CASTS} - {"size"}))
def test_unary_function_equals_torch(name: str, sample: str) -> None:
    assert_same_as_torch(name, SAMPLES[sample])


@pytest.mark.torch
@pytest.mark.parametrize("name", sorted({*BINARY} - {"size", "trunc_divide", "onnx_div"}))
def test_binary_function_equals_torch(name: str) -> None:
    for x in SAMPLES.values():
        for y in SAMPLES.values():
            assert_same_as_torch(name, x.reshape(-1, 1) if x.ndim else x, y)
        for number in NUMBERS:
            assert_same_as_torch(name, x, number)
            assert_same_as_torch(name, number, x)

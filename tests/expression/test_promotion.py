from __future__ import annotations

import numpy as np
import pytest

from kuiper.expression.promotion import operands, result_type

F16, F32, F64 = (np.zeros(2, dtype) for dtype in (np.float16, np.float32, np.float64))
I32, I64, U8, BOOL, C64 = (np.zeros(2, dtype) for dtype in (np.int32, np.int64, np.uint8, np.bool_, np.complex64))


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ((F32, 2.5), np.float32),
        ((F32, 2), np.float32),
        ((F16, 2.5), np.float16),
        ((I64, 2), np.int64),
        ((I32, 2), np.int32),
        ((I32, True), np.int32),
        ((I64, 2.5), np.float32),
        ((BOOL, 2), np.int64),
        ((BOOL, 2.5), np.float32),
        ((BOOL, True), np.bool_),
        ((F32, 2j), np.complex64),
        ((F64, 2j), np.complex128),
        ((I64, 2j), np.complex64),
        ((F32, I64), np.float32),
        ((F16, I64), np.float16),
        ((F32, F64), np.float64),
        ((I32, I64), np.int64),
        ((U8, np.zeros(2, np.int8)), np.int16),
        ((BOOL, U8), np.uint8),
        ((U8, 2), np.uint8),
        ((U8, 2.5), np.float32),
        ((U8, 2j), np.complex64),
        ((C64, F64), np.complex128),
        ((C64, I64), np.complex64),
        ((F32, np.array(1.0)), np.float32),
        ((I64, np.array(1.0)), np.float64),
        ((I32, np.array(1)), np.int32),
        ((np.float32(1), 2.5), np.float32),
        ((np.array(1, np.float32), np.array(1.0)), np.float64),
    ],
)
def test_result_type_follows_torch(values: tuple[object, ...], dtype: type) -> None:
    assert result_type(*values) == dtype
    assert result_type(*reversed(values)) == dtype


def test_operands_of_floating_functions_are_floats() -> None:
    arrays = operands((I64, 3), floating=True)
    assert arrays is not None
    assert [(array.dtype, array.shape) for array in arrays] == [(np.float32, (2,)), (np.float32, ())]


def test_operands_of_numbers_only_are_none() -> None:
    assert operands((2, True, 1.5)) is None


@pytest.mark.parametrize("value", [None, "ij", [1, 2]])
def test_operands_refuse_what_is_no_number(value: object) -> None:
    with pytest.raises(TypeError, match="neither a tensor nor a number"):
        operands((F32, value))
    with pytest.raises(TypeError, match="neither a tensor nor a number"):
        operands((2, value))

"""Steps that compute with integers and bools on the arena, element by element."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.engine.kernels.typed import Typed
from kuiper.engine.transfers import end_of
from kuiper.engine.values import Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.builder import Builder


def emit_typed(builder: Builder, operation: str, out: Value, operands: Sequence[Value]) -> None:
    """Add ``out = operation(operands)``; the operands broadcast with ``out``, which has at most six axes."""
    counted = operands[1:] if operation == "where" else operands
    floating = any(operand.is_float for operand in counted)
    shape = out.shape
    builder.emit(
        operation,
        lambda: Typed(operation, shape, [end_of(out, shape), *(end_of(value, shape) for value in operands)], floating),
        reads=operands,
        writes=[out],
        relocatable=True,
        flops=out.view.size,
    )


def memory_like(builder: Builder, operands: Sequence[Value], shape: tuple[int, ...], dtype: np.dtype) -> Value:
    """Memory for a result of these operands: channels last if one of them, as large as the result, is."""
    whole = [value for value in operands if value.shape == shape]
    channels_last = len(shape) == 4 and any(
        shape[1] > 1 and value.view.strides[1] == value.view.itemsize for value in whole
    )
    if dtype == np.float32:
        return builder.image(shape, exact=True) if channels_last else builder.rows(shape, padded=False, exact=True)
    if not channels_last:
        return builder.typed(shape, dtype)
    n, c, h, w = shape
    out = builder.typed((n, h, w, c), dtype)
    return Value(out.buffer, out.view.transpose(0, 3, 1, 2))

"""The two doors of a graph: what users give becomes arrays, what the graph returns becomes Tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.errors import DataTypeError, ShapeError
from kuiper.graph.pnnx import DataType
from kuiper.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kuiper.graph.runtime_operator import RuntimeOperand

# Element types that an input may be declared as, and what arrays of it look like inside the graph.
_DTYPES = {
    DataType.F64: np.float64,
    DataType.I64: np.int64,
    DataType.I32: np.int32,
    DataType.I16: np.int16,
    DataType.I8: np.int8,
    DataType.U8: np.uint8,
    DataType.BOOL: np.bool_,
}


def input_dtype(operand: RuntimeOperand) -> np.dtype:
    """The element type of an input inside the graph: the declared one, float32 for half types and where none is."""
    return np.dtype(_DTYPES.get(operand.type, np.float32))


def as_input(value: Any, operand: RuntimeOperand, where: str) -> np.ndarray:
    """``value`` as an array of the operand's declared element type (float32 where none is declared).

    The number of axes must be the declared one; sizes are free, and the operators check those they depend on.

    Raises
    ------
    DataTypeError
        If it is not an array of numbers.
    ShapeError
        If it has another number of axes than the file declares.
    """
    try:
        array = np.asarray(value)
    except Exception as error:
        hint = "call .detach() first" if getattr(value, "requires_grad", False) else str(error)
        raise DataTypeError(where, "something that np.asarray takes", type(value).__name__, hint=hint) from error
    if array.dtype.kind not in "fiub":
        raise DataTypeError(where, "an array of numbers", f"dtype {array.dtype} from {type(value).__name__}")
    if operand.shape is not None and array.ndim != len(operand.shape):
        declared = ", ".join("?" if size is None else str(size) for size in operand.shape)
        raise ShapeError(where, f"{len(operand.shape)} axes as in ({declared})", array.shape)
    dtype = input_dtype(operand)
    if array.dtype.kind == "f" and dtype.kind in "iub":
        raise DataTypeError(where, f"{dtype} values", array.dtype)
    return np.asarray(array, dtype=dtype)


def as_output(value: Any) -> Any:
    """Arrays as Tensors on the same memory, lists and tuples as tuples, numbers as they are.

    A view that may not be written to (an expanded axis, say) is copied: the caller owns the output.
    """
    if isinstance(value, np.ndarray):
        return Tensor.wrap(value if value.flags.writeable else value.copy())
    if isinstance(value, (list, tuple)):
        return tuple(as_output(item) for item in value)
    return Tensor.wrap(np.asarray(value)) if isinstance(value, np.generic) else value


def shapes_of(values: Iterable[Any]) -> str:
    """The shapes of arrays (nested ones in brackets, other values as they print), for messages."""
    return ", ".join(_shape_of(value) for value in values) or "none"


def _shape_of(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return str(value.shape)
    if isinstance(value, (list, tuple)):
        return f"[{shapes_of(value)}]"
    return repr(value)

"""The two doors of a graph: what users give becomes arrays, what the graph returns becomes Tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.errors import DataTypeError, ShapeError
from kuiper.graph.failures import naming_the_place, out_of_memory
from kuiper.graph.pnnx import DataType
from kuiper.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kuiper.graph.layer_protocol import LayerProtocol
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
    DataType.U16: np.uint16,
    DataType.U32: np.uint32,
    DataType.U64: np.uint64,
    DataType.C64: np.complex64,
    DataType.C128: np.complex128,
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
    except MemoryError as error:
        raise out_of_memory(where, error) from error
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
    with naming_the_place(where):
        return np.asarray(array, dtype=dtype)


def owned_outputs(
    values: Sequence[Any], layers: Sequence[LayerProtocol | None], inputs: Sequence[np.ndarray]
) -> tuple[Any, ...]:
    """What the graph returns, in memory that is the caller's alone: arrays that others have, too, are copied.

    ``layers`` are those that made the values. An array is passed on as it is if it has memory of its own, is no input
    and no other one of the values, and if the layer's ``returns_ownership`` says that it is the caller's. What lies in
    lists and tuples may have been made by any layer.
    """
    taken = {id(array) for array in inputs}
    return tuple(_owned(value, layer, taken) for value, layer in zip(values, layers, strict=True))


def _owned(value: Any, layer: LayerProtocol | None, taken: set[int]) -> Any:
    if isinstance(value, (list, tuple)):
        items = [_owned(item, None, taken) for item in value]
        return items if isinstance(value, list) else tuple(items)
    if not isinstance(value, np.ndarray):
        return value
    returns_ownership = getattr(layer, "returns_ownership", None)
    has_memory = value.flags.owndata and value.flags.writeable
    if not has_memory or id(value) in taken or returns_ownership is None or not returns_ownership(value):
        value = value.copy()
    taken.add(id(value))
    return value


def as_output(value: Any) -> Any:
    """Arrays as Tensors on the same memory, lists and tuples as tuples, numbers as they are."""
    if isinstance(value, np.ndarray):
        return Tensor.wrap(value)
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

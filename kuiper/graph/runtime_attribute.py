"""RuntimeAttribute: a weight of an operator that can run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.graph.pnnx.data_types import DATA_TYPES
from kuiper.graph.quantized_weight import QuantizedAttribute
from kuiper.graph.stored_array import StoredArray

if TYPE_CHECKING:
    import numpy as np

    from kuiper.graph.pnnx.ir import DataType


class RuntimeAttribute:
    """A weight of an operator, as a NumPy array (bfloat16 widened to float32).

    Parameters
    ----------
    type : of its elements, as the file says
    shape : as the file says
    data : the array; the engine may come to keep it in another order (``stored``)

    Examples
    --------
    >>> import numpy as np
    >>> from kuiper.graph.pnnx import DataType
    >>> RuntimeAttribute(DataType.F32, (2,), np.float32([0.5, 1.5])).data
    array([0.5, 1.5], dtype=float32)
    """

    def __init__(self, type: DataType, shape: tuple[int, ...], data: np.ndarray) -> None:  # noqa: A002 (the file's word)
        self.type, self.shape = type, shape
        self.stored = StoredArray(data)

    @property
    def data(self) -> np.ndarray:
        """The array. Where only the engine has the weight, each call makes a new one."""
        return self.stored.get()

    def parts(self) -> tuple[np.ndarray, ...]:
        """The arrays that make up the weight, as they are stored."""
        return (self.data,)


def attribute_of(data: np.ndarray) -> RuntimeAttribute:
    """An array as a weight, of the type that it has."""
    return RuntimeAttribute(DATA_TYPES[data.dtype], data.shape, data)


AnyAttribute = RuntimeAttribute | QuantizedAttribute

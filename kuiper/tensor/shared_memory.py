"""Memory that a tensor shares with NumPy, PyTorch and others that speak their protocols; without copies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from kuiper.errors import DataTypeError, ParameterError
from kuiper.tensor.buffer import Exporter

if TYPE_CHECKING:
    from collections.abc import Callable

Self = TypeVar("Self", bound="SharedMemory")

NUMERIC_KINDS = "biufc"  # bool, int, unsigned, float, complex


class SharedMemory(Exporter):
    """An object over the memory of an ndarray, which is its ``array``.

    The buffer protocol, inherited, serves ``memoryview`` and ``np.asarray``; ``__array__`` those who ask for an array
    by name; DLPack serves PyTorch, JAX and CuPy.
    """

    __slots__ = ()
    __array_priority__ = 100.0  # lets ``ndarray + tensor`` be a tensor

    @classmethod
    def wrap(cls: type[Self], array: np.ndarray) -> Self:
        """A tensor over the memory of an array of any numeric type: no copy, no conversion.

        Raises
        ------
        DataTypeError
            If it is no array, its values are no numbers in this machine's byte order, or its strides are no whole
            elements.

        Examples
        --------
        >>> import numpy as np
        >>> from kuiper.tensor import Tensor
        >>> indices = np.array([4, 7])
        >>> Tensor.wrap(indices)
        Tensor(shape=(2,), dtype=int64)
           4  7
        >>> np.shares_memory(Tensor.wrap(indices), indices)
        True
        """
        where = f"{cls.__name__}.wrap"
        if not isinstance(array, np.ndarray):
            raise DataTypeError(where, "an ndarray", type(array).__name__, f"{cls.__name__}(values) copies")
        if array.dtype.kind not in NUMERIC_KINDS or not array.dtype.isnative:
            raise DataTypeError(where, "numbers in this machine's byte order", f"dtype {array.dtype}")
        if any(stride % array.itemsize for stride in array.strides):  # one field of a packed record
            raise DataTypeError(where, "strides of whole elements", f"{array.strides} bytes for {array.dtype}")
        tensor = cls.__new__(cls)
        Exporter.__init__(tensor, array)
        return tensor

    @classmethod
    def from_numpy(cls: type[Self], array: np.ndarray) -> Self:
        """A tensor over the memory of a float32 array; another type would need a copy and is refused.

        Raises
        ------
        DataTypeError
            If it is no array of float32.
        """
        tensor = cls.wrap(array)
        if array.dtype != np.float32:
            hint = f"{cls.__name__}(array) converts with a copy, {cls.__name__}.wrap(array) keeps the type"
            raise DataTypeError(f"{cls.__name__}.from_numpy", "a float32 array", array.dtype, hint)
        return tensor

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """The array, copied if ``copy`` is True or another type is asked for, which ``copy=False`` forbids.

        Source: NumPy 2.0 migration guide, "Adapting to changes in the copy keyword".
        """
        wanted = self.array.dtype if dtype is None else np.dtype(dtype)
        if copy is False and wanted != self.array.dtype:
            raise ParameterError("__array__", f"dtype {self.array.dtype} with copy=False", wanted)
        return self.array.astype(wanted, copy=bool(copy))

    def __dlpack__(self, **options: Any) -> Any:
        """The memory as a DLPack capsule; the options are those of the array API standard."""
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        """(1, 0): the CPU."""
        kind, number = self.array.__dlpack_device__()
        return int(kind), number

    def __reduce__(self) -> tuple[Callable[[np.ndarray], SharedMemory], tuple[np.ndarray]]:
        """For pickle and copy: wrap the array, or what those make of it, again."""
        return type(self).wrap, (self.array,)

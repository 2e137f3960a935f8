"""Numbers that go into a tensor and come out of it, one by one or all at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kuiper.errors import DataTypeError, ShapeError
from kuiper.tensor import layout
from kuiper.tensor.layout import memory_order
from kuiper.tensor.shared_memory import SharedMemory

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from kuiper.tensor.broadcasting import Operand


class Elements(SharedMemory):
    """The methods of ``Tensor`` that read and write its numbers."""

    __slots__ = ()

    def at(self, *index: int) -> float:
        """The number at an index; TensorIndexError outside the tensor."""
        value: float = self.array[layout.checked_index(index, self.array.shape, "Tensor.at")].item()
        return value

    def set(self, *index: int, value: float) -> None:
        """Put a number at an index.

        Parameters
        ----------
        index : one integer for each axis; negative ones count from the end
        value : the number, rounded to float32

        Raises
        ------
        TensorIndexError
            If the index is outside of the tensor, or has another number of axes.
        DataTypeError
            If the tensor is a view of memory that may not be written.

        Examples
        --------
        >>> from kuiper.tensor import Tensor
        >>> t = Tensor.zeros((2, 3))
        >>> t.set(0, -1, value=7)
        >>> t.tolist()
        [[0.0, 0.0, 7.0], [0.0, 0.0, 0.0]]
        """
        place = layout.checked_index(index, self.array.shape, "Tensor.set")
        self._writable("Tensor.set")[place] = value

    def item(self) -> float:
        """The only value of a tensor with one value.

        Raises
        ------
        ShapeError
            If there are more values, or none.
        """
        if self.array.size != 1:
            raise ShapeError("Tensor.item", "a tensor with one value", f"shape {self.array.shape}")
        value: float = self.array.item()
        return value

    def values(self, order: str = "C") -> np.ndarray:
        """A copy of all values in a row, in row-major or column-major order."""
        return self.array.flatten(memory_order(order, "Tensor.values"))

    def tolist(self) -> Any:
        """The values as nested lists."""
        return self.array.tolist()

    def fill(self, values: Operand | Sequence[float], order: str = "C") -> None:
        """Overwrite all values: with one number, or with as many as there are.

        Parameters
        ----------
        values : a number, or a row of ``size`` numbers
        order : the sequence in which the values are written: row by row ("C" or "row") or column by column ("F" or
            "column")

        Raises
        ------
        ShapeError
            If there are more or fewer values than the tensor has.
        DataTypeError
            If a value is not a real number, or the memory may not be written.
        ParameterError
            If ``order`` is none of the four words.

        Examples
        --------
        >>> from kuiper.tensor import Tensor
        >>> t = Tensor.zeros((2, 3))
        >>> t.fill([1, 2, 3, 4, 5, 6], order="column")
        >>> t
        Tensor(shape=(2, 3))
           1  3  5
           2  4  6
        """
        given = layout.numeric_array(values, "Tensor.fill")
        if given.ndim and given.shape != (self.array.size,):
            expected = f"one number, or a row of {self.array.size} for shape {self.array.shape}"
            raise ShapeError("Tensor.fill", expected, f"shape {given.shape}")
        target = self._writable("Tensor.fill")
        target[...] = given.reshape(self.array.shape, order=memory_order(order, "Tensor.fill")) if given.ndim else given

    def _writable(self, where: str) -> np.ndarray:
        if not self.array.flags.writeable:
            raise DataTypeError(where, "memory that may be written", "a read-only view", "copy() is writable")
        return self.array

    def __float__(self) -> float:
        return float(self.item())

    def __bool__(self) -> bool:
        """Whether the only value is not zero; for more than one value the question has no answer."""
        return bool(self.item())

"""Tensor: an n-dimensional array of float32 over one piece of memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.errors import DataTypeError, ShapeError
from kuiper.tensor import elementwise, layout
from kuiper.tensor.broadcasting import Operand, combine
from kuiper.tensor.creation import Creation
from kuiper.tensor.elements import Elements
from kuiper.tensor.formatting import format_tensor
from kuiper.tensor.layout import Order, memory_order

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


class Tensor(Creation, Elements):
    """Float32 values with a shape; ``Tensor(values)`` copies them from numbers, nested lists or any array.

    ``array`` is the same memory as an ndarray; ``np.asarray(t)``, ``memoryview(t)`` and ``torch.from_dlpack(t)`` share
    it, too. Slices, ``permute``, ``channel``, and where the strides allow it ``reshape`` and ``flatten``, are views:
    writing to them writes to the tensor. Arithmetic, ``padding``, ``transform`` and ``copy`` give memory of their own.

    Parameters
    ----------
    values : a number, nested lists of numbers, or an array of any shape; they are rounded to float32
    order : "C" or "row" (row-major, the default) or "F" or "column" (column-major). Where it is given to a constructor,
        it says how the values lie in memory; elsewhere it says in which sequence they are read and written.

    Raises
    ------
    ShapeError
        If nested lists are ragged.
    DataTypeError
        If a value is not a real number.
    ParameterError
        If ``order`` is none of the four words.

    Examples
    --------
    >>> t = Tensor([[1, 2, 3], [4, 5, 6]])
    >>> t * 2 + Tensor([[10], [20]])
    Tensor(shape=(2, 3))
       12  14  16
       28  30  32
    >>> t.strides, Tensor(t, order="F").strides
    ((3, 1), (1, 2))
    """

    __slots__ = ()

    def __init__(self, values: object, order: str = "C") -> None:
        given = layout.numeric_array(values, "Tensor")
        super().__init__(np.array(given, np.float32, order=memory_order(order, "Tensor")))

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each axis."""
        return self.array.shape

    @property
    def strides(self) -> tuple[int, ...]:
        """How many elements lie between neighbours along each axis: index (i, j) is at i*strides[0] + j*strides[1]."""
        return layout.element_strides(self.array)

    @property
    def order(self) -> Order | None:
        """How memory holds the values: "C" in row-major order, "F" in column-major; None for other views."""
        return layout.order_of(self.array)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the values: float32, unless the tensor wraps an array of another type."""
        return self.array.dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self.array.ndim

    @property
    def size(self) -> int:
        """The number of values."""
        return self.array.size

    def channel(self, i: int) -> Tensor:
        """One channel as a view: (h, w) of a tensor (c, h, w), (n, h, w) of a tensor (n, c, h, w).

        Raises
        ------
        ShapeError
            If the tensor has another number of axes.
        TensorIndexError
            If there is no channel of this number.
        """
        if self.ndim not in (3, 4):
            raise ShapeError("Tensor.channel", "a tensor (c, h, w) or (n, c, h, w)", f"shape {self.shape}")
        (number,) = layout.checked_index((i,), self.shape[-3:-2], "Tensor.channel")
        return Tensor.wrap(self.array[..., number, :, :])

    def padding(self, pads: Sequence[int], value: float = 0) -> Tensor:
        """A copy with a border around the last two axes.

        Parameters
        ----------
        pads : (up, bottom, left, right), the widths of the border in values
        value : what the border is filled with

        Returns
        -------
        A tensor (..., up + h + bottom, left + w + right) for one of shape (..., h, w).

        Raises
        ------
        ShapeError
            If ``pads`` are not four, one is negative, or the tensor has fewer than two axes.

        Examples
        --------
        >>> Tensor([[1, 2], [3, 4]]).padding((1, 0, 0, 2))
        Tensor(shape=(3, 4))
           0  0  0  0
           1  2  0  0
           3  4  0  0
        """
        return Tensor.wrap(layout.padded(self.array, pads, value, "Tensor.padding"))

    def reshape(self, *shape: int | Sequence[int], order: str = "C") -> Tensor:
        """The values under a new shape; a view where the strides allow it.

        Parameters
        ----------
        shape : the new lengths, as numbers or as one sequence; one of them may be -1 and is computed from the others
        order : the sequence in which values are read and written: row by row ("C" or "row") or column by column ("F" or
            "column")

        Returns
        -------
        A tensor of the new shape.

        Raises
        ------
        ShapeError
            If the lengths do not fit the number of values.
        DataTypeError
            If a length is not an integer.
        ParameterError
            If ``order`` is none of the four words.

        Examples
        --------
        >>> Tensor([[1, 2, 3], [4, 5, 6]]).reshape(3, -1)
        Tensor(shape=(3, 2))
           1  2
           3  4
           5  6
        """
        lengths = layout.integers(shape, "Tensor.reshape", "shape")
        reading = memory_order(order, "Tensor.reshape")
        return Tensor.wrap(layout.reshaped(self.array, lengths, reading, "Tensor.reshape"))

    def flatten(self, start: int = 0, end: int = -1) -> Tensor:
        """The axes from ``start`` to ``end``, both included, merged into one; a view where the strides allow it.

        Parameters
        ----------
        start : the first axis to merge; negative numbers count from the end
        end : the last axis to merge

        Returns
        -------
        A tensor with ``end - start`` fewer axes; one without axes gets one.

        Raises
        ------
        ShapeError
            If there is no such axis, or ``start`` lies behind ``end``.

        Examples
        --------
        >>> Tensor.zeros((2, 3, 4, 5)).flatten(1, 2).shape
        (2, 12, 5)
        """
        return Tensor.wrap(layout.flattened(self.array, start, end, "Tensor.flatten"))

    def permute(self, *axes: int | Sequence[int]) -> Tensor:
        """A view with the axes in another order: ``permute(1, 2, 0)`` makes (c, h, w) an (h, w, c)."""
        numbers = layout.integers(axes, "Tensor.permute", "axes")
        return Tensor.wrap(layout.permuted(self.array, numbers, "Tensor.permute"))

    def transform(self, fn: Callable[[float], float]) -> Tensor:
        """A tensor of ``fn(value)`` for every value, called in row-major order."""
        results = np.array([fn(value) for value in self.array.ravel().tolist()], np.float32)
        return Tensor.wrap(np.asarray(results.reshape(self.shape), order="F" if self.order == "F" else "C"))

    def copy(self, order: str | None = None) -> Tensor:
        """The same values in memory of their own, in this order (default: as the tensor has it)."""
        return Tensor.wrap(self.array.copy("K" if order is None else memory_order(order, "Tensor.copy")))

    def allclose(self, other: Operand, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
        """Whether both have one shape and ``|self - other| <= atol + rtol |other|`` everywhere.

        Parameters
        ----------
        other : a tensor, an array, nested lists or a number
        rtol : the tolerated difference as a share of ``other``
        atol : the tolerated difference as such
        equal_nan : whether NaN equals NaN

        Returns
        -------
        A bool.

        Raises
        ------
        ShapeError
            If ``other`` are ragged lists.
        DataTypeError
            If a value of ``other`` is not a real number.

        Examples
        --------
        >>> Tensor([1, 2]).allclose([1, 2.001]), Tensor([1, 2]).allclose([1, 2.001], rtol=1e-2)
        (False, True)
        """
        array = layout.numeric_array(other, "Tensor.allclose")
        return self.shape == array.shape and bool(np.allclose(self.array, array, rtol, atol, equal_nan))

    def __getitem__(self, key: Any) -> Tensor:
        """The part that a NumPy index selects; a view, unless the index holds a mask or a list of positions."""
        parts = layout.index_parts(key)
        if not any(part is Ellipsis for part in parts):
            parts += (Ellipsis,)  # so that a single value is a view, too
        try:
            return Tensor.wrap(self.array[parts])
        except IndexError as error:
            raise layout.index_error(key, self.shape, error) from error

    def __setitem__(self, key: Any, value: Operand | Sequence[float]) -> None:
        """Overwrite what a NumPy index selects; the value is broadcast to it."""
        target = self._writable("Tensor[...]")
        given = layout.numeric_array(value, "Tensor[...]")
        try:
            target[layout.index_parts(key)] = given
        except IndexError as error:
            raise layout.index_error(key, self.shape, error) from error
        except ValueError as error:
            expected = f"a value that broadcasts to {self[key].shape}"
            raise ShapeError("Tensor[...]", expected, f"shape {given.shape}") from error

    def __len__(self) -> int:
        if not self.ndim:
            raise DataTypeError("len(Tensor)", "at least one axis", "shape ()")
        return self.shape[0]

    def __iter__(self) -> Iterator[Tensor]:
        """Views along the first axis."""
        return (self[i] for i in range(len(self)))

    def __eq__(self, other: object) -> bool:
        """Whether both have one shape and the same values (one bool, as for lists); NaN equals nothing.

        The memory order and the type of the values do not matter. See ``allclose`` for a tolerance.
        """
        if not isinstance(other, (Tensor, np.ndarray)):
            return NotImplemented
        return np.array_equal(self.array, np.asarray(other))

    __hash__ = None  # type: ignore[assignment]  # values may change

    def __add__(self, other: Operand) -> Tensor:
        return Tensor.wrap(combine(elementwise.add, self, other, "addition"))

    def __radd__(self, other: Operand) -> Tensor:
        return Tensor.wrap(combine(elementwise.add, other, self, "addition"))

    def __sub__(self, other: Operand) -> Tensor:
        return Tensor.wrap(combine(elementwise.sub, self, other, "subtraction"))

    def __rsub__(self, other: Operand) -> Tensor:
        return Tensor.wrap(combine(elementwise.sub, other, self, "subtraction"))

    def __mul__(self, other: Operand) -> Tensor:
        return Tensor.wrap(combine(elementwise.mul, self, other, "multiplication"))

    def __rmul__(self, other: Operand) -> Tensor:
        return Tensor.wrap(combine(elementwise.mul, other, self, "multiplication"))

    def __truediv__(self, other: Operand) -> Tensor:
        return Tensor.wrap(combine(elementwise.div, self, other, "division"))

    def __rtruediv__(self, other: Operand) -> Tensor:
        return Tensor.wrap(combine(elementwise.div, other, self, "division"))

    def __repr__(self) -> str:
        return format_tensor(self.array)

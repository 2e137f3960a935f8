"""Tensors made of a shape alone: filled with one number, or random."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from kuiper.tensor.layout import Shape, checked_shape, memory_order
from kuiper.tensor.shared_memory import SharedMemory

Self = TypeVar("Self", bound="Creation")


class Creation(SharedMemory):
    """The constructors of ``Tensor`` that take a shape."""

    __slots__ = ()

    @classmethod
    def full(cls: type[Self], shape: Shape, value: float, order: str = "C") -> Self:
        """A tensor whose values are all ``value``.

        Parameters
        ----------
        shape : the length of each axis, or one length
        value : a number, rounded to float32
        order : how the values lie in memory: "C" or "row" (row-major), "F" or "column" (column-major)

        Returns
        -------
        A tensor of this shape, in memory of its own.

        Raises
        ------
        ShapeError
            If a length is negative.
        DataTypeError
            If a length is not an integer.
        ParameterError
            If ``order`` is none of the four words.

        Examples
        --------
        >>> from kuiper.tensor import Tensor
        >>> Tensor.full((2, 3), 7)
        Tensor(shape=(2, 3))
           7  7  7
           7  7  7
        """
        lengths = checked_shape(shape, "Tensor.full")
        return cls.wrap(np.full(lengths, value, np.float32, order=memory_order(order, "Tensor.full")))

    @classmethod
    def zeros(cls: type[Self], shape: Shape, order: str = "C") -> Self:
        """A tensor of zeros.

        Parameters
        ----------
        shape : the length of each axis, or one length
        order : how the values lie in memory: "C" or "row" (row-major), "F" or "column" (column-major)

        Returns
        -------
        A tensor of this shape, in memory of its own. Errors are those of ``full``.

        Examples
        --------
        >>> from kuiper.tensor import Tensor
        >>> Tensor.zeros((2, 3), order="F").strides
        (1, 2)
        """
        return cls.full(shape, 0.0, order)

    @classmethod
    def ones(cls: type[Self], shape: Shape, order: str = "C") -> Self:
        """A tensor of ones.

        Parameters
        ----------
        shape : the length of each axis, or one length
        order : how the values lie in memory: "C" or "row" (row-major), "F" or "column" (column-major)

        Returns
        -------
        A tensor of this shape, in memory of its own. Errors are those of ``full``.

        Examples
        --------
        >>> from kuiper.tensor import Tensor
        >>> Tensor.ones(3).tolist()
        [1.0, 1.0, 1.0]
        """
        return cls.full(shape, 1.0, order)

    @classmethod
    def normal(
        cls: type[Self], shape: Shape, mean: float = 0, std: float = 1, *, seed: int | None = None, order: str = "C"
    ) -> Self:
        """Random values from a normal distribution; the same ones for the same seed, whatever the order.

        Parameters
        ----------
        shape : the length of each axis, or one length
        mean : the mean of the distribution
        std : its standard deviation
        seed : an integer that fixes the values; None draws others each time
        order : how the values lie in memory: "C" or "row" (row-major), "F" or "column" (column-major)

        Returns
        -------
        A tensor of this shape, in memory of its own. Errors are those of ``full``.

        Examples
        --------
        >>> from kuiper.tensor import Tensor
        >>> Tensor.normal((2, 2), mean=5, seed=1) == Tensor.normal((2, 2), mean=5, seed=1, order="F")
        True
        """
        values = np.random.default_rng(seed).standard_normal(checked_shape(shape, "Tensor.normal"), np.float32)
        values = values * np.float32(std) + np.float32(mean)
        return cls.wrap(np.asarray(values, order=memory_order(order, "Tensor.normal")))

    @classmethod
    def uniform(
        cls: type[Self], shape: Shape, low: float = 0, high: float = 1, *, seed: int | None = None, order: str = "C"
    ) -> Self:
        """Random values spread evenly from ``low`` to ``high``; the same ones for the same seed, whatever the order.

        Parameters
        ----------
        shape : the length of each axis, or one length
        low : the smallest value
        high : the end of the range, which itself is not drawn
        seed : an integer that fixes the values; None draws others each time
        order : how the values lie in memory: "C" or "row" (row-major), "F" or "column" (column-major)

        Returns
        -------
        A tensor of this shape, in memory of its own. Errors are those of ``full``.

        Examples
        --------
        >>> from kuiper.tensor import Tensor
        >>> t = Tensor.uniform(1000, low=-1, high=1, seed=1)
        >>> -1 <= min(t.tolist()) and max(t.tolist()) < 1
        True
        """
        values = np.random.default_rng(seed).random(checked_shape(shape, "Tensor.uniform"), np.float32)
        values = values * np.float32(high - low) + np.float32(low)
        return cls.wrap(np.asarray(values, order=memory_order(order, "Tensor.uniform")))

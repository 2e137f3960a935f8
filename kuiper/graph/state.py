"""What a graph with state remembers from call to call: how far a text has come, and what attention will read again.

    position     0   1   2   3   4   5   6   7
    cache      | a | b | c | d | . | . | . | . |      length 4, max_length 8
                                 ^
                 a call with two tokens writes here, in place; nothing is moved or copied

Each stateful operator has arrays of its own, made on first use, whose layout is the operator's own affair. What lies
behind ``length`` means nothing and will be overwritten: so a call that fails has changed nothing, and going back to an
earlier length costs nothing.

The caches of a language model are read from main memory at every token, since the weights have evicted them from the
CPU's caches. From large pages this takes four fifths of the time. NumPy asks for large pages only where an array fills
them, so arrays share some. They do so after the first megabytes only: a small model needs no large page. The cost: a
large page is allocated as a whole, even where no text ever fills it.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kuiper.errors import ShapeError
from kuiper.pages import LARGE, SlabAllocator, pages
from kuiper.tensor_limit import check_size

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import DTypeLike

_SLAB = 16 << 20  # bytes that arrays share; pages that are never touched take no memory


class Paging(NamedTuple):
    """What a plan must know of texts that share a pool of pages; see ``paged_state.py``."""

    page_size: int
    """Positions of a page."""
    pages: int
    """Pages of the pool."""
    pages_per_text: int
    """Most pages of one text."""
    texts: int
    """Most texts of a step."""
    rows: int
    """Most tokens of a step."""
    chosen: int
    """Of how many rows the outputs are wanted."""
    bits: int = 32
    """Of a number in a page: a float's 32, or 8 of a byte."""


class State:
    """The memory of one session.

    Parameters
    ----------
    max_length : how many positions it can hold

    Examples
    --------
    >>> state = State(max_length=8)
    >>> state.array("layers.0.cache", (1, 2, 8, 4)).shape
    (1, 2, 8, 4)
    >>> state.length, state.max_length
    (0, 8)
    """

    paging: Paging | None = None
    """How its texts share pages; None: it is one text, in memory of its own."""

    def __init__(self, max_length: int) -> None:
        self.max_length = max_length
        self._position = np.zeros(1, np.int64)
        self.integers: Mapping[str, np.ndarray] = {"position": self._position}
        """Arrays (int64) that compiled steps read where they lie, by name."""
        self._arrays: dict[str, np.ndarray] = {}
        self._axes: dict[str, int | None] = {}  # along which positions lie
        self._slabs = SlabAllocator(partial(pages, _SLAB))

    @property
    def length(self) -> int:
        """How many positions are filled."""
        return int(self._position[0])

    @length.setter
    def length(self, length: int) -> None:
        self._position[0] = length

    def array(
        self, key: str, shape: tuple[int, ...], axis: int | None = None, dtype: DTypeLike = np.float32
    ) -> np.ndarray:
        """The array of this key, zeros at first.

        ``axis`` is the one along which positions lie in order, one by one or in panels of equally many, so that a copy
        need not have what lies behind the last.

        Raises
        ------
        ShapeError
            If it was made with another shape: the number of texts in a batch has changed.
        """
        array = self._arrays.get(key)
        if array is None:
            array = self._arrays[key] = self._zeros(key, shape, np.dtype(dtype))
            self._axes[key] = axis
        if array.shape != shape:
            raise ShapeError(key, f"state of shape {array.shape}, as in the calls before", shape)
        return array

    def of(self, name: str) -> OperatorState:
        """What the operator of this name sees."""
        return OperatorState(self, name)

    def copy(self) -> State:
        """Another state that has come as far, on memory of its own; what lies behind is not copied."""
        other = State(self.max_length)
        other.length = self.length
        for key, array in self._arrays.items():
            axis = self._axes[key]
            copied = other.array(key, array.shape, axis, array.dtype)
            if axis is None:
                copied[...] = array
            else:
                filled = -(-self.length * array.shape[axis] // self.max_length)
                place = (*[slice(None)] * axis, slice(filled))
                copied[place] = array[place]
        return other

    def _zeros(self, key: str, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """Zeros, beside other arrays in large pages unless all of them are small or this one is large."""
        size = dtype.itemsize * math.prod(shape)
        if self.nbytes < LARGE or size > _SLAB // 4:
            return np.zeros(shape, dtype)
        check_size(shape, dtype.itemsize, where=key)
        return self._slabs.take(size).view(dtype).reshape(shape)

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return sum(array.nbytes for array in self._arrays.values())


class OperatorState(NamedTuple):
    """The state as one operator sees it: the last argument of the ``forward`` of a layer that ``uses_state``."""

    state: State
    name: str

    @property
    def length(self) -> int:
        """How many positions were filled before this call."""
        return self.state.length

    @property
    def max_length(self) -> int:
        """How many positions the session can hold."""
        return self.state.max_length

    @property
    def paging(self) -> Paging | None:
        """How texts share pages; None: there is one text."""
        return self.state.paging

    def integers(self, name: str) -> np.ndarray:
        """One of the state's arrays of int64."""
        return self.state.integers[name]

    def array(
        self, part: str, shape: tuple[int, ...], axis: int | None = None, dtype: DTypeLike = np.float32
    ) -> np.ndarray:
        """An array that lives from call to call, zeros at first; see ``State.array``."""
        return self.state.array(f"{self.name}.{part}", shape, axis, dtype)

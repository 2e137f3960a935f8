"""Weights of a model, which need not lie in memory twice.

    at first                  the array that the file gave
    after ``transfer``       none: the new owner keeps the numbers in another order, and makes the array when asked

The engine packs weights for its kernels and reads nothing else from then on. Readable layers, copies and pickles still
find them here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np


class StoredArray:
    """An array whose numbers the engine may come to keep in another order.

    Attributes
    ----------
    shape, dtype : of the array, wherever it is

    Examples
    --------
    >>> import numpy as np
    >>> stored = StoredArray(np.arange(3))
    >>> stored.transfer(lambda: np.arange(3))
    >>> stored.get(), stored.shape
    (array([0, 1, 2]), (3,))
    """

    def __init__(self, array: np.ndarray) -> None:
        self.shape, self.dtype = array.shape, array.dtype
        self._array: np.ndarray | None = array
        self._again: Callable[[], np.ndarray] | None = None

    def get(self) -> np.ndarray:
        """The array; after ``transfer`` a new one at each call."""
        array = self._array  # read once: another thread may be handing it over
        if array is None:
            assert self._again is not None
            return self._again()
        return array

    def transfer(self, again: Callable[[], np.ndarray]) -> None:
        """Drop the array: ``again`` makes one with the same bits whenever it is wanted."""
        self._again = again
        self._array = None

    def __reduce__(self) -> tuple[Any, ...]:
        """For pickle and copy."""
        return StoredArray, (self.get(),)

"""Exercise 1.2: in which order the values are read and written.

Two orders are at work, and they have nothing to do with each other. The strides say where in memory a value LIES
(exercise 1.1). The reading order says in which sequence we VISIT the indexes: "C" is row-major, the last index runs
fastest; "F" is column-major, the first one does.

                             read "C"          read "F"
    [[1, 2, 3],
     [4, 5, 6]]              1 2 3 4 5 6       1 4 2 5 3 6         wherever the six values lie

A tensor is three things here: ``memory``, an array of float32 with one axis; ``shape``; ``steps``, the strides. Memory
may be larger than the tensor: a tensor can be a part of another, with gaps. What lies in the gaps is not ours.

Write the four functions from top to bottom: each is short once you have those above it. NumPy's reshape and ravel would
hide what you came for; one loop over ``indexes`` and your ``offset`` is all it takes. Each raises ValueError for an
``order`` that is neither "C" nor "F", also for a tensor of one value or of none, where the order makes no difference; the
message names it.
"""

from __future__ import annotations

import math

import numpy as np

from kuiper.course import load_exercise

strides = load_exercise("1.1").strides
offset = load_exercise("1.1").offset


def indexes(shape: tuple[int, ...], order: str = "C") -> list[tuple[int, ...]]:
    """Every index of a tensor, in reading order.

    >>> indexes((2, 3))
    [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]
    >>> indexes((2, 3), "F")
    [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 2)]

    Like the wheels of a mileage counter: when the fastest has gone round, its neighbour moves by one. A tensor without
    axes has the one index (); one with an axis of length 0 has none.
    """
    # BEGIN SOLUTION
    if order not in ("C", "F"):
        raise ValueError(f"order: expected 'C' or 'F', got {order!r}")
    found: list[tuple[int, ...]] = [()]
    if order == "C":
        for length in shape:
            found = [(*index, i) for index in found for i in range(length)]
    else:
        for length in reversed(shape):
            found = [(i, *index) for index in found for i in range(length)]
    return found
    # END SOLUTION


def values(memory: np.ndarray, shape: tuple[int, ...], steps: tuple[int, ...], order: str = "C") -> np.ndarray:
    """All values in a row, in reading order: an array of float32 with one axis and memory of its own.

    >>> memory = np.array([1, 4, 2, 5, 3, 6], np.float32)       # the matrix from above, column by column
    >>> values(memory, (2, 3), (1, 2)).tolist()
    [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    >>> values(memory, (2, 3), (1, 2), "F").tolist()
    [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]
    """
    # BEGIN SOLUTION
    return np.array([memory[offset(index, shape, steps)] for index in indexes(shape, order)], np.float32)
    # END SOLUTION


def fill(
    memory: np.ndarray,
    shape: tuple[int, ...],
    steps: tuple[int, ...],
    numbers: float | list[float],
    order: str = "C",
) -> None:
    """Overwrite all values of the tensor, in its memory: the list gives them in reading order; one number is for all.

    >>> memory = np.zeros(6, np.float32)
    >>> fill(memory, (2, 3), (3, 1), [1, 2, 3, 4, 5, 6], "F")    # [[1, 3, 5], [2, 4, 6]]
    >>> memory.tolist()
    [1.0, 3.0, 5.0, 2.0, 4.0, 6.0]

    Raises
    ------
    ValueError
        If there are more or fewer numbers than the tensor has values; the message says how many came, and memory is as
        it was.
    """
    # BEGIN SOLUTION
    places = indexes(shape, order)
    row = numbers if isinstance(numbers, list) else [numbers] * len(places)
    if len(row) != len(places):
        raise ValueError(f"numbers: expected {len(places)} for shape {shape}, got {len(row)}")
    for index, number in zip(places, row):
        memory[offset(index, shape, steps)] = number
    # END SOLUTION


def reshape(
    memory: np.ndarray,
    shape: tuple[int, ...],
    steps: tuple[int, ...],
    new_shape: tuple[int, ...],
    order: str = "C",
) -> tuple[np.ndarray, tuple[int, ...]]:
    """The values under a new shape: its memory (new, without gaps, row-major) and the shape.

    The values are read in this order under the old shape, and put back in the same order under the new one. At most one
    of the new lengths may be -1: it becomes whatever is left for it. Beside a 0 it could be anything, so there it is an
    error.

        [[1, 2, 3],      order "C"   [[1, 2],      order "F"   [[1, 5],
         [4, 5, 6]]                   [3, 4],                   [4, 3],
                                      [5, 6]]                   [2, 6]]

    >>> memory = np.array([1, 2, 3, 4, 5, 6], np.float32)
    >>> new, shape = reshape(memory, (2, 3), (3, 1), (-1, 2), "F")
    >>> new.tolist(), shape                                      # [[1, 5], [4, 3], [2, 6]], row by row
    ([1.0, 5.0, 4.0, 3.0, 2.0, 6.0], (3, 2))

    Raises
    ------
    ValueError
        If the new shape holds another number of values, more than one -1, a -1 beside a 0, or another negative length;
        the message names it.
    """
    # BEGIN SOLUTION
    size = math.prod(shape)
    known = math.prod(length for length in new_shape if length != -1)
    unknown = new_shape.count(-1)
    fits = known > 0 and size % known == 0 if unknown else known == size
    if unknown > 1 or min(new_shape, default=0) < -1 or not fits:
        raise ValueError(f"new_shape: expected a shape for {size} values, got {new_shape}")
    full = tuple(size // known if length == -1 else length for length in new_shape)
    new = np.empty(size, np.float32)
    fill(new, full, strides(full, "C"), values(memory, shape, steps, order).tolist(), order)
    return new, full
    # END SOLUTION

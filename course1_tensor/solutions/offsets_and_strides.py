"""Exercise 1.1: where a value lies in memory.

A tensor is one row of numbers and a rule that finds the value at an index in it. The rule is a stride for each axis:
how many numbers apart neighbours along that axis lie.

    [[1, 2, 3],    row-major      1 2 3 4 5 6    strides (3, 1)
     [4, 5, 6]]    column-major   1 4 2 5 3 6    strides (1, 2)

Write the two functions below. No NumPy: this is the arithmetic that NumPy stands on.
"""

from __future__ import annotations


def strides(shape: tuple[int, ...], order: str = "C") -> tuple[int, ...]:
    """The stride of each axis for a tensor without gaps.

    ``order`` is "C" (row-major: neighbours along the last axis touch) or "F" (column-major: along the first). An axis
    of length 1 has its stride like any other, although nobody ever walks along it. The same rule holds where a length
    is 0: the strides of the slower axes are 0 then.

    >>> strides((2, 3))
    (3, 1)
    >>> strides((2, 3), "F")
    (1, 2)
    >>> strides((2, 3, 4))
    (12, 4, 1)
    >>> strides((5, 1, 4)), strides((5, 0, 4))
    ((4, 4, 1), (0, 4, 1))

    Raises
    ------
    ValueError
        If ``order`` is neither; the message names it.
    """
    # BEGIN SOLUTION
    if order not in ("C", "F"):
        raise ValueError(f"order: expected 'C' or 'F', got {order!r}")
    steps = []
    step = 1
    for length in reversed(shape) if order == "C" else shape:
        steps.append(step)
        step *= length
    return tuple(reversed(steps)) if order == "C" else tuple(steps)
    # END SOLUTION


def offset(index: tuple[int, ...], shape: tuple[int, ...], steps: tuple[int, ...]) -> int:
    """How many numbers lie before the value at ``index``, given the strides ``steps``.

    A negative index counts from the end of its axis, as everywhere in Python.

    >>> offset((1, 2), (2, 3), (3, 1))
    5
    >>> offset((1, 2), (2, 3), (1, 2))
    5
    >>> offset((-1, 0), (2, 3), (3, 1))
    3

    Raises
    ------
    IndexError
        If an index lies outside its axis; the message names it.
    """
    # BEGIN SOLUTION
    total = 0
    for position, length, step in zip(index, shape, steps):
        if not -length <= position < length:
            raise IndexError(f"index: expected {-length} to {length - 1}, got {position}")
        total += position % length * step
    return total
    # END SOLUTION

"""Whether the rows of a batch are strangers to each other, and in which sizes they go through a model.

An open first axis does not say so: it may be time, or pixels. Trying does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Run = Callable[..., list[Array]]
"""From an array for each input of a model to an array for each output."""


def is_row_wise(run: Run, example: Sequence[Array]) -> bool | None:
    """Whether two rows that go through a model together give the same bits as each of them alone.

    Parameters
    ----------
    run : the model; it is called three times
    example : inputs (rows, ...), for their shapes and types; the numbers are made up

    Returns
    -------
    False also if the model does not take two rows; None if such inputs do not tell: a row alone fails, or is empty.

    Examples
    --------
    >>> x = np.float32([[1, 2]])
    >>> is_row_wise(lambda x: [2 * x], [x]), is_row_wise(lambda x: [x - x.mean(0)], [x])
    (True, False)
    """
    generator = np.random.default_rng(0)
    rows = [[_made_up_row(array, generator, number) for array in example] for number in range(2)]
    try:
        alone = [run(*row) for row in rows]
    except Exception:  # it is no input of this model
        return None
    if not all(array.size for arrays in (*rows, *alone) for array in arrays):
        return None
    try:
        together = run(*(np.concatenate(pair) for pair in zip(*rows, strict=True)))
    except Exception:  # the file was traced with one row
        return False
    if not len(alone[0]) == len(alone[1]) == len(together):
        return False
    return all(
        output.ndim > 0
        and len(output) == 2
        and all(_has_same_bits(output[number : number + 1], alone[number][at]) for number in range(2))
        for at, output in enumerate(together)
    )


def run_in_pieces(run: Run, inputs: Sequence[Array], most: int) -> list[Array]:
    """The outputs of a row-wise model for any number of rows, by pieces of a few sizes only.

    Engines plan for shapes, and keep a few plans: the sizes are powers of two up to ``most``. Where at most a quarter
    of a piece is missing, its last row fills it up.

    Parameters
    ----------
    run : the model
    inputs : (rows, ...) each, with at least one row
    most : rows of a piece

    Examples
    --------
    >>> sizes = []
    >>> def double(x):
    ...     sizes.append(len(x))
    ...     return [2 * x]
    >>> run_in_pieces(double, [np.arange(11)], most=8)[0].tolist(), sizes
    ([0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20], [8, 4])
    """
    rows, first = len(inputs[0]), 0
    pieces: list[list[Array]] = []
    while first < rows:
        size = piece_size(rows - first, most)
        count = min(size, rows - first)
        outputs = run(*(_filled(array[first : first + count], size) for array in inputs))
        pieces.append([output[:count] for output in outputs])
        first += count
    return [parts[0] if len(parts) == 1 else np.concatenate(parts) for parts in zip(*pieces, strict=True)]


def piece_size(rows: int, most: int) -> int:
    """How many rows the next piece has.

    >>> [piece_size(rows, 16) for rows in (1, 2, 3, 4, 5, 6, 7, 11, 12, 100)]
    [1, 2, 4, 4, 4, 8, 8, 8, 16, 16]
    """
    largest = 1 << (most.bit_length() - 1)
    size = 1 << (rows - 1).bit_length()
    return min(size if 4 * rows >= 3 * size else size // 2, largest)


def _filled(array: Array, size: int) -> Array:
    return array if len(array) == size else np.concatenate([array, array[-1:].repeat(size - len(array), axis=0)])


def _made_up_row(array: Array, generator: np.random.Generator, number: int) -> Array:
    """A row of this shape and type. Integers are 0 or 1, which are indices of most tables."""
    shape = (1, *array.shape[1:])
    if array.dtype.kind == "f":
        return generator.standard_normal(shape).astype(array.dtype)
    values = generator.integers(0, 2, shape).astype(array.dtype)
    values.reshape(-1)[:1] = number
    return values


def _has_same_bits(one: Array, other: Array) -> bool:
    return one.shape == other.shape and one.dtype == other.dtype and one.tobytes() == other.tobytes()

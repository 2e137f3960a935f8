"""How similar texts are, in 80 columns: a table of a few, the closest pairs of more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from rich.cells import cell_len, set_cell_size

from kuiper.cli.terminal import say
from kuiper.printable import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

_WIDTH = 80
_COLUMNS = 8  # texts of a table, at most
_PAIRS = 20
_MOST = 1000  # texts that are compared


def show_similarity(names: Sequence[str], vectors: np.ndarray) -> None:
    """Print the cosines of vectors (n, d).

    >>> show_similarity(["north", "east"], np.float32([[0, 2], [1, 0]]))
                                                                             1     2
    1  north                                                              1.00  0.00
    2  east                                                               0.00  1.00
    """
    if len(names) > _MOST:
        say(f"similarities are shown of at most {_MOST} texts", error=True)
    elif len(names) > _COLUMNS:
        _show_pairs(names, cosines(vectors))
    else:
        _show_table(names, cosines(vectors))


def cosines(vectors: np.ndarray) -> np.ndarray:
    """Of all pairs of vectors (n, d): (n, n).

    >>> cosines(np.float32([[3, 0], [1, 1]])).round(3).tolist()
    [[1.0, 0.707], [0.707, 1.0]]
    """
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    directions = vectors / np.maximum(lengths, np.finfo(np.float64).tiny)
    return np.asarray(directions @ directions.T)


def _show_table(names: Sequence[str], found: np.ndarray) -> None:
    room = _WIDTH - 3 - 6 * len(names)
    say(" " * (3 + room) + "".join(f"{at + 1:6}" for at in range(len(names))))
    for at, (name, row) in enumerate(zip(names, found, strict=True)):
        say(f"{at + 1}  {_fitted(name, room)}" + "".join(f"{number:6.2f}" for number in row))


def _show_pairs(names: Sequence[str], found: np.ndarray) -> None:
    """The closest pairs, one in a line."""
    first, second = np.triu_indices(len(names), 1)
    order = np.argsort(-found[first, second], kind="stable")[:_PAIRS]
    say(f"the closest {len(order)} of {len(first)} pairs")
    room = (_WIDTH - 8) // 2
    for pair in order:
        one, other = (_fitted(names[int(ends[pair])], room) for ends in (first, second))
        say(f"{found[first[pair], second[pair]]:5.2f}  {one} {other}".rstrip())


def _fitted(name: str, room: int) -> str:
    """A name in one line of so many columns, those of wide characters counted."""
    line = printable(" ".join(name.split()))
    return set_cell_size(line, room) if cell_len(line) <= room else f"{set_cell_size(line, room - 2)}.."

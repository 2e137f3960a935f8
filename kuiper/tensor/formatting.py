"""How a tensor reads when it is printed: one header, then plane by plane, large ones cut in the middle."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kuiper.tensor.layout import order_of

PLANES, ROWS, COLUMNS = 6, 8, 10
GAP = "..."


def format_tensor(array: np.ndarray) -> str:
    """The text of a tensor.

    >>> print(format_tensor(np.array([[[1, 2.5, -3], [4, 5, 6]], [[7, 8, 9], [10, 11, 12]]], np.float32)))
    Tensor(shape=(2, 2, 3))
    channel 0:
         1  2.5   -3
         4    5    6
    channel 1:
        7   8   9
       10  11  12
    """
    lines = [header(array)]
    if array.size == 0:
        return lines[0]
    outer = array.shape[:-2]
    for position in shown(math.prod(outer), PLANES):
        if position is None:
            lines.append(GAP)
            continue
        index = tuple(int(i) for i in np.unravel_index(position, outer)) if outer else ()
        if index:
            lines.append(label(index))
        lines.extend(plane_lines(np.atleast_2d(array[index])))
    return "\n".join(lines)


def header(array: np.ndarray) -> str:
    """Shape, and what differs from a row-major float32 tensor."""
    order = order_of(array)
    facts = [f"shape={array.shape}"]
    if order != "C":
        facts.append('order="F"' if order == "F" else f"strides={tuple(s // array.itemsize for s in array.strides)}")
    if array.dtype != np.float32:
        facts.append(f"dtype={array.dtype}")
    return f"Tensor({', '.join(facts)})"


def label(index: tuple[int, ...]) -> str:
    """The name of one plane."""
    if len(index) == 1:
        return f"channel {index[0]}:"
    if len(index) == 2:
        return f"sample {index[0]}, channel {index[1]}:"
    return f"[{', '.join(map(str, index))}]:"


def plane_lines(plane: np.ndarray) -> list[str]:
    """The rows of a matrix as lines, their columns aligned to the right."""
    rows, columns = (shown(length, limit) for length, limit in zip(plane.shape, (ROWS, COLUMNS), strict=True))
    cells = [[GAP if i is None or j is None else format_value(plane[i, j]) for j in columns] for i in rows]
    width = max(len(cell) for row in cells for cell in row)
    lines = ["   " + "  ".join(cell.rjust(width) for cell in row) for row in cells]
    return [f"   {GAP.rjust(width)}" if i is None else line for i, line in zip(rows, lines, strict=True)]


def shown(length: int, limit: int) -> list[int | None]:
    """The positions that are printed: all of them, or those at both ends with None for the gap."""
    if length <= limit:
        return list(range(length))
    edge = limit // 2 - 1
    return [*range(edge), None, *range(length - edge, length)]


def format_value(value: Any) -> str:
    """Five significant digits; integers up to a million without a point."""
    if not isinstance(value, np.floating):
        return str(value)
    whole = abs(value) < 1e6 and value == int(value)
    return str(int(value)) if whole else f"{value:.5g}"

"""Small arrays as grids of numbers, side by side, with the numbers that differ in brackets."""

from __future__ import annotations

from typing import Any

import numpy as np

MOST_ROWS = 6
MOST_COLUMNS = 9
WIDEST = 100


def side_by_side(expected: Any, got: Any) -> list[str]:
    """Expected and got, as grids next to each other where both are arrays, else one below the other."""
    if isinstance(got, np.ndarray) and isinstance(expected, (list, tuple, np.ndarray)):
        wanted = np.asarray(expected)
        if got.shape == wanted.shape and wanted.dtype.kind in "biufc" and got.ndim:
            return _pair(wanted, got)
        head = f"expected shape {wanted.shape}, got {got.shape}"
        if wanted.ndim and got.ndim and wanted.dtype.kind in "biufc":
            return [head, *_columns(("expected", grid(wanted)), ("got", grid(got)))]
        return [head]
    return [f"expected {inline(expected)}", f"got      {inline(got)}"]


def grid(array: np.ndarray, mark: np.ndarray | None = None, corner: tuple[int, int] = (0, 0)) -> list[str]:
    """The last two axes as lines, of the first plane; marked numbers stand in brackets.

    >>> print("\\n".join(grid(np.array([[1, 10], [-3, 4]]), np.array([[False, False], [True, False]]))))
      1  10
    [-3]  4
    """
    plane = array.reshape(-1, *array.shape[-2:])[0] if array.ndim > 2 and array.size else np.atleast_2d(array)
    if plane.size == 0:
        return [f"(empty, shape {array.shape})"]
    marks = np.zeros(plane.shape, bool) if mark is None else np.atleast_2d(mark)
    top, left = corner
    plane, marks = (part[top : top + MOST_ROWS, left : left + MOST_COLUMNS] for part in (plane, marks))
    cells = [
        [f"[{number(v)}]" if m else f" {number(v)} " for v, m in zip(*row, strict=True)]
        for row in zip(plane, marks, strict=True)
    ]
    width = max(len(cell) for row in cells for cell in row)
    return ["".join(cell.rjust(width) for cell in row).rstrip() for row in cells]


def number(value: Any) -> str:
    """A number as short as it can be: 3.0 is 3."""
    if isinstance(value, (bool, np.bool_)):
        return "T" if value else "F"
    if isinstance(value, (float, np.floating)):
        return f"{float(value):.5g}"
    return str(value)


def inline(value: Any, widest: int = WIDEST) -> str:
    """A value on one line."""
    if isinstance(value, np.ndarray):
        text = f"{_listed(value)}" if value.size <= 24 else f"array of shape {value.shape}"
        text = text if value.dtype == np.float32 else f"{text} {value.dtype}"
    elif isinstance(value, np.generic):
        text = number(value)
    elif isinstance(value, tuple):
        text = "(" + ", ".join(inline(item) for item in value) + ("," if len(value) == 1 else "") + ")"
    elif isinstance(value, list):
        text = "[" + ", ".join(inline(item) for item in value) + "]"
    elif isinstance(value, dict):
        text = "{" + ", ".join(f"{key!r}: {inline(item)}" for key, item in value.items()) + "}"
    else:
        text = repr(value) if isinstance(value, (str, bytes, int, float)) or value is None else str(value)
    return text if len(text) <= widest else text[: widest - 4] + " ..."


def _listed(array: np.ndarray) -> str:
    if array.ndim == 0:
        return number(array[()])
    return "[" + ", ".join(_listed(item) for item in array) + "]"


def _pair(expected: np.ndarray, got: np.ndarray) -> list[str]:
    """The plane, and the window in it, that holds the first difference."""
    wrong = ~((expected == got) | ((expected != expected) & (got != got)))
    head, place = "", ""
    if got.ndim > 2 and got.size:
        plane = np.unravel_index(int(wrong.argmax()), wrong.shape)[:-2]
        expected, got, wrong = expected[plane], got[plane], wrong[plane]
        place = f"[{', '.join(str(int(i)) for i in plane)}]"
    expected, got, wrong = (np.atleast_2d(part) for part in (expected, got, wrong))
    if not got.size:
        return [f"expected and got are empty, shape {got.shape}"]
    row, column = (int(i) for i in np.unravel_index(int(wrong.argmax()), wrong.shape))
    corner = (_start(row, MOST_ROWS, got.shape[0]), _start(column, MOST_COLUMNS, got.shape[1]))
    if got.shape[0] > MOST_ROWS or got.shape[1] > MOST_COLUMNS:
        head = f"(part of {got.shape[0]} x {got.shape[1]}, from row {corner[0]}, column {corner[1]})"
    columns = _columns((f"expected{place}", grid(expected, None, corner)), (f"got{place}", grid(got, wrong, corner)))
    return [head, *columns] if head else columns


def _start(index: int, shown: int, length: int) -> int:
    """The first of ``shown`` neighbours around an index."""
    return max(0, min(index - shown // 2, length - shown))


def _columns(left: tuple[str, list[str]], right: tuple[str, list[str]]) -> list[str]:
    lines = [[left[0], *left[1]], [right[0], *right[1]]]
    width = max(len(line) for line in lines[0]) + 4
    if width + max(len(line) for line in lines[1]) > WIDEST + 12:
        return lines[0] + lines[1]
    height = max(len(column) for column in lines)
    padded = [column + [""] * (height - len(column)) for column in lines]
    return [f"{a.ljust(width)}{b}".rstrip() for a, b in zip(*padded, strict=True)]

"""Small arrays as grids of numbers, side by side, with the numbers that differ in brackets."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.course.wire import type_name
from kuiper.language import _, columns, padded

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_ROWS = 6
MAX_COLUMNS = 9
WIDEST = 100
MAX_LISTED = 24  # numbers of an array on a line
MAX_SIGNS, MAX_BITS, DEEPEST = 200, 256, 20  # more does not fit on a line


class Shown:
    """What knows how it is to be shown: words in the place of a value."""

    __slots__ = ()

    def shown(self) -> str:
        """The words, in the student's language."""
        return str(self)


def side_by_side(
    expected: Any, got: Any, most: int = MAX_ROWS + 1, tolerance: float = 0.0, widest: int = WIDEST
) -> list[str]:
    """Two arrays in at most this many lines, side by side; nothing where they are not both arrays.

    Numbers of an array are marked that differ by more than the tolerance, relative to the largest expected one.
    """
    several = isinstance(expected, tuple) and any(isinstance(part, np.ndarray) for part in expected)
    if _is_numbers(got) and isinstance(expected, (list, tuple, np.ndarray)) and not several:
        wanted = np.asarray(expected)
        if wanted.dtype.kind in "biufc" and wanted.ndim and got.ndim:
            rows = max(min(most - 1, MAX_ROWS), 1)
            if got.shape != wanted.shape:
                return _unlike(wanted, got, rows, widest)
            return _pair(wanted, got, rows, ~close(got, wanted, tolerance), widest)
        if got.shape != wanted.shape:
            return [_("expected shape {expected}, got {got}").format(expected=wanted.shape, got=got.shape)]
    return []


def _is_numbers(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind in "biufc"


def close(got: np.ndarray, expected: np.ndarray, tolerance: float) -> np.ndarray:
    """Which numbers are as expected; NaN equals NaN, an infinity only itself.

    >>> close(np.float32([1, np.nan]), np.float32([1.001, np.nan]), 0.01).tolist()
    [True, True]
    """
    equal: np.ndarray = (got == expected) | ((got != got) & (expected != expected))
    if tolerance and got.size:
        finite = np.isfinite(expected)
        scale = float(np.abs(np.where(finite, expected, 0)).max(initial=0.0)) or 1.0
        with np.errstate(invalid="ignore", over="ignore"):
            wide = got.astype(np.complex128 if got.dtype.kind == "c" else np.float64)
            equal = equal | (finite & (np.abs(wide - expected) <= tolerance * scale))
    return equal


def grid(
    array: np.ndarray,
    mark: np.ndarray | None = None,
    corner: tuple[int, int] = (0, 0),
    size: tuple[int, int] = (MAX_ROWS, MAX_COLUMNS),
) -> list[str]:
    """The last two axes as lines, of the first plane, from a corner on; marked numbers stand in brackets.

    >>> print("\\n".join(grid(np.array([[1, 10], [-3, 4]]), np.array([[False, False], [True, False]]))))
      1  10
    [-3]  4
    """
    plane = array.reshape(-1, *array.shape[-2:])[0] if array.ndim > 2 and array.size else np.atleast_2d(array)
    if plane.size == 0:
        return [_("(empty, shape {shape})").format(shape=array.shape)]
    marks = np.zeros(plane.shape, bool) if mark is None else np.atleast_2d(mark)
    top, left = corner
    plane, marks = (part[top : top + size[0], left : left + size[1]] for part in (plane, marks))
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
    """A value on one line; of an object that is none of Python's own or an array, only the type.

    >>> inline([1.0, (np.float32(2.5), "a"), {"b": None}])
    "[1.0, (2.5, 'a'), {'b': None}]"
    """
    text = _inline(value, 0)
    return text if len(text) <= widest else text[: widest - 4] + " ..."


def _inline(value: Any, depth: int) -> str:
    kind = type(value)
    if issubclass(kind, Shown):
        shown: str = value.shown()
        return shown
    if depth > DEEPEST:
        return "..."
    if isinstance(value, np.ndarray):
        is_small = value.size <= MAX_LISTED
        text = _listed(value) if is_small else _("array of shape {shape}").format(shape=value.shape)
        return text if value.dtype == np.float32 else f"{text} {value.dtype}"
    if isinstance(value, np.generic):
        return number(value)[:MAX_SIGNS]
    if kind is tuple:
        return f"({_several(value, depth)}{',' if len(value) == 1 else ''})"
    if kind is list:
        return f"[{_several(value, depth)}]"
    if kind is dict:
        pairs = (f"{_inline(key, depth + 1)}: {_inline(item, depth + 1)}" for key, item in value.items())
        return f"{{{', '.join(islice(pairs, MAX_SIGNS))}}}"
    if kind in (set, frozenset):
        return f"{kind.__name__}({_several(value, depth)})"
    if kind is int and value.bit_length() > MAX_BITS:
        return _("an integer of {count} bits").format(count=value.bit_length())
    if kind in (str, bytes):
        return repr(value[:MAX_SIGNS])
    if kind in (float, int, bool, complex, type(None)):
        return repr(value)
    return _("an object of type {type}").format(type=type_name(value))


def _several(values: Iterable[Any], depth: int) -> str:
    return ", ".join(_inline(item, depth + 1) for item in islice(values, MAX_SIGNS))


def _listed(array: np.ndarray) -> str:
    if array.ndim == 0:
        return number(array[()])
    return "[" + ", ".join(_listed(item) for item in array) + "]"


def _pair(expected: np.ndarray, got: np.ndarray, rows: int, wrong: np.ndarray, widest: int) -> list[str]:
    """The plane, and the window in it, that holds the first difference: as wide as both have room for, side by side."""
    place = ""
    if got.ndim > 2 and got.size:
        plane = np.unravel_index(int(wrong.argmax()), wrong.shape)[:-2]
        expected, got, wrong = expected[plane], got[plane], wrong[plane]
        place = _("[{index}]").format(index=", ".join(str(int(i)) for i in plane))
    if not got.size:
        return [_("expected and got are empty, shape {shape}").format(shape=got.shape)]
    expected, got, wrong = (np.atleast_2d(part) for part in (expected, got, wrong))
    row, column = (int(i) for i in np.unravel_index(int(wrong.argmax()), wrong.shape))
    marked = _("got{place}, wrong: [ ]") if wrong.any() else _("got{place}")
    heads = _("expected{place}").format(place=place), marked.format(place=place)
    for count in range(MAX_COLUMNS, 0, -1):
        is_whole = got.shape[0] <= rows and got.shape[1] <= count
        size = (rows if is_whole else max(rows - 1, 1), count)
        corner = (_start(row, size[0], got.shape[0]), _start(column, count, got.shape[1]))
        lines = _columns((heads[0], grid(expected, None, corner, size)), (heads[1], grid(got, wrong, corner, size)))
        if count == 1 or max(map(columns, lines)) <= widest:
            break
    return lines if is_whole else [*lines, _part(got.shape, corner)]


def _unlike(expected: np.ndarray, got: np.ndarray, rows: int, widest: int) -> list[str]:
    """Two arrays of different shapes: these, and as much of both as there is room for."""
    wanted = _("expected shape {shape}").format(shape=expected.shape)
    found = _("got shape {shape}").format(shape=got.shape)
    for count in range(MAX_COLUMNS, 0, -1):
        size = (rows, count)
        lines = _columns((wanted, grid(expected, size=size)), (found, grid(got, size=size)))
        if count == 1 or max(map(columns, lines)) <= widest:
            break
    return lines


def _part(shape: tuple[int, ...], corner: tuple[int, int]) -> str:
    words = _("(part of {rows} x {columns}, from row {row}, column {column})")
    return words.format(rows=shape[0], columns=shape[1], row=corner[0], column=corner[1])


def _start(index: int, shown: int, length: int) -> int:
    """The first of ``shown`` neighbours around an index."""
    return max(0, min(index - shown // 2, length - shown))


def _columns(left: tuple[str, list[str]], right: tuple[str, list[str]]) -> list[str]:
    lines = [[left[0], *left[1]], [right[0], *right[1]]]
    width = max(columns(line) for line in lines[0]) + 4
    height = max(len(column) for column in lines)
    filled = [column + [""] * (height - len(column)) for column in lines]
    return [f"{padded(a, width)}{b}".rstrip() for a, b in zip(*filled, strict=True)]

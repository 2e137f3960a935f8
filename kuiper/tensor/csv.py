"""Tensors in text files: one row of numbers per line."""

from __future__ import annotations

import os
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np

from kuiper.bounded_file import obstacle
from kuiper.errors import CsvFormatError, DataTypeError, ParameterError, ShapeError
from kuiper.tensor.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Iterator

Path = str | PathLike[str]

FLOAT32_OVERFLOW = (2 - 2.0**-24) * 2.0**127  # from here on, rounding to float32 gives infinity
MAX_VALUES = 2**28  # of a table, a gigabyte: one long row among many short ones would fill any memory
CHARACTERS_OF_NUMBERS = set("0123456789+-.\r\nabcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")


def load_csv(path: Path, separator: str | None = ",", missing: float = 0.0) -> Tensor:
    r"""A tensor (rows, columns) with the numbers of a text file.

    Parameters
    ----------
    path : a text file in UTF-8; lines may end in any of the usual ways, blank lines are skipped, there is no header
    separator : what stands between two cells; None is any run of spaces and tabs, and then no cell can be empty
    missing : the value of a cell that is not there: an empty one (``1,,3``), and those by which a row is shorter than
        the longest. KuiperInfer fills with zeros; ``float("nan")`` keeps a gap apart from a zero.

    Returns
    -------
    A float32 tensor with as many columns as the longest row.

    Raises
    ------
    CsvFormatError
        If a cell is not a number, or too large for float32; the message gives file, line and column. If there are no
        rows at all, the path is no regular file, or the table has more than ``MAX_VALUES``.
    ParameterError
        If the separator could be part of a number.
    FileNotFoundError
        If there is no such file.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "table.csv")
    ...     _ = path.write_text("1,2,3\n4,,6\n7\n")
    ...     load_csv(path)
    Tensor(shape=(3, 3))
       1  2  3
       4  0  6
       7  0  0
    """
    check_separator(separator, "load_csv")
    got = obstacle(path)
    if got not in ("", "nothing there"):
        raise CsvFormatError(os.fspath(path), "a text file", got)
    rows = list(read_rows(path, separator, missing))
    if not rows:
        raise CsvFormatError(os.fspath(path), "at least one row of numbers", "an empty file")
    columns = max(map(len, rows))
    if len(rows) * columns > MAX_VALUES:
        raise CsvFormatError(os.fspath(path), f"at most {MAX_VALUES:,} values", f"{len(rows)} rows of {columns}")
    values = np.full((len(rows), columns), missing, np.float32)
    for row, numbers in zip(values, rows, strict=True):
        row[: len(numbers)] = numbers
    return Tensor.wrap(values)


def save_csv(tensor: Tensor, path: Path, separator: str = ",") -> None:
    r"""Write a tensor (rows, columns) so that ``load_csv`` gives exactly the same float32 values back.

    Parameters
    ----------
    tensor : two axes, at least one value
    path : the file to write; an older one is replaced
    separator : what stands between two cells

    Raises
    ------
    ShapeError
        If the tensor has no values, or not two axes.
    DataTypeError
        If the values are not of float32.
    ParameterError
        If the separator could be part of a number.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "table.csv")
    ...     save_csv(Tensor([[1, 2.5], [-3, 0.1]]), path, separator=";")
    ...     path.read_text()
    '1;2.5\n-3;0.1\n'
    """
    check_separator(separator, "save_csv")
    if tensor.ndim != 2 or not tensor.size:
        raise ShapeError("save_csv", "a tensor (rows, columns) with values", f"shape {tensor.shape}")
    if tensor.dtype != np.float32:
        raise DataTypeError("save_csv", "float32 values", tensor.dtype)
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.writelines(separator.join(map(shortest_text, row)) + "\n" for row in tensor.tolist())


def check_separator(separator: str | None, where: str) -> None:
    """Raise ParameterError for a separator that could be part of a number or of a line's end."""
    if separator is None and where == "load_csv":
        return
    if not isinstance(separator, str) or not separator or CHARACTERS_OF_NUMBERS & set(separator):
        raise ParameterError(where, "a separator such as ',' ';' or a tab, not part of a number", repr(separator))


def read_rows(path: Path, separator: str | None, missing: float) -> Iterator[list[float]]:
    """The numbers of each line that is not blank."""
    # A byte that is not UTF-8 becomes a character that no number has, and so an error with line and column.
    with open(path, encoding="utf-8-sig", errors="replace") as file:
        for line_number, line in enumerate(file, start=1):
            cells = [cell.strip() for cell in line.rstrip("\n").split(separator)]
            if cells in ([], [""]):
                continue
            yield [
                parse_cell(cell, missing, f"{os.fspath(path)}:{line_number}: column {column}")
                for column, cell in enumerate(cells, start=1)
            ]


def parse_cell(cell: str, missing: float, where: str) -> float:
    """The number in a cell; ``missing`` if it is empty."""
    if not cell:
        return missing
    try:
        if "_" in cell or not cell.isascii():  # float() takes 1_000, too
            raise ValueError
        number = float(cell)
    except ValueError:
        raise CsvFormatError(where, "a number", repr(cell)) from None
    if abs(number) >= FLOAT32_OVERFLOW and "inf" not in cell.lower():
        raise CsvFormatError(where, "a number that float32 can hold", repr(cell))
    return number


def shortest_text(value: float) -> str:
    """Seven digits if they suffice to give the float32 value back, else nine, which always do."""
    short = f"{value:.7g}"
    return short if np.float32(short) == value else f"{value:.9g}"

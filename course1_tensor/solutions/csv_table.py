"""Exercise 1.7: numbers from a text file.

The KuiperInfer course (kuiperdatawhale) keeps small weights in CSV files: a row of numbers per line, a separator between
two cells. Files written by hand are never tidy: a cell is empty, a row is too short, a blank line stands in between,
somebody typed a word. Gaps get a value; words get an error that says where.

    1, 2.5, -3
                          1.0   2.5  -3.0
    4,, 6        ->       4.0   0.0   6.0        missing = 0
    7                     7.0   0.0   0.0

Python's csv module and NumPy's genfromtxt have opinions of their own about gaps. Take text apart yourself: split,
strip and float will do.
"""

from __future__ import annotations

import numpy as np


def parse_row(line: str, separator: str = ",", missing: float = 0.0) -> list[float]:
    """The numbers of one line; ``missing`` stands for an empty cell.

    Spaces around a number do not count. A separator at either end has an empty cell beside it. A number is whatever
    ``float`` reads. The separator may be any text, a tab or " | " too.

    >>> parse_row("1, 2.5, -3")
    [1.0, 2.5, -3.0]
    >>> parse_row(",4,, 6 ,", missing=-1)
    [-1, 4.0, -1, 6.0, -1]

    Raises
    ------
    ValueError
        If a cell is not a number; the message says its column, counted from 1, and the cell: column 2: ... 'abc'
    """
    # BEGIN SOLUTION
    numbers = []
    for column, cell in enumerate(line.split(separator), start=1):
        try:
            numbers.append(float(cell) if cell.strip() else missing)
        except ValueError:
            raise ValueError(f"column {column}: expected a number, got {cell.strip()!r}") from None
    return numbers
    # END SOLUTION


def parse_table(text: str, separator: str = ",", missing: float = 0.0) -> np.ndarray:
    """All numbers of a text: an array (rows, columns) of float32.

    There are as many columns as the longest row has cells; ``missing`` fills up the shorter ones. A blank line
    (nothing, or nothing but white space and no separator) is skipped; a line of separators alone is a row without
    numbers. Lines end with "\\n" or "\\r\\n" and with nothing else (str.splitlines knows a dozen more); the last one may
    lack its end.

    >>> parse_table("1,2.5,-3\\n\\n4,,6\\n7\\n").tolist()
    [[1.0, 2.5, -3.0], [4.0, 0.0, 6.0], [7.0, 0.0, 0.0]]

    Raises
    ------
    ValueError
        If a cell is not a number; the message says line and column, both counted from 1 (blank lines count), and the
        cell: line 3, column 2: ... 'abc'. If there are no rows at all; the message speaks of rows.
    """
    # BEGIN SOLUTION
    rows = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip() and separator not in line:
            continue
        try:
            rows.append(parse_row(line, separator, missing))
        except ValueError as error:
            raise ValueError(f"line {number}, {error}") from None
    if not rows:
        raise ValueError("expected at least one row of numbers, got none")
    table = np.full((len(rows), max(len(row) for row in rows)), missing, np.float32)
    for i, row in enumerate(rows):
        table[i, : len(row)] = row
    return table
    # END SOLUTION

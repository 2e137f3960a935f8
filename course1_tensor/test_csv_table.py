"""Exercise 1.7."""

from __future__ import annotations

import numpy as np
import pytest

from kuiper.course import calling
from kuiper.course.properties import given, st

CELLS = st.one_of(st.none(), st.integers(-99, 99))


def floats(*rows):
    return np.array(rows, np.float32)


def test_row(impl):
    calling(impl.parse_row, "1,2.5,-3").gives([1.0, 2.5, -3.0])


def test_row_with_an_empty_cell(impl):
    calling(impl.parse_row, "1,,3").gives([1.0, 0.0, 3.0])


def test_row_with_empty_cells_at_the_ends(impl):
    calling(impl.parse_row, ",4,,,6,", missing=-1.0).gives([-1.0, 4.0, -1.0, -1.0, 6.0, -1.0])


def test_row_with_spaces(impl):
    calling(impl.parse_row, "  1 ,\t2.5,   , -3  ", missing=8.0).gives([1.0, 2.5, 8.0, -3.0])


def test_row_of_one_cell(impl):
    calling(impl.parse_row, "7").gives([7.0])


@pytest.mark.parametrize(
    ("line", "separator", "expected"),
    [
        ("1;2;;3", ";", [1.0, 2.0, 9.0, 3.0]),
        ("1\t\t3\t", "\t", [1.0, 9.0, 3.0, 9.0]),
        ("\t2", "\t", [9.0, 2.0]),
        ("1 | 2 |  | 4", " | ", [1.0, 2.0, 9.0, 4.0]),
        ("1||2||||3", "||", [1.0, 2.0, 9.0, 3.0]),
        ("1 2  3", " ", [1.0, 2.0, 9.0, 3.0]),
        ("1.*2.*.*3", ".*", [1.0, 2.0, 9.0, 3.0]),
    ],
)
def test_row_with_another_separator(impl, line, separator, expected):
    calling(impl.parse_row, line, separator, 9.0).gives(expected)


def test_row_of_numbers_in_every_spelling(impl):
    calling(impl.parse_row, "1e3,-2.5E-1,+4,.5,6.,007,inf,-Infinity,nan,1_000,\u0663").gives(
        [1000.0, -0.25, 4.0, 0.5, 6.0, 7.0, float("inf"), -float("inf"), float("nan"), 1000.0, 3.0]
    )


def test_row_where_nan_marks_what_is_missing(impl):
    calling(impl.parse_row, "0,,2", missing=float("nan")).gives([0.0, float("nan"), 2.0])


@pytest.mark.parametrize("cell", ["abc", "1.2.3", "1 2", "0x10", "--1", "2;3", "'4'"])
@pytest.mark.parametrize(("line", "column"), [("{},5", 1), ("1,,{},7", 3), ("8,{}", 2)])
def test_row_with_a_word(impl, cell, line, column):
    line = line.format(cell)
    calling(impl.parse_row, line).raises(ValueError, f"column {column}")
    calling(impl.parse_row, line).raises(ValueError, cell)


def test_table(impl):
    calling(impl.parse_table, "1,2,3\n-4,5.5,6\n").gives(floats([1, 2, 3], [-4, 5.5, 6]))


def test_table_without_a_last_line_end(impl):
    calling(impl.parse_table, "1,2\n3,4").gives(floats([1, 2], [3, 4]))


def test_table_with_missing_cells(impl):
    calling(impl.parse_table, "1,,3\n,5,\n").gives(floats([1, 0, 3], [0, 5, 0]))


def test_table_with_short_rows(impl):
    calling(impl.parse_table, "1\n2,3,4\n5,6\n").gives(floats([1, 0, 0], [2, 3, 4], [5, 6, 0]))


def test_table_with_the_longest_row_last(impl):
    calling(impl.parse_table, "1,2\n3,4,5,6\n", ",", -1).gives(floats([1, 2, -1, -1], [3, 4, 5, 6]))


def test_table_where_the_longest_row_is_long_by_an_empty_cell(impl):
    calling(impl.parse_table, "1,2,\n3\n", missing=7).gives(floats([1, 2, 7], [3, 7, 7]))


def test_table_with_blank_lines(impl):
    calling(impl.parse_table, "\n1,2\n\n   \n\t \n3,4\n\n").gives(floats([1, 2], [3, 4]))


def test_table_with_a_row_of_separators(impl):
    calling(impl.parse_table, "1,2,3\n,,\n,\n", missing=5).gives(floats([1, 2, 3], [5, 5, 5], [5, 5, 5]))


def test_table_with_tabs(impl):
    calling(impl.parse_table, "1\t\t3\n\t5\t\n\t\t\n   \n", "\t", 9).gives(floats([1, 9, 3], [9, 5, 9], [9, 9, 9]))


def test_table_that_begins_and_ends_with_a_tab(impl):
    calling(impl.parse_table, "\t1\n2\t3\t\n", "\t", 9).gives(floats([9, 1, 9], [2, 3, 9]))


def test_table_with_the_line_ends_of_windows(impl):
    calling(impl.parse_table, "1,2\r\n\r\n3,\r\n,4\r\n", missing=6).gives(floats([1, 2], [3, 6], [6, 4]))


# What str.splitlines takes for a line end, besides the two there are.
OTHER_LINE_ENDS = ["\v", "\f", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029", "\r"]


@pytest.mark.parametrize("mark", OTHER_LINE_ENDS)
def test_table_where_no_line_ends(impl, mark):
    calling(impl.parse_table, f"1,2{mark}3,4\n").raises(ValueError, "line 1, column 2")
    calling(impl.parse_table, f"1,2\n{mark}\n3,abc\n").raises(ValueError, "line 3, column 2")


def test_table_with_spaces_for_separators(impl):
    calling(impl.parse_table, "1 2\n  \n3\n\n4  5\n", " ", 9).gives(floats([1, 2, 9], [9, 9, 9], [3, 9, 9], [4, 9, 5]))


def test_table_with_a_long_separator(impl):
    calling(impl.parse_table, "1 | 2 | \n | \n3\n", " | ", 9).gives(floats([1, 2, 9], [9, 9, 9], [3, 9, 9]))


def test_table_is_rounded_once(impl):
    calling(impl.parse_table, "0.1,16777217,33554435,-1e-46\n").gives(floats([0.1, 16777216, 33554436, 0]))


def test_table_with_semicolons(impl):
    calling(impl.parse_table, "1;2\n3;;4\n", ";").gives(floats([1, 2, 0], [3, 0, 4]))


def test_table_with_nan_for_what_is_missing(impl):
    calling(impl.parse_table, "0,,2\n1\n", missing=float("nan")).gives(floats([0, np.nan, 2], [1, np.nan, np.nan]))


def test_table_with_fractions_for_what_is_missing(impl):
    calling(impl.parse_table, "1,\n2\n", missing=-0.5).gives(floats([1, -0.5], [2, -0.5]))


@pytest.mark.parametrize(
    ("text", "expected"), [("7", [[7]]), ("1,2,3", [[1, 2, 3]]), ("1\n2\n", [[1], [2]]), (",", [[0, 0]])]
)
def test_table_has_two_axes(impl, text, expected):
    calling(impl.parse_table, text).gives(floats(*expected))


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("abc", "line 1, column 1"),
        ("1,2\n3,abc\n", "line 2, column 2"),
        ("1,2\n\n \n3,,abc,5\n", "line 4, column 3"),
        ("1\r\n\r\nabc\r\n", "line 3, column 1"),
        ("\n \n1,abc\n", "line 3, column 2"),
        ("1,2\n,,,abc", "line 2, column 4"),
        ("1,2\n3,4,abc\nabc", "line 2, column 3"),
    ],
)
def test_table_with_a_word(impl, text, place):
    calling(impl.parse_table, text).raises(ValueError, place)
    calling(impl.parse_table, text).raises(ValueError, "abc")


@pytest.mark.parametrize("text", ["", "\n", "  \n\n \t \n", "\r\n\r\n"])
def test_table_without_rows(impl, text):
    calling(impl.parse_table, text).raises(ValueError, "row")


@given(rows=st.lists(st.lists(CELLS, min_size=2, max_size=5), min_size=1, max_size=4), missing=st.integers(-3, 3))
def test_table_as_it_was_written(impl, rows, missing):
    text = "\n".join(",".join("" if cell is None else str(cell) for cell in row) for row in rows)
    width = max(map(len, rows))
    expected = [[missing if cell is None else cell for cell in row] + [missing] * (width - len(row)) for row in rows]
    calling(impl.parse_table, text, ",", missing).gives(floats(*expected))

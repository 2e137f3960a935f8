"""Text files: what is read, what is refused and where, and exact round trips."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kuiper.errors import CsvFormatError, DataTypeError, ParameterError, ShapeError
from kuiper.tensor import Tensor, load_csv, save_csv

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "weights.csv"


def test_load_csv_reads_rows_and_columns(path: Path) -> None:
    path.write_text("1,2.5,-3\n-4e-2, +5 ,.5E1\n")
    t = load_csv(path)
    assert t == Tensor([[1, 2.5, -3], [-0.04, 5, 5]])
    assert (t.order, t.dtype) == ("C", np.float32)
    assert load_csv(str(path)) == t


@pytest.mark.parametrize(
    ("separator", "text"),
    [(";", "1;2\n3;4"), ("\t", "1\t2\n3\t4"), ("|", "1|2\n3|4"), (" ", "1 2\n3 4"), (None, "  1 \t 2\n3  4  ")],
)
def test_load_csv_takes_other_separators(path: Path, separator: str | None, text: str) -> None:
    path.write_text(text)
    assert load_csv(path, separator).tolist() == [[1, 2], [3, 4]]


def test_missing_cells_and_short_rows_are_filled(path: Path) -> None:
    path.write_text("1,,3\n4\n,5\n,,\n")
    assert load_csv(path).tolist() == [[1, 0, 3], [4, 0, 0], [0, 5, 0], [0, 0, 0]]
    assert load_csv(path, missing=-1).tolist() == [[1, -1, 3], [4, -1, -1], [-1, 5, -1], [-1, -1, -1]]
    assert np.isnan(load_csv(path, missing=math.nan).array).sum() == 8


def test_missing_cells_between_tabs_are_kept(path: Path) -> None:
    path.write_text("1\t\t3\n\t\t\n")
    assert load_csv(path, "\t", missing=9).tolist() == [[1, 9, 3], [9, 9, 9]]


def test_a_separator_at_the_end_means_one_more_missing_cell(path: Path) -> None:
    path.write_text("1,2,\n")
    assert load_csv(path).tolist() == [[1, 2, 0]]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["", "BOM"])
def test_line_ends_byte_order_mark_and_blank_lines(path: Path, end: bytes, mark: bytes) -> None:
    path.write_bytes(mark + end.join([b"1,2", b"", b"  ", b"3,4", b""]))
    assert load_csv(path).tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize("cell", ["abc", "1.2.3", "1_000", "0x10", "--1", '"1"', "1 2", "1e", "٣", "ﬁ"])
def test_a_bad_cell_is_named_with_line_and_column(path: Path, cell: str) -> None:
    path.write_text(f"1,2\n\n3,4,{cell},5\n", encoding="utf-8")
    with pytest.raises(CsvFormatError) as caught:
        load_csv(path)
    assert str(caught.value) == f"{path}:3: column 3: expected a number, got {cell!r}"


def test_bytes_that_are_not_text_are_a_bad_cell(path: Path) -> None:
    path.write_bytes(b"1,\xff\xfe\n")
    with pytest.raises(CsvFormatError, match=r"weights\.csv:1: column 2: expected a number, got "):
        load_csv(path)


def test_numbers_beyond_float32_are_refused_but_infinity_is_read(path: Path) -> None:
    path.write_text("inf,-Infinity,nan\n3.4028235e38,1e-50,0\n")
    expected = np.array([[np.inf, -np.inf, np.nan], [3.4028235e38, 0, 0]], np.float32)
    np.testing.assert_array_equal(load_csv(path).array, expected)
    for text in ("3.5e38", "-1e400"):
        path.write_text(text)
        with pytest.raises(
            CsvFormatError, match=rf":1: column 1: expected a number that float32 can hold, got '{text}'"
        ):
            load_csv(path)


@pytest.mark.parametrize("text", ["", "\n\n", "  \n"])
def test_an_empty_file_is_refused(path: Path, text: str) -> None:
    path.write_text(text)
    with pytest.raises(CsvFormatError, match=r"weights\.csv: expected at least one row of numbers, got an empty file"):
        load_csv(path)


def test_a_directory_is_refused_and_a_missing_file_is_what_python_says(tmp_path: Path) -> None:
    with pytest.raises(CsvFormatError, match="expected a text file, got a directory"):
        load_csv(tmp_path)
    with pytest.raises(FileNotFoundError):
        load_csv(tmp_path / "absent.csv")


@pytest.mark.parametrize("separator", ["", ".", "-", "5", "e", "\n", 3])
def test_separators_that_could_be_part_of_a_number_are_refused(path: Path, separator: str) -> None:
    path.write_text("1")
    with pytest.raises(ParameterError, match="expected a separator such as"):
        load_csv(path, separator)
    with pytest.raises(ParameterError, match="save_csv: expected a separator such as"):
        save_csv(Tensor([[1]]), path, separator)


def test_save_csv_writes_short_numbers(path: Path) -> None:
    save_csv(Tensor([[1, -2.5, 0.1], [1e-10, 1 / 3, 16777216]]), path)
    assert path.read_bytes() == b"1,-2.5,0.1\n1e-10,0.333333343,16777216\n"


def test_save_csv_takes_any_layout_and_separator(path: Path) -> None:
    t = Tensor([[1, 2, 3], [4, 5, 6]], order="F").permute(1, 0)
    save_csv(t, path, separator="\t")
    assert path.read_text() == "1\t4\n2\t5\n3\t6\n"
    assert load_csv(path, separator="\t") == t


def test_save_csv_refuses_what_would_not_come_back(path: Path) -> None:
    for t in (Tensor([1, 2]), Tensor.zeros((2, 0)), Tensor.zeros((1, 2, 3))):
        with pytest.raises(
            ShapeError, match=r"save_csv: expected a tensor \(rows, columns\) with values, got shape \("
        ):
            save_csv(t, path)
    with pytest.raises(DataTypeError, match="save_csv: expected float32 values, got int64"):
        save_csv(Tensor.wrap(np.array([[1]], np.int64)), path)
    assert not path.exists()


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.floats(width=32), min_size=1, max_size=8))
def test_round_trip_is_exact(path: Path, values: list[float]) -> None:
    t = Tensor([values, values[::-1]])
    save_csv(t, path)
    np.testing.assert_array_equal(load_csv(path).array.view(np.uint32)[~np.isnan(t.array)], bits(t)[~np.isnan(t.array)])
    np.testing.assert_array_equal(np.isnan(load_csv(path).array), np.isnan(t.array))


def test_round_trip_is_exact_for_all_kinds_of_bits(path: Path) -> None:
    patterns = np.random.default_rng(0).integers(0, 1 << 32, 5000, np.uint32).view(np.float32)
    t = Tensor(np.where(np.isnan(patterns), 0, patterns).reshape(50, 100))
    save_csv(t, path)
    np.testing.assert_array_equal(bits(load_csv(path)), bits(t))


def bits(t: Tensor) -> np.ndarray:
    """The values as their bit patterns: tells -0 from 0."""
    return t.array.view(np.uint32)


def test_load_csv_does_not_fill_the_memory_for_one_long_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kuiper.tensor.csv.MAX_VALUES", 100)
    (tmp_path / "ragged.csv").write_text("1\n" * 20 + "1,1,1,1,1,1\n")
    with pytest.raises(CsvFormatError, match=r"ragged\.csv: expected at most 100 values, got 21 rows of 6"):
        load_csv(tmp_path / "ragged.csv")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes are files on POSIX only")
def test_load_csv_does_not_wait_for_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/zero"):
        with pytest.raises(CsvFormatError, match="expected a text file, got a special file"):
            load_csv(path)

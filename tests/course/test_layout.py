"""Reports on a terminal of 80 columns: nothing is wider but a line of code, and nothing that one copies is broken."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pytest

from kuiper.course.comparison import difference
from kuiper.course.grids import side_by_side
from kuiper.course.layout import code_lines, drawn, folded, packed, raised_lines, with_place
from kuiper.course.observation import Raised
from kuiper.course.testing import Mismatch
from kuiper.language import columns
from tests.course.student_run import student_runs
from tests.course.test_report_speaks import CASES, course_of_cases

if TYPE_CHECKING:
    from pathlib import Path

WIDTH = 80
BODY = WIDTH - 4


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(WIDTH))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_kind_of_failure_fits_80_columns_and_12_lines(
    language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUIPER_LANG", language)
    report = student_runs(course_of_cases(tmp_path), "-q", width=WIDTH)[1]
    assert [line for line in report.splitlines() if columns(line) > WIDTH] == []
    blocks = re.findall(r"(?m)^1\.\d+ case_\d+ (?:.+\n)+", report)
    assert len(blocks) == len(CASES)
    assert [block for block in blocks if len(block.splitlines()) > 12] == []
    assert "\n\n\n" not in report


def test_a_command_and_code_stay_on_one_line() -> None:
    text = (
        "some words that come before it all: `x = f(a, b)`; kuiper course sync 3.5 writes it, kuiper hint 3.5 --level 2"
    )
    for width in range(40, 100):
        lines = folded(text, width)
        assert max(map(len, lines)) <= width
        assert " ".join(line.strip() for line in lines) == text
        for whole in ("`x = f(a, b)`", "kuiper course sync 3.5", "kuiper hint 3.5 --level 2"):
            assert any(whole in line for line in lines)


def test_a_command_stays_on_one_line_among_chinese_letters() -> None:
    text = "把这个文件移回去，或者用 kuiper course sync 3.5 重新生成骨架，再看 `a + b` 和 kuiper hint 3.5"
    for width in range(30, 90):
        lines = folded(text, width)
        assert max(map(columns, lines)) <= width
        for whole in ("kuiper course sync 3.5", "`a + b`", "kuiper hint 3.5"):
            assert any(whole in line for line in lines)


def test_a_long_value_goes_on_with_each_of_its_signs() -> None:
    text = "join('a  b', 'c'" + ", 'two  blanks'" * 6 + ")"
    lines = code_lines(text, 60, "    ", most=9)
    assert max(map(len, lines)) <= 60
    assert "".join([lines[0], *(f" {line.removeprefix('    ')}" for line in lines[1:])]) == text
    assert code_lines("期望" * 40, 20) == ["期望" * 5, "    " + "期望" * 3 + " ..."]
    assert code_lines("short", 20) == ["short"]


def test_remarks_share_a_line_where_they_fit() -> None:
    assert packed(["one", "two", "three"], 8) == ["one; two", "three"]
    assert packed(["much too long"], 8) == ["much too long"]
    assert packed([], 8) == []


def test_a_place_has_a_line_of_its_own_where_both_are_too_wide() -> None:
    place = "course3_layers/exercises/batch_norm_folding.py:52"
    assert with_place(f"short, {place}", place) == [f"short, {place}"]
    assert with_place(f"{'x' * 40}, {place}", place) == [f"{'x' * 40},", f"  {place}"]


def test_an_error_says_where_below_what() -> None:
    place = "course3_layers/exercises/batch_norm_folding.py:85: scale = weight / np.sqrt(variance + epsilon)"
    raised = Raised("ValueError", (), "operands could not be broadcast together with shapes (3,) (4,)", place)
    assert raised_lines(raised, 6, BODY) == [
        "raised   ValueError: operands could not be broadcast together with shapes",
        "  (3,) (4,)",
        "  at course3_layers/exercises/batch_norm_folding.py:85:",
        "    scale = weight / np.sqrt(variance + epsilon)",
    ]
    short = Raised("ValueError", (), "small", "f.py:3: raise ValueError")
    assert raised_lines(short, 6, BODY) == ["raised   ValueError: small   at f.py:3: raise ValueError"]
    many = Raised("ValueError", (), "\n".join(["line"] * 50), place)
    assert len(raised_lines(many, 5, BODY)) == 5
    assert raised_lines(many, 5, BODY)[-1].strip().startswith("scale =")


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (
            "value: expected a plain value (numbers, strings, arrays, lists, dicts ...), got generator",
            "got      an object of type generator, and not numbers, strings, arrays, lists or dicts",
        ),
        (
            "value: expected an array of numbers, got dtype object",
            "got      an array of dtype object, and not of numbers",
        ),
    ],
)
def test_an_answer_that_no_test_can_look_at_is_told_as_one(message: str, words: str) -> None:
    assert raised_lines(Raised("CourseError", (), message), 6, 100) == [words]


def test_arrays_without_room_are_told_by_their_shape() -> None:
    x, y, z = np.arange(8).reshape(2, 2, 2), np.arange(9).reshape(3, 3), np.arange(80).reshape(8, 10)
    assert drawn({"x": x}, 5, BODY) == ["  x[0] =  0  1  shape (2, 2, 2)", "          2  3"]
    assert drawn({"x": x, "y": y, "z": z}, 5, BODY) == [
        "  x[0] =  0  1  shape (2, 2, 2)",
        "          2  3",
        "  y: shape (3, 3); z: shape (8, 10)",
    ]
    assert drawn({"y": y}, 5, BODY) == ["  y =  0  1  2", "       3  4  5", "       6  7  8"]
    assert drawn({"z": z}, 3, BODY)[0].endswith("shape (8, 10)")  # not all of it is drawn


def test_tables_are_as_wide_as_there_is_room() -> None:
    expected = np.arange(400.0).reshape(20, 20) / 7
    got = expected.copy()
    got[15, 3] = 0
    for width in (40, BODY, 100):
        lines = side_by_side(expected, got, 7, widest=width)
        assert max(map(columns, lines)) <= width
        assert len(lines) == 7
        assert "[0]" in "\n".join(lines)
        assert lines[-1].startswith("(part of 20 x 20, from row ")


def test_the_words_of_a_difference_say_where_it_is() -> None:
    mismatch = Mismatch(["f()"], {"a": [[1]], "b": 2}, {"a": [[1, 2, 3]], "b": 2}, "")
    mismatch.words = difference(mismatch.got, mismatch.expected) or ""
    assert mismatch.lines()[-1] == "(length 3 where 1 is expected at key 'a', in it element 0)"
    mismatch = Mismatch(["f()"], [1, 2, 3], [9, 2], difference([9, 2], [1, 2, 3]) or "")
    assert mismatch.lines()[-1] == "(length 2 where 3 is expected)"


def test_a_failure_in_brief_has_the_call_and_both_values() -> None:
    expected = np.arange(36.0).reshape(6, 6)
    mismatch = Mismatch(["f(x)"], expected, expected + 1, "36 of 36 values differ")
    mismatch.arrays = {"x": expected}
    lines = mismatch.lines(5)
    assert len(lines) == 5
    assert lines[0] == "f(x)"
    assert "expected" in "\n".join(lines)

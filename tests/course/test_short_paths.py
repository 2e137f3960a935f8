from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from kuiper.cli import main
from kuiper.course.errors import CourseError
from kuiper.course.manifest import read_syllabus
from kuiper.course.progress import Progress
from kuiper.course.short_paths import check_command, in_hours, route, routes
from tests.course.made_up import made_up, solve

if TYPE_CHECKING:
    from pathlib import Path

    from kuiper.course.manifest import Syllabus

BOTH = """
[[path]]
name = "both"
title = "Both"
goal = "At the end you have a fourfold."
exercises = ["1.1", "1.2"]
answers = { "1.2" = "What is four times x?" }
"""
SHORT = """
[[path]]
name = "short"
title = "Only the end"
goal = "At the end you have a fourfold."
exercises = ["1.2"]
"""


def with_paths(root: Path, text: str) -> Syllabus:
    """The made-up course with these paths at the end of its manifest."""
    made_up(root)
    manifest = root / "course1_made_up" / "course.toml"
    manifest.write_text(manifest.read_text() + text)
    return read_syllabus(root)


def test_route_has_its_exercises_and_what_it_borrows(tmp_path: Path) -> None:
    syllabus = with_paths(tmp_path, BOTH + SHORT)
    both, short = routes(syllabus)
    assert [exercise.id for exercise in both.exercises] == ["1.1", "1.2"]
    assert (both.borrowed, both.minutes, both.needs_compiler) == ((), 10, False)
    assert [exercise.id for exercise in short.borrowed] == ["1.1"]
    assert check_command(syllabus, both, both.exercises[1]) == "kuiper check 1.2"
    assert check_command(syllabus, short, short.exercises[0]) == "kuiper check 1.2 --ref 1.1"


def test_route_knows_what_is_compiled(tmp_path: Path) -> None:
    made_up(tmp_path)
    manifest = tmp_path / "course1_made_up" / "course.toml"
    manifest.write_text(manifest.read_text().replace("double.py", "double.pyx") + SHORT)
    assert route(read_syllabus(tmp_path), "short").needs_compiler  # what it borrows is


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (SHORT, "path: expected one of short, got 'x'"),
        ("", "path: expected courses that have paths, got 'x'"),
        (SHORT.replace('"short"', '"x"') * 2, "path: expected names that differ, got 'x' 2 times"),
        (SHORT.replace('"short"', '"x"').replace("1.2", "1.7"), "path x: expected exercises of the courses, got 1.7"),
        (BOTH.replace('"both"', '"x"').replace('"1.1", "1.2"', '"1.2", "1.1"'), "path x: expected 1.1 before 1.2, got"),
    ],
)
def test_route_refuses(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(CourseError, match=words):
        route(with_paths(tmp_path, text), "x")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('title = "Both"\n', ""),
        ('title = "Both"\n', 'title = "Both"\nhours = 10\n'),
        ('["1.1", "1.2"]', '["1.1", "1.1", "1.2"]'),
        ('["1.1", "1.2"]', "[]"),
        ('["1.1", "1.2"]', "[1.1, 1.2]"),
        ('["1.1", "1.2"]', '"1.1"'),
        ('name = "both"', 'name = "two words"'),
        ('{ "1.2" =', '{ "1.3" ='),
        ('"What is four times x?"', "4"),
    ],
)
def test_read_syllabus_refuses_paths(tmp_path: Path, before: str, after: str) -> None:
    assert before in BOTH
    with pytest.raises(CourseError, match=r"course\.toml path .*: expected the texts 'name', 'title', 'goal'"):
        with_paths(tmp_path, BOTH.replace(before, after))


@pytest.mark.parametrize(("minutes", "words"), [(0, "0 h"), (59, "0 h 59 min"), (60, "1 h"), (605, "10 h 5 min")])
def test_in_hours(minutes: int, words: str) -> None:
    assert in_hours(minutes) == words


def test_progress_of_a_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    syllabus = with_paths(tmp_path, BOTH + SHORT)
    monkeypatch.chdir(tmp_path)
    assert main(["progress", "--path", "both"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("Both: 2 exercises, about 0 h 10 min; no C compiler is needed\nAt the end you have a")
    assert "  1.2  What is four times x?\n" in text
    assert "reference" not in text
    assert "0 of 2 solved, 0 h 10 min left\nnext: 1.1 double (5 minutes), " in text
    assert text.endswith("test it: kuiper check 1.1\n")

    solve(syllabus, "1.1")
    first, last = syllabus
    Progress(tmp_path).record({first: first.test_count})
    assert main(["progress", "--path", "both"]) == 0
    assert "1 of 2 solved, 0 h 5 min left\nnext: 1.2 fourfold" in capsys.readouterr().out
    assert main(["progress", "--path", "short"]) == 0
    text = capsys.readouterr().out
    assert "the reference does what this path leaves out: 1.1\n" in text
    assert text.endswith("test it: kuiper check 1.2 --ref 1.1\n")

    solve(syllabus, "1.2")
    Progress(tmp_path).record({last: last.test_count})
    assert main(["progress", "--path", "both"]) == 0
    assert capsys.readouterr().out.endswith("2 of 2 solved, 0 h left\n")


def test_progress_of_a_path_as_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with_paths(tmp_path, SHORT)
    monkeypatch.chdir(tmp_path)
    assert main(["progress", "--path", "short", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["name"], answer["minutes"], answer["reference"]) == ("short", 5, ["1.1"])
    assert [entry["id"] for entry in answer["exercises"]] == ["1.2"]


def test_progress_lists_the_paths_and_refuses_an_unknown_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with_paths(tmp_path, BOTH + SHORT)
    monkeypatch.chdir(tmp_path)
    assert main(["progress"]) == 0
    assert "  both    2 exercises, 0 h 10 min\n  short   1 exercises, 0 h 5 min\n" in capsys.readouterr().out
    assert main(["progress", "--path", "shrot"]) == 1
    assert capsys.readouterr().err == "kuiper progress: path: expected one of both, short, got 'shrot'\n"
    assert main(["progress", "--path", "both", "1.1"]) == 1
    assert "expected numbers of exercises, or --path, got both: 1.1" in capsys.readouterr().err

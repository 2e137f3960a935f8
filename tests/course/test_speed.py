"""The line about the speed of a compiled exercise."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from kuiper.course import speed
from kuiper.course.classroom import Classroom
from kuiper.course.selection import Selection
from tests.course.made_up import made_up, solve

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from kuiper.course.manifest import Exercise


def probe(impl):  # type: ignore[no-untyped-def]
    return 0.5, len([impl.double(1)]) * 10**9, "FLOP"


def arithmetic(impl):  # type: ignore[no-untyped-def]
    return 0.5, len([impl.double(1)]) * 10**9, "FLOP", "of the peak"


def memory(impl):  # type: ignore[no-untyped-def]
    return 0.5, len([impl.double(1)]) * 10**9, "B", "of the bandwidth"


def unheard_of(impl):  # type: ignore[no-untyped-def]
    return 0.5, len([impl.double(1)]) * 10**9, "B", "of the network"


def broken(impl):  # type: ignore[no-untyped-def]
    return impl.treble(1)


@pytest.mark.parametrize(
    ("function", "with_reference", "line"),
    [
        (probe, True, "1.1 double: yours 2 GFLOP/s, reference 2 GFLOP/s"),
        (probe, False, "1.1 double: yours 2 GFLOP/s"),
        (unheard_of, True, "1.1 double: yours 2 GB/s, reference 2 GB/s"),
        (broken, True, ""),
    ],
)
def test_speed_line(tmp_path: Path, function: Callable[..., object], with_reference: bool, line: str) -> None:
    syllabus = made_up(tmp_path)
    solve(syllabus, "1.1")
    if not with_reference:
        shutil.rmtree(tmp_path / "course1_made_up" / "solutions")
    classroom = Classroom(Selection(syllabus), isolated=False)
    assert speed.speed_line(classroom, syllabus.exercise("1.1"), function) == line


def test_speed_line_is_measured_once_for_each_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    syllabus = made_up(tmp_path)
    solve(syllabus, "1.1")
    exercise = syllabus.exercise("1.1")
    classroom = Classroom(Selection(syllabus), isolated=False)
    asked: list[bool] = []

    def rate(classroom: Classroom, exercise: Exercise, probe: object, reference: bool) -> speed.Rate:
        asked.append(reference)
        return speed.Rate(1e6 * (2 if reference else 1), "numbers")

    monkeypatch.setattr(speed, "_rate", rate)
    words = "1.1 double: yours 1 million numbers per second, reference 2 million numbers per second; the lines that"
    for _ in range(2):
        assert speed.speed_line(classroom, exercise, probe).startswith(words)
    assert asked == [False, True]
    exercise.student_file.write_text(exercise.student_file.read_text() + "\n")
    speed.speed_line(classroom, exercise, probe)
    assert asked == [False, True, False, True]


def test_speed_line_has_the_share_of_the_peak_where_arithmetic_is_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    syllabus = made_up(tmp_path)
    solve(syllabus, "1.1")
    classroom = Classroom(Selection(syllabus), isolated=False)
    monkeypatch.setattr(speed, "peak_per_second", lambda root: 8e9)
    line = speed.speed_line(classroom, syllabus.exercise("1.1"), arithmetic)
    assert line == (
        "1.1 double: yours 2 GFLOP/s, reference 2 GFLOP/s; the peak of a core is 8 GFLOP/s, and yours reaches 25% of it"
    )


def test_speed_line_has_the_share_of_the_bandwidth_where_memory_is_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    syllabus = made_up(tmp_path)
    solve(syllabus, "1.1")
    classroom = Classroom(Selection(syllabus), isolated=False)
    monkeypatch.setattr(speed, "bytes_per_second", lambda root: 25e9)
    line = speed.speed_line(classroom, syllabus.exercise("1.1"), memory)
    assert line == (
        "1.1 double: yours 2 GB/s, reference 2 GB/s; from memory a core reads 25 GB/s, and yours reaches 8% of it"
    )

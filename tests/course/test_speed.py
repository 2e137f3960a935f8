"""The line about the speed of a compiled exercise."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from kuiper.course import speed
from kuiper.course.classroom import Classroom
from kuiper.course.errors import CourseError
from kuiper.course.machine import this_machine
from kuiper.course.manifest import read_syllabus
from kuiper.course.progress import Progress, digest
from kuiper.course.selection import Selection
from tests.course.made_up import made_up, solve

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from kuiper.course.manifest import Exercise, Syllabus

RATIOS = "minutes = 5\nspeed = [0.1, 0.5, 0.9]\n"


@pytest.fixture
def timed(tmp_path: Path) -> Syllabus:
    """The made-up course, with points for speed in its first exercise, which is solved and known as such."""
    manifest = made_up(tmp_path).root / "course1_made_up" / "course.toml"
    manifest.write_text(manifest.read_text().replace("minutes = 5\n", RATIOS, 1))
    syllabus = read_syllabus(tmp_path)
    solve(syllabus, "1.1")
    Progress(syllabus.root).record({syllabus.exercise("1.1"): 2})
    return syllabus


class Clock:
    """Rates that are told beforehand, in place of a timer; and whether the machine is busy."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, yours: list[float], reference: list[float], busy: str) -> None:
        self.told, self.asked = {False: iter(yours), True: iter(reference)}, 0
        monkeypatch.setattr(speed, "_rate", self.rate)
        monkeypatch.setattr(speed, "watch_the_cores", lambda waits: lambda: busy)

    def rate(self, classroom: Classroom, exercise: Exercise, probe: object, reference: bool) -> speed.Rate:
        self.asked += 1
        return speed.Rate(next(self.told[reference]), "numbers")


def made(unit: str, *limit: str) -> Callable[..., object]:
    """A probe of this unit, and of what bounds it."""
    return lambda impl: (0.5, len([impl.double(1)]) * 10**9, unit, *limit)


probe = made("FLOP")


def broken(impl):  # type: ignore[no-untyped-def]
    return impl.treble(1)


@pytest.mark.parametrize(
    ("function", "with_reference", "line"),
    [
        (probe, True, "1.1 double: yours 2 GFLOP/s, reference 2 GFLOP/s"),
        (probe, False, "1.1 double: yours 2 GFLOP/s"),
        (made("B", "of the network"), True, "1.1 double: yours 2 GB/s, reference 2 GB/s"),
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


@pytest.mark.parametrize(
    ("function", "limit", "line"),
    [
        (
            made("FLOP", "of the peak"),
            ("peak_per_second", 8e9),
            "2 GFLOP/s, reference 2 GFLOP/s; the peak of a core is 8 GFLOP/s, and yours reaches 25% of it",
        ),
        (
            made("B", "of the bandwidth"),
            ("bytes_per_second", 25e9),
            "2 GB/s, reference 2 GB/s; from memory a core reads 25 GB/s, and yours reaches 8% of it",
        ),
    ],
)
def test_speed_line_has_the_share_of_what_is_the_limit(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    function: Callable[..., object],
    limit: tuple[str, float],
    line: str,
) -> None:
    syllabus = made_up(tmp_path)
    solve(syllabus, "1.1")
    classroom = Classroom(Selection(syllabus), isolated=False)
    name, per_second = limit
    monkeypatch.setattr(speed, name, lambda root: per_second)
    assert speed.speed_line(classroom, syllabus.exercise("1.1"), function) == f"1.1 double: yours {line}"


def test_speed_line_is_measured_again_for_another_language(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pseudo_language: Path
) -> None:
    syllabus = made_up(tmp_path)
    solve(syllabus, "1.1")
    exercise = syllabus.exercise("1.1")
    classroom = Classroom(Selection(syllabus), isolated=False)
    assert speed.speed_line(classroom, exercise, probe).startswith("1.1 double⟦: yours ⟧")
    monkeypatch.setenv("KUIPER_LANG", "en")
    assert speed.speed_line(classroom, exercise, probe) == "1.1 double: yours 2 GFLOP/s, reference 2 GFLOP/s"


def test_measure_takes_the_best_of_several_turns(timed: Syllabus, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch, [30.0, 40.0, 10.0], [90.0, 80.0, 100.0], "")
    measured = speed.measure(Classroom(Selection(timed)), timed.exercise("1.1"), probe)
    assert measured is not None
    assert (measured.ratio, clock.asked) == (0.4, 6)


def test_measure_ends_when_all_points_are_reached(timed: Syllabus, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch, [30.0, 95.0], [100.0, 90.0], "others had the core")
    measured = speed.measure(Classroom(Selection(timed)), timed.exercise("1.1"), probe)
    assert measured is not None
    assert (measured.ratio, clock.asked) == (0.95, 4)


def test_measure_tries_longer_on_a_busy_machine(timed: Syllabus, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch, [10.0] * 5 + [60.0], [100.0] * 6, "others had the core")
    measured = speed.measure(Classroom(Selection(timed)), timed.exercise("1.1"), probe)
    assert measured is not None
    assert (measured.ratio, measured.busy, clock.asked) == (0.6, "others had the core", 12)


def test_points_are_kept_for_the_text_and_never_lost_to_a_busy_machine(
    timed: Syllabus, monkeypatch: pytest.MonkeyPatch
) -> None:
    exercise, classroom = timed.exercise("1.1"), Classroom(Selection(timed))
    Clock(monkeypatch, [60.0] * 6, [100.0] * 6, "others had the core")
    line = speed.speed_line(classroom, exercise, probe)
    doubt = "the machine was too busy to judge: others had the core; run it again"
    assert f"points for speed: 2 of 3 (the next at 0.9 of the reference, yours reaches 0.6; {doubt})" in line
    Clock(monkeypatch, [20.0] * 3, [100.0] * 3, "")
    line = speed.speed_line(classroom, exercise, probe)  # it is measured again, as nobody could judge it
    assert "points for speed: 2 of 3 (the next at 0.9 of the reference, yours reaches 0.6)" in line
    monkeypatch.setattr(speed, "_rate", None)
    assert speed.speed_line(classroom, exercise, probe) == line  # and now not any more
    progress = Progress(timed.root)
    assert speed.points(exercise, progress) == 2
    assert speed.all_points(timed, progress) == f"points for speed: 2 of 3 (1.1: 2 of 3), on {this_machine()}"
    exercise.student_file.write_text(exercise.student_file.read_text() + "\n")
    progress.record({exercise: 2})
    assert speed.points(exercise, progress) == 0
    assert speed.all_points(timed, progress) == ""


def test_only_what_is_solved_has_points(timed: Syllabus, monkeypatch: pytest.MonkeyPatch) -> None:
    exercise, progress = timed.exercise("1.1"), Progress(timed.root)
    Clock(monkeypatch, [100.0], [100.0], "")
    assert speed.speed_line(Classroom(Selection(timed)), exercise, probe).endswith("; points for speed: 3 of 3")
    assert speed.points(exercise, progress) == 3
    progress.record({exercise: 1})
    assert speed.points(exercise, progress) == 0


def test_an_old_or_broken_file_of_speeds_is_measured_anew(timed: Syllabus, monkeypatch: pytest.MonkeyPatch) -> None:
    path = timed.root / ".kuiper" / "speed.json"
    text = digest(timed.exercise("1.1"))
    for entry in (["digest", "a line"], {"text": text, "on": {"a machine": {"ratio": "fast"}}}, {"text": text}):
        path.write_text(json.dumps({"1.1": entry}))
        assert speed.kept_ratio(timed.exercise("1.1")) == (0, "")
    Clock(monkeypatch, [100.0], [100.0], "")
    assert "points for speed: 3 of 3" in speed.speed_line(Classroom(Selection(timed)), timed.exercise("1.1"), probe)
    assert speed.kept_ratio(timed.exercise("1.1")) == (1, this_machine())


def test_another_machine_is_timed_too_and_the_best_counts(timed: Syllabus, monkeypatch: pytest.MonkeyPatch) -> None:
    exercise, classroom, progress = timed.exercise("1.1"), Classroom(Selection(timed)), Progress(timed.root)
    for machine, yours, count in (("desk", 60.0, 2), ("server", 20.0, 1)):
        monkeypatch.setattr(speed, "this_machine", lambda name=machine: name)
        clock = Clock(monkeypatch, [yours] * 3, [100.0] * 3, "")
        assert f"points for speed: {count} of 3" in speed.speed_line(classroom, exercise, probe)
        assert clock.asked == 6
    assert speed.kept_ratio(exercise) == (0.6, "desk")
    assert speed.all_points(timed, progress) == "points for speed: 2 of 3 (1.1: 2 of 3), on desk"
    monkeypatch.setattr(speed, "_rate", None)
    monkeypatch.setattr(speed, "this_machine", lambda: "desk")
    assert "points for speed: 2 of 3" in speed.speed_line(classroom, exercise, probe)


@pytest.mark.parametrize("ratios", ["[]", "0.5", "[0.5, 0.5]", "[0.9, 0.5]", "[0]", "[true]", "[inf]", '["0.5"]'])
def test_ratios_rise(tmp_path: Path, ratios: str) -> None:
    manifest = made_up(tmp_path).root / "course1_made_up" / "course.toml"
    manifest.write_text(manifest.read_text().replace("minutes = 5\n", f"minutes = 5\nspeed = {ratios}\n", 1))
    with pytest.raises(CourseError, match="rising ratios to the reference's speed as speed"):
        read_syllabus(tmp_path)

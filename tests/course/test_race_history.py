"""What earlier races have shown; all times are made up."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from kuiper.course.errors import CourseError
from kuiper.course.manifest import Syllabus, read_syllabus
from kuiper.course.race import Divergence, Result
from kuiper.course.race_history import all_race_points, best_before, history, points_for_races, remember
from tests.course.made_up import made_up

if TYPE_CHECKING:
    from pathlib import Path

AFTERWARDS = """
[afterwards]
built = "something"
engines = "theirs"
try = []
"""


def raced(ratio: float, machine: str = "desk", **changes: object) -> Result:
    ladder = {"your layers": 2.0, "the reference's layers": 2.0 * ratio, "kuiper": 0.5}
    return replace(Result("net", ["1.1"], [], ladder=ladder, machine=machine), **changes)


@pytest.fixture
def syllabus(tmp_path: Path) -> Syllabus:
    made_up(tmp_path)
    with_speed(tmp_path, "{ net = [0.5, 0.9, 2.0], other = [0.5] }")
    return read_syllabus(tmp_path)


def with_speed(root: Path, speed: str) -> None:
    manifest = root / "course1_made_up" / "course.toml"
    text = manifest.read_text().partition("[afterwards]")[0]
    manifest.write_text(text + f"{AFTERWARDS}speed = {speed}\n")


def test_points_are_those_of_the_best_right_race(syllabus: Syllabus) -> None:
    assert all_race_points(syllabus) == ""
    wrong = Divergence("conv", "nn.Conv2d", "3.5", 0.5)
    results = [
        raced(0.95, "server"),
        raced(0.6),
        raced(5.0, divergence=wrong),
        raced(5.0, failures=["conv"]),
        raced(5.0, model="a model without ratios"),
        raced(1.0, ladder={"your layers": 0.1, "kuiper": 0.5}, reference=["1.2"]),
    ]
    for result in results:
        remember(syllabus.root, result)
    assert points_for_races(syllabus, history(syllabus.root)) == {"net": (2, "server")}
    assert all_race_points(syllabus) == "points for speed in races: 2 of 4 (net: 2 of 3), on server"


def test_best_before_is_that_of_the_same_machine(syllabus: Syllabus) -> None:
    for machine, own in (("server", 1.0), ("desk", 4.0), ("desk", 3.0)):
        entries = remember(syllabus.root, raced(1.0, machine, ladder={"your layers": own}))
    assert [best_before(entries, "net", machine) for machine in ("server", "desk", "phone")] == [1.0, 3.0, None]


@pytest.mark.parametrize("ladder", [{"your layers": "fast"}, {"your layers": -1.0}, ["your layers"], {"kuiper": 1.0}])
def test_entries_that_no_race_has_written_are_left_out(syllabus: Syllabus, ladder: object) -> None:
    remember(syllabus.root, raced(1.0, ladder=ladder))
    assert history(syllabus.root) == []


@pytest.mark.parametrize("speed", ["[0.5]", "{ net = [] }", "{ net = 0.5 }", "{ net = [0.9, 0.5] }"])
def test_ratios_of_races_rise(syllabus: Syllabus, speed: str) -> None:
    with_speed(syllabus.root, speed)
    with pytest.raises(CourseError, match="rising ratios of races as 'speed'"):
        read_syllabus(syllabus.root)

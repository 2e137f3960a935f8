"""The short paths of the real courses: each can be gone from its first exercise to its last."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from kuiper.cli import main
from kuiper.course.handout import start
from kuiper.course.manifest import read_syllabus
from kuiper.course.places import python_environment
from kuiper.course.progress import Progress
from kuiper.course.pytest_command import pytest_command
from kuiper.course.short_paths import check_command, route, routes
from kuiper.course.toml import read_toml
from tests.course.made_up import solve

ROOT = Path(__file__).parents[2]
SYLLABUS = read_syllabus(ROOT)
NAMES = [way.path.name for way in routes(SYLLABUS)]  # each of them: unknown numbers and a wrong order raise


def test_the_paths_are_those_that_the_page_names() -> None:
    page = (ROOT / "docs" / "learn" / "start.md").read_text(encoding="utf-8")
    named = re.findall(r"^\| `([a-z-]+)` \|", page, re.MULTILINE)
    assert set(NAMES) <= set(named)
    assert NAMES


@pytest.mark.parametrize("name", NAMES)
def test_route_minutes_are_the_sum_of_the_manifests(name: str) -> None:
    entries = [entry for path in ROOT.glob("course*/course.toml") for entry in read_toml(path)["exercise"]]
    minutes = {entry["id"]: entry["minutes"] for entry in entries}
    way = route(SYLLABUS, name)
    assert way.minutes == sum(minutes[id_] for id_ in way.path.exercises)


@pytest.mark.parametrize("name", NAMES)
def test_each_step_of_a_path_stands_on_earlier_ones_and_on_references(name: str) -> None:
    way = route(SYLLABUS, name)
    solved: set[str] = set()
    for exercise in way.exercises:
        refs = set(re.findall(r"--ref (\S+)", check_command(SYLLABUS, way, exercise)))
        assert {needed.id for needed in SYLLABUS.needed_by(exercise)} == refs | (
            solved & {needed.id for needed in SYLLABUS.needed_by(exercise)}
        )
        solved.add(exercise.id)


def test_the_path_without_a_compiler_compiles_nothing() -> None:
    way = route(SYLLABUS, "python")
    files = [exercise.solution_file.suffix for exercise in (*way.exercises, *way.borrowed)]
    assert set(files) == {".py"}
    assert not way.needs_compiler


def test_the_path_for_interviews_says_what_each_exercise_answers() -> None:
    path = route(SYLLABUS, "interview").path
    assert set(path.answers) == set(path.exercises)


@pytest.mark.parametrize("name", NAMES)
def test_progress_of_a_path_fits_80_columns(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(ROOT)
    assert main(["progress", "--path", name]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    rows = [line.split()[0] for line in lines if re.match(r"\d\.\d+ +\D", line)]
    assert rows == list(route(SYLLABUS, name).path.exercises)


@pytest.mark.thorough
def test_a_folder_in_which_only_a_path_is_solved_passes_its_last_exercise(tmp_path: Path) -> None:
    """2.8 on nothing but what the path without a compiler solves, and --ref for what that leaves out."""
    start(tmp_path / "mine")
    mine = read_syllabus(tmp_path / "mine")
    way = route(mine, "python")
    last = next(exercise for exercise in way.exercises if exercise.id == "2.8")
    for exercise in way.exercises[: way.exercises.index(last) + 1]:
        solve(mine, exercise.id)
    words = check_command(mine, way, last).split()[3:]
    assert words == ["--ref", "2.2", "--ref", "2.3"]
    tests = [str(last.course / name) for name in last.tests]
    command = pytest_command("--exercise=2.8", *words, *tests)
    done = subprocess.run(command, cwd=mine.root, env=python_environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert Progress(mine.root).status(last) == "solved"

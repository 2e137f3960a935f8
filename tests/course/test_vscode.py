"""The test panel of VS Code shows the courses, in a checkout and in a student's folder, and why a test fails."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from kuiper.course.handout import start
from kuiper.course.manifest import read_syllabus
from kuiper.course.material import CHECKOUT
from kuiper.course.places import pytest_environment
from tests.course import vscode_panel

STUDENT_FOLDER = CHECKOUT / "student_folder"


def settings(folder: Path) -> dict[str, Any]:
    table: dict[str, Any] = json.loads((folder / ".vscode" / "settings.json").read_text(encoding="utf-8"))
    return table


def panel(folder: Path, *words: str) -> dict[str, Any]:
    """What the panel learns from one run of pytest, started as the extension starts it."""
    # The extension's plugin lies in a folder of its own, which it adds to PYTHONPATH.
    plugin = Path(vscode_panel.__file__)
    answers = folder / ".kuiper" / "panel.json"
    answers.parent.mkdir(exist_ok=True)
    environment = pytest_environment()
    environment["PYTHONPATH"] += os.pathsep + str(plugin.parent)
    environment[vscode_panel.ANSWERS] = str(answers)
    arguments = settings(folder).get("python.testing.pytestArgs", [])
    command = [sys.executable, "-m", "pytest", "-p", plugin.stem, f"--rootdir={folder}", *words]
    ran = subprocess.run(
        [*command, *([] if any("::" in word for word in words) else arguments)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert answers.is_file(), ran.stdout + ran.stderr
    table: dict[str, Any] = json.loads(answers.read_text(encoding="utf-8"))
    answers.unlink()
    return table


@pytest.fixture(scope="module")
def mine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("panel") / "my course"
    start(folder)
    return folder


@pytest.fixture(scope="module")
def discovered(mine: Path) -> dict[str, Any]:
    return panel(mine, "--collect-only")


@pytest.mark.parametrize("place", ["checkout", "student"])
def test_the_panel_finds_every_test_of_every_exercise(mine: Path, discovered: dict[str, Any], place: str) -> None:
    folder, found = (mine, discovered) if place == "student" else (CHECKOUT, panel(CHECKOUT, "--collect-only"))
    assert found["errors"] == []
    assert found["exit"] == 0
    syllabus = read_syllabus(folder)
    for id_, (place_in_tree, line) in found["tree"].items():
        path = Path(id_.split("::")[0])
        assert place_in_tree.split("/")[0] in {course.name for course in syllabus.courses}
        assert line <= len(path.read_text(encoding="utf-8").splitlines())
    shown = [place_in_tree for place_in_tree, _ in found["tree"].values()]
    assert len(shown) == len(set(shown)) == sum(exercise.test_count for exercise in syllabus)
    counts = Counter(place_in_tree.split("/")[0] for place_in_tree in shown)
    for course in syllabus.courses:
        assert counts[course.name] == sum(exercise.test_count for exercise in course.exercises)


def test_the_panel_runs_one_case_and_shows_why_it_fails(mine: Path, discovered: dict[str, Any]) -> None:
    of_11 = [id_ for id_ in discovered["tree"] if "test_offsets_and_strides.py" in id_]
    one = next(id_ for id_ in of_11 if "[" in id_)
    found = panel(mine, one)
    assert found["outcomes"].keys() == {one}
    assert found["outcomes"][one][0] == "failure"
    assert "1.1" in found["outcomes"][one][1]
    assert "not started" in found["outcomes"][one][1]


def test_the_panel_shows_a_wrong_answer_beside_the_right_one_and_a_right_one_in_green(
    mine: Path, discovered: dict[str, Any]
) -> None:
    exercise = read_syllabus(mine).exercise("1.1")
    skeleton = exercise.student_file.read_text(encoding="utf-8")
    one = next(id_ for id_ in discovered["tree"] if "test_offsets_and_strides.py::test_strides" in id_)
    hole = 'raise NotImplementedError("exercise 1.1: strides")'
    assert hole in skeleton
    exercise.student_file.write_text(skeleton.replace(hole, "return 'wrong'"), encoding="utf-8")
    outcome, message = panel(mine, one)["outcomes"][one]
    assert outcome == "failure"
    assert "expected" in message
    assert "wrong" in message
    exercise.student_file.write_text(exercise.solution_file.read_text(encoding="utf-8"), encoding="utf-8")
    assert panel(mine, one)["outcomes"][one] == ["success", None]
    exercise.student_file.write_text(skeleton, encoding="utf-8")


@pytest.mark.parametrize("folder", [CHECKOUT, STUDENT_FOLDER], ids=["checkout", "student"])
def test_settings_turn_the_panel_on(folder: Path) -> None:
    table = settings(folder)
    assert table["python.testing.pytestEnabled"] is True
    assert table["python.testing.unittestEnabled"] is False
    courses = [course.name for course in read_syllabus(CHECKOUT).courses]
    assert table.get("python.testing.pytestArgs", courses) == courses

"""``python -m tests.courses.natural_mistakes [3.3 ...]``: what reports say of mistakes that beginners make.

The mistakes in ``natural/`` were written from the exercises' texts alone, and are not in the bug bank. Each is written
into a student's folder, tested, and printed as a line: what was done, the CPU seconds of the report, and what it names.
Whether that is the mistake, a reader decides.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kuiper.course.handout import start
from kuiper.course.manifest import Exercise, read_syllabus
from kuiper.course.places import pytest_environment
from kuiper.course.pytest_command import pytest_command
from kuiper.course.toml import read_toml

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = Path(__file__).parent / "natural"
WAYS = ("", "b")
"""Of solving an exercise: what the names of the files end with."""
LIKELY = "likely: this is what you get when "


def wrong_files(exercise: Exercise, skeleton: str, way: str = "") -> Iterator[tuple[str, str]]:
    """What was done, and the student's file, of each mistake; the first one is no mistake.

    Raises
    ------
    ValueError
        If a hole or a text that is to be replaced is not there once.
    """
    table = read_toml(FOLDER / f"{exercise.id}{way}.toml")
    text = skeleton.replace(f"# exercise {exercise.id}: your own helpers may stand here\n", table.get("helpers", ""))
    for function, body in table["solution"].items():
        text = _replaced(text, f'    raise NotImplementedError("exercise {exercise.id}: {function}")\n', body)
    yield "nothing", text
    for mistake in table["mistake"]:
        yield mistake["did"], _edited(text, mistake.get("edits", [mistake]))


def _edited(text: str, edits: list[dict[str, Any]]) -> str:
    for edit in edits:
        text = _replaced(text, edit["replace"], edit["with"])
    return text


def _replaced(text: str, before: str, after: str) -> str:
    if text.count(before) != 1:
        raise ValueError(f"expected {before!r} once, got it {text.count(before)} times")
    return text.replace(before, after)


def report(root: Path, exercise: Exercise) -> tuple[str, float]:
    """The report on the student's file, and the seconds of CPU time that it took."""
    before = os.times()
    command = pytest_command(exercise.course.name, "--exercise", exercise.id, "--use-solutions")
    environment = {**pytest_environment(), "COLUMNS": "1000"}  # no sentence is folded
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    after = os.times()
    seconds = after.children_user + after.children_system - before.children_user - before.children_system
    return done.stdout, seconds


def main(ids: list[str]) -> int:
    """Print a line for each mistake of these exercises, or of all."""
    with tempfile.TemporaryDirectory() as folder:
        start(Path(folder))
        for exercise in read_syllabus(Path(folder)):
            ways = [way for way in WAYS if (FOLDER / f"{exercise.id}{way}.toml").is_file()]
            if ids and exercise.id not in ids:
                continue
            skeleton = exercise.student_file.read_text(encoding="utf-8")
            for did, text in (each for way in ways for each in wrong_files(exercise, skeleton, way)):
                exercise.student_file.write_text(text, encoding="utf-8")
                said, seconds = report(Path(folder), exercise)
                likely = said.partition(LIKELY)[2].partition("\n")[0]
                print(
                    f"{exercise.id} {seconds:5.1f} s | {did} | {likely or ('-' if ' wrong' in said else 'green')}",
                    flush=True,
                )
            exercise.student_file.write_text(skeleton, encoding="utf-8")  # which others stand on
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Which tests catch which bug, as the last run of all of them found: ``catches.json`` beside the bugs of a course.

A spot check of the gates begins with the test that stands first; the page of the bug bank is made from it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from kuiper.course.bugs import read_bugs
from kuiper.course.errors import CourseError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from kuiper.course.gate_runs import Run
    from kuiper.course.manifest import Exercise

NAMED = 3
"""Of the tests that catch a bug, this many are kept by name."""


class Caught(NamedTuple):
    """The first tests that catch a bug, and how many more do."""

    tests: tuple[str, ...]
    more: int


def catches_file(exercise: Exercise) -> Path:
    """The file of the exercise's course."""
    return exercise.bugs_file.parent / "catches.json"


def stored_catches(exercise: Exercise) -> dict[str, Caught]:
    """By the name of the bug; nothing for an exercise whose bugs have not been run.

    Raises
    ------
    CourseError
        If the file is not one that ``store_catches`` wrote.
    """
    path = catches_file(exercise)
    try:
        found = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        return {bug: Caught(tuple(tests), int(more)) for bug, (tests, more) in found.get(exercise.id, {}).items()}
    except (ValueError, TypeError, AttributeError) as error:
        raise CourseError(str(path), "what kuiper course bugs wrote", f"{type(error).__name__}: {error}") from error


def store_catches(exercises: Iterable[Exercise], renewed: Sequence[Exercise], run: Run) -> list[Path]:
    """Write what a run has shown of some exercises; what is known of the others stays. The files that were written.

    Parameters
    ----------
    exercises : all that there are, in the order of the files
    renewed : those that the run is about
    run : says who caught whom
    """
    by_file: dict[Path, dict[str, dict[str, Caught]]] = {}
    for exercise in exercises:
        known = caught_in(exercise, run) if exercise in renewed else stored_catches(exercise)
        if known:
            by_file.setdefault(catches_file(exercise), {})[exercise.id] = known
    written = {catches_file(exercise) for exercise in renewed}
    for path, found in by_file.items():
        if path in written:
            path.write_text(as_json(found), encoding="utf-8", newline="\n")
    return sorted(written)


def caught_in(exercise: Exercise, run: Run) -> dict[str, Caught]:
    """What a run has shown of an exercise; a bug that no test catches has none."""
    tests: dict[str, list[str]] = {bug.name: [] for bug in read_bugs(exercise)}
    for id_, bug, test, _ in run.catches:
        if id_ == exercise.id:
            tests[bug].append(test)
    return {bug: Caught(tuple(found[:NAMED]), len(found[NAMED:])) for bug, found in tests.items()}


def as_json(found: dict[str, dict[str, Caught]]) -> str:
    """The text of a file, a line for each bug.

    >>> print(as_json({"1.1": {"tripled": Caught(("test_double",), 0)}}), end="")
    {
    "1.1": {
     "tripled": [["test_double"], 0]
    }
    }
    """
    sections = []
    for id_, bugs in found.items():
        lines = [f" {json.dumps(bug)}: {json.dumps([list(each.tests), each.more])}" for bug, each in bugs.items()]
        sections.append(f"{json.dumps(id_)}: {{\n" + ",\n".join(lines) + "\n}")
    return "{\n" + ",\n".join(sections) + "\n}\n"

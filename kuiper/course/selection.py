"""Which file stands for each exercise: the student's, the solution, the skeleton, or some other one.

One selection is active in a process; ``load_exercise`` asks it. So a student's conv2d finds the student's im2col, and
under ``--ref 3.4`` the reference's, without a change in either file.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, cast, get_args

from kuiper.course.errors import CourseError
from kuiper.course.manifest import Exercise, Syllabus, read_syllabus
from kuiper.course.places import folder, lecture_root
from kuiper.course.state_file import keep_text
from kuiper.course.sync import generated_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

Kind = Literal["student", "solution", "skeleton"]


@dataclass(frozen=True)
class Selection:
    """The files of one root's exercises: one kind for all, other kinds for some, or any path for single ones."""

    syllabus: Syllabus
    kind: Kind = "student"
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    paths: Mapping[str, Path] = field(default_factory=dict)
    home: Path | None = None
    mode: Literal["safe", "fast"] = "safe"

    @property
    def worker_root(self) -> Path:
        """The root that a worker is told of: a submission has one of its own, without solutions."""
        return self.home or self.syllabus.root

    def kind_of(self, exercise: Exercise) -> Kind:
        """Whose file stands for an exercise."""
        return self.kinds.get(exercise.id, self.kind)

    def path(self, exercise: Exercise) -> Path:
        """The file that stands for an exercise."""
        if exercise.id in self.paths:
            return self.paths[exercise.id]
        kind = self.kind_of(exercise)
        if kind == "solution":
            return exercise.solution_file
        return exercise.student_file if kind == "student" else skeleton_file(exercise)

    def with_path(self, exercise: Exercise, path: Path) -> Selection:
        """The same selection with another file for one exercise."""
        return replace(self, paths={**self.paths, exercise.id: path})

    def alone(self, exercise: Exercise) -> Selection:
        """The solutions of one exercise and of what it stands on; everything else is a skeleton."""
        solved = [exercise, *self.syllabus.needed_by(exercise)]
        return Selection(self.syllabus, "skeleton", {part.id: "solution" for part in solved})

    def skeleton(self, exercise: Exercise) -> Selection:
        """The skeleton of one exercise; everything else is the solution."""
        return Selection(self.syllabus, "solution", {exercise.id: "skeleton"})

    @cached_property  # it goes with every call of a student's function
    def all_paths(self) -> dict[str, str]:
        """Every exercise's file, for a process that has no selection of its own."""
        return {exercise.id: str(self.path(exercise)) for exercise in self.syllabus}


def skeleton_file(exercise: Exercise) -> Path:
    """The generated text in a file of its own, whatever the student has made of the one in ``exercises/``."""
    path = folder(exercise.course.parent, "skeletons", exercise.course.name) / exercise.file
    keep_text(path, generated_text(exercise))
    return path


_active: list[Selection] = []


def active() -> Selection:
    """The selection of this process; at first the files of the courses around the working directory (else of the
    installed package): the student's, or those that $KUIPER_IMPL names (a notebook's kernel cannot be told otherwise).

    Raises
    ------
    CourseError
        If it names none.
    """
    if not _active:
        kind = os.environ.get("KUIPER_IMPL", "student")
        if kind not in get_args(Kind):
            raise CourseError("KUIPER_IMPL", " or ".join(get_args(Kind)), kind)
        _active.append(Selection(read_syllabus(lecture_root()), cast("Kind", kind)))
    return _active[-1]


@contextmanager
def selected(selection: Selection) -> Iterator[Selection]:
    """Within this block, exercises are loaded by this selection."""
    _active.append(selection)
    try:
        yield selection
    finally:
        _active.pop()

"""Which tests a run has, in which order, and whose files they meet."""

from __future__ import annotations

import dataclasses
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from kuiper.course.classroom import Classroom
from kuiper.course.errors import CourseError
from kuiper.course.handout_record import language_of
from kuiper.course.manifest import Exercise, find_root, read_syllabus
from kuiper.course.places import state_folder
from kuiper.course.properties import property_of
from kuiper.course.sandbox import chosen_mode
from kuiper.course.selection import Kind, Selection
from kuiper.course.submission import SubmissionRoom
from kuiper.language import prefer, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

EXERCISE = pytest.StashKey[Exercise]()


class SelectionPlugin:
    """The hooks of collection; a classroom for each root of courses, and the speed probe of each exercise."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.classrooms: dict[Path, Classroom] = {}
        self.probes: dict[str, Any] = {}
        self.left_out = False  # whether files were

    def classroom(self, exercise: Exercise) -> Classroom:
        """Where the tests of an exercise run."""
        return self.classrooms[exercise.course.parent]

    def close(self) -> None:
        """End all workers."""
        for classroom in self.classrooms.values():
            classroom.close()

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """With --exercise, test files of other exercises are not even imported; pytest asks for none that is named."""
        folder, name = collection_path.parent, collection_path.name
        parts = self.config.getoption("--exercise")
        if not parts or not name.startswith("test_") or not (folder / "course.toml").is_file():
            return None
        root = find_root(folder)
        try:
            wanted = self._matching({root} if root else set(), parts)
        except pytest.UsageError:  # one here would be an error of this file; it is raised again behind the collection
            return None
        files = {(exercise.course, file.partition("::")[0]) for exercise in wanted for file in exercise.tests}
        if (folder, name) in files:
            return None
        self.left_out = True
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Find the exercise of each test, drop those that --exercise leaves out, and sort the rest: properties last."""
        wanted = self._wanted(items)
        places: dict[str, tuple[int, bool, int]] = {}
        folders = {item.path.parent for item in items}  # far fewer than tests: each look at the disk is made once
        roots = {folder: find_root(folder) for folder in folders if (folder / "course.toml").is_file()}
        for item in items:
            root = roots.get(item.path.parent)
            if root is None:
                continue
            classroom = self.open(root)
            exercise = classroom.syllabus.owner(item.path, getattr(item, "originalname", item.name))
            if exercise is None:
                continue
            item.stash[EXERCISE] = exercise
            self.probes[exercise.id] = getattr(getattr(item, "module", None), "speed", None)
            files = [name.partition("::")[0] for name in exercise.tests]  # the manifest's order: the simplest first
            found = property_of(getattr(item, "obj", None))
            if found:
                found.shrinks = config.getoption("--impl") == "student" and not config.getoption("--submission")
            places[item.nodeid] = list(classroom.syllabus).index(exercise), bool(found), files.index(item.path.name)
        if wanted is not None:
            dropped = [item for item in items if exercise_id(item) not in wanted]
            items[:] = [item for item in items if exercise_id(item) in wanted]
            config.hook.pytest_deselected(items=dropped)
        items.sort(key=lambda item: places.get(item.nodeid, (-1, False, 0)))
        self._use_solutions({exercise_id(item) for item in items})

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        is_of_course = item.path.name.startswith("test_") and (item.path.parent / "course.toml").is_file()
        if is_of_course and not exercise_id(item):
            pytest.fail(f"{item.nodeid}: course.toml lists this test for no exercise", pytrace=False)

    def open(self, root: Path) -> Classroom:
        """The classroom of a root, as the options ask for it; a wrong option is a usage error."""
        if root not in self.classrooms:
            try:
                syllabus = read_syllabus(root)
                impl = self.config.getoption("--impl")
                kind: Kind = "solution" if impl == "alone" else impl
                refs = {found.id for part in self.config.getoption("--ref") for found in syllabus.matching(part)}
                state_folder(root)  # a message, not a trace, where nothing may be written
                prefer(language_of(root))
            except CourseError as error:
                raise usage_error(str(error)) from None
            if self.config.getoption("--submission"):
                home, mode = self.config.getoption("--submission"), chosen_mode(self.config.getoption("--sandbox"))
                self.classrooms[root] = SubmissionRoom(syllabus, home, mode, self.config.getoption("--failed"))
                return self.classrooms[root]
            in_process = self.config.getoption("--in-process") or self.config.getoption("usepdb")
            selection = Selection(syllabus, kind, dict.fromkeys(sorted(refs), "solution"))
            self.classrooms[root] = Classroom(selection, not in_process, alone=impl == "alone")
        return self.classrooms[root]

    def _wanted(self, items: list[pytest.Item]) -> set[str] | None:
        """The numbers that --exercise stands for; a number that nothing has is a usage error."""
        parts = self.config.getoption("--exercise")
        if not parts:
            return None
        roots = {root for folder in {item.path.parent for item in items} if (root := find_root(folder))}
        return {found.id for found in self._matching(roots, parts)}

    def _matching(self, roots: Iterable[Path], parts: list[str]) -> list[Exercise]:
        try:
            return [found for root in roots for part in parts for found in self.open(root).syllabus.matching(part)]
        except CourseError as error:
            raise usage_error(f"--exercise: {error}") from None

    def _use_solutions(self, selected: set[str]) -> None:
        """--use-solutions: what the selected tests stand on, and the student has not solved, is the reference's."""
        if not self.config.getoption("--use-solutions"):
            return
        for classroom in self.classrooms.values():
            syllabus, status = classroom.syllabus, classroom.progress.status
            needed = {part.id for ex in syllabus if ex.id in selected for part in syllabus.needed_by(ex)}
            borrowed = [
                part.id for part in syllabus if part.id in needed and status(part) in ("not started", "failing")
            ]
            kinds: dict[str, Kind] = {**classroom.selection.kinds, **dict.fromkeys(borrowed, "solution")}
            classroom.selection = dataclasses.replace(classroom.selection, kinds=kinds)


def usage_error(text: str) -> pytest.UsageError:
    """A wrong option, folded for what pytest prints in front of it."""
    lines = wrapped(text, shutil.get_terminal_size().columns, " " * len("ERROR: "))
    return pytest.UsageError("\n".join(lines).lstrip())


def exercise_id(item: pytest.Item) -> str:
    """The number of the exercise that a test belongs to; "" for none."""
    exercise = item.stash.get(EXERCISE, None)
    return exercise.id if exercise else ""

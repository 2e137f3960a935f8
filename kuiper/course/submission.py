"""A submission as a classroom: its own files in a sandbox, the tests of this checkout in front of them."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from kuiper.course.builder import utility
from kuiper.course.classroom import Classroom, UndoneError
from kuiper.course.cleanup import remove
from kuiper.course.errors import BuildError
from kuiper.course.implementation import Implementation
from kuiper.course.intake import is_written, submitted
from kuiper.course.limits import Limits
from kuiper.course.markers import without_functions
from kuiper.course.material import course_folders
from kuiper.course.phrases import phrase
from kuiper.course.places import folder
from kuiper.course.processes import PR_SET_DUMPABLE, adopt_orphans, end_below, guard, process_control
from kuiper.course.remote import Worker
from kuiper.course.sandbox import Sandbox, environment, other_user, prepared
from kuiper.course.selection import Selection
from kuiper.language import _

if TYPE_CHECKING:
    from collections.abc import Collection

    from kuiper.course.manifest import Exercise, Syllabus
    from kuiper.course.sandbox import Mode


NOT_HANDED_IN = phrase("not handed in")


def tests_files(home: Path) -> Path:
    """Where the tests of a submission write what its code is to read; the worker sees it, and cannot write there."""
    return home.parent / "files"


class SubmissionRoom(Classroom):
    """Every exercise gets a new process and a new folder to write in; it sees the submission and no solutions.

    ``home`` is where the submission has been taken in; what else its processes may read is lent beside it. An
    exercise is not punished for another one: where something it stands on has failed, it gets the reference of that,
    which by then can help nobody any more.
    """

    def __init__(
        self, syllabus: Syllabus, home: Path, mode: Mode, failed: Collection[str] = (), limits: Limits | None = None
    ) -> None:
        super().__init__(Selection(syllabus, "student", home=home))
        self.home, self.mode, self.limits = home, mode, limits or Limits()
        self.failed.update(failed)
        self.written = {part.id for part in syllabus if is_written(submitted(home, part))}
        self._user = other_user() if mode == "limits" else None
        self._current: str | None = None
        self._scratch: Path | None = None
        self._references: dict[str, Path] = {}
        self._lent = Path(tempfile.mkdtemp(prefix="lent-", dir=home.parent))
        for path in (self._lent, tests_files(home)):
            path.mkdir(exist_ok=True)
            path.chmod(0o755)
        if mode == "limits":
            process_control(PR_SET_DUMPABLE, 0)  # anyone who runs as the same user can neither trace this nor read it
        adopt_orphans()

    def selection_for(self, exercise: Exercise) -> Selection:
        paths = {part.id: submitted(self.home, part) for part in self.syllabus}
        for needed in self.syllabus.needed_by(exercise):
            if needed.id in self.failed or needed.id not in self.written:
                paths[needed.id] = self._reference(needed)
        return Selection(self.syllabus, "student", paths=paths, home=self.home)

    def implementation(
        self, exercise: Exercise, selection: Selection | None = None, seconds: float | None = None
    ) -> Implementation:
        if self._current != exercise.id:
            self.close()
            self._worker = self._new_worker(exercise)
            self._current = exercise.id
        return Implementation(exercise, selection or self.selection_for(exercise), self._worker, seconds)

    def check_ready(self, exercise: Exercise) -> None:
        if exercise.id not in self.written:
            self.failed.add(exercise.id)
            raise UndoneError("not started", _("{exercise} - not handed in").format(exercise=exercise.label))

    def reference_file(self, exercise: Exercise) -> Path | None:
        """Lent like that of an exercise which has failed: this one is asked for when it is solved, and helps nobody."""
        return self._reference(exercise) if exercise.solution_file.is_file() else None

    def lend(self, folder: Path) -> None:
        """pytest lets nobody else read a test's folder; a submission may run as somebody else."""
        files = tests_files(self.home)
        for path in (folder, *folder.parents):
            if self._user is None or path == files or not path.is_relative_to(files):
                break
            path.chmod(0o755)

    def close(self) -> None:
        """End the worker and whatever it has left behind, then remove what it wrote."""
        super().close()
        self._worker = self._current = None
        if self._scratch is not None:
            end_below(os.getpid())
            remove(self._scratch)
            self._scratch = None

    def _new_worker(self, exercise: Exercise) -> Worker:
        self._scratch = scratch = Path(tempfile.mkdtemp(prefix="scratch-", dir=self.home.parent))
        if any(part.is_cython for part in (exercise, *self.syllabus.needed_by(exercise))):
            self._lend_utility(scratch)
        if self._user is not None:
            for path in (scratch, *scratch.rglob("*")):
                os.chown(path, self._user, self._user)
        root = self.syllabus.root
        hidden = [root / name for name in ("tests", ".kuiper", ".git", "build")]
        hidden += [*(course.folder for course in self.syllabus.courses), *course_folders()]
        data = [course.folder / "data" for course in self.syllabus.courses if (course.folder / "data").is_dir()]
        given = (self.home, self._lent, tests_files(self.home), *data)
        sandbox = Sandbox(self.mode, given, scratch, tuple(hidden), self._covers(exercise), self._user)
        limit = prepared(self.limits, self.mode, self._user)
        return Worker(sandbox.command(), environment(scratch, self.mode), scratch, limit, guard(self.limits, scratch))

    def _lend_utility(self, scratch: Path) -> None:
        """Half a minute for each .pyx exercise is saved by what they all share, which nothing of theirs goes into."""
        with contextlib.suppress(BuildError):  # then the worker says the same
            binary = utility(folder(self.syllabus.root, "build"))
            if binary is not None:
                target = scratch / "state" / "build"
                target.mkdir(parents=True)
                shutil.copyfile(binary, target / binary.name)

    def _covers(self, exercise: Exercise) -> dict[Path, Path]:
        """Where a module of kuiper has an answer that is still asked for, the worker's kuiper has it without that."""
        package, exercises = Path(__file__).resolve().parents[1], list(self.syllabus)
        covers: dict[Path, Path] = {}
        for part in exercises[exercises.index(exercise) :]:
            if part.engine_file and part not in self.syllabus.needed_by(exercise):
                module = package.parent / part.engine_file
                covers[module] = self._lend("covers", part.id, module.name)
                text = without_functions(module.read_text(encoding="utf-8"), part.symbols, part.id)
                covers[module].write_text(text, encoding="utf-8")
        return covers

    def _reference(self, exercise: Exercise) -> Path:
        if exercise.id not in self._references:
            self._references[exercise.id] = self._lend("reference", exercise.id, exercise.file)
            shutil.copyfile(exercise.solution_file, self._references[exercise.id])
        return self._references[exercise.id]

    def _lend(self, kind: str, id_: str, name: str) -> Path:
        """A new file for a worker to read, in a folder that was not there before: nobody can have put a link there."""
        folder = Path(tempfile.mkdtemp(prefix=f"{kind}-{id_}-", dir=self._lent))
        folder.chmod(0o755)
        return folder / name

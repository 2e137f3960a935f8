"""What a wrong answer may come of: the known mistakes of an exercise, and the slips that nobody has put there.

Both are texts of a solution with something changed. A .pyx runs as Python here (``interpreted.py``): none is compiled.
"""

from __future__ import annotations

import ast
import hashlib
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from kuiper.course.bugs import may_show_in, patched, read_bugs
from kuiper.course.errors import CourseError
from kuiper.course.interpreted import interpreted
from kuiper.course.mutants import mutants, names_in
from kuiper.course.places import folder, folder_of_answers
from kuiper.course.state_file import keep_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from kuiper.course.manifest import Exercise

HEADER = """\
from pathlib import Path
from kuiper.course.builder import load_pyx
from kuiper.course.interpreted import constants, namespace
globals().update(namespace(constants({source!r}, load_pyx(Path({student!r}), Path({build!r})))))
"""


MAX_FILES = 500  # of suspects that are kept for each course


@dataclass(frozen=True)
class Suspect:
    """A mistake: what it says (after "this is what you get when"), its text, and the line of the solution it is in.

    The line of a known mistake is 0: each has words of its own.
    """

    when: str
    text: str
    line: int = 0

    def is_cython(self, exercise: Exercise) -> bool:
        """Whether the text is Cython; that of a slip is Python already."""
        return exercise.is_cython and not self.line

    def file(self, exercise: Exercise, student: Path) -> Path:
        """The mistake as a Python file; a .pyx needs the student's own module beside it, for the compiler's numbers."""
        root = exercise.course.parent
        text = self.text
        if self.is_cython(exercise):
            text = _as_python(text)
        if exercise.is_cython:
            build = folder(root, "build")
            source = exercise.solution_file.read_text(encoding="utf-8")
            text = HEADER.format(source=source, student=str(student), build=str(build)) + text
        name = hashlib.sha256(text.encode()).hexdigest()[:12]
        bank = folder_of_answers(root) / "bug-bank" / exercise.course.name / "suspects"
        path = bank / f"{exercise.solution_file.stem}_{name}.py"
        if not path.is_file():
            bank.mkdir(parents=True, exist_ok=True)
            _leave_room(bank)
            keep_text(path, text)
        return path


@lru_cache(maxsize=500)
def _as_python(text: str) -> str:
    """A known mistake in Cython as Python: each is asked for again for every test that it may explain."""
    return ast.unparse(interpreted(text))


def _leave_room(folder: Path) -> None:
    """Remove the files that were made first, if there are many."""
    files = sorted(folder.glob("*.py"), key=lambda path: path.stat().st_mtime) if folder.is_dir() else []
    for path in files[: max(len(files) - MAX_FILES, 0)]:
        path.unlink(missing_ok=True)


def known_mistakes(exercise: Exercise, function: str) -> list[Suspect]:
    """Those of the bank that a failure may be about, before anything was run.

    ``function`` is the one that the failure belongs to. A bug of another function may answer alike, but its own tests
    would have failed first. None where the bank cannot be read, which is its author's affair: the gates report it.
    """
    try:
        bugs = [bug for bug in read_bugs(exercise) if may_show_in(exercise, bug, function)]
        solution = exercise.solution_file.read_text(encoding="utf-8") if bugs else ""
        return [Suspect(bug.when, patched(solution, bug, bug.name)) for bug in bugs]
    except CourseError:
        return []


class Slips:
    """The slips of a solution, by their number; made again each time, as they change one tree."""

    def __init__(self, exercise: Exercise, student: Path, function: str) -> None:
        self.solution = exercise.solution_file.read_text(encoding="utf-8")
        self.known = names_in(student.read_text(encoding="utf-8", errors="replace"))
        self.function, self.is_cython = function, exercise.is_cython

    def suspects(self, numbers: Sequence[int], most: int) -> list[Suspect]:
        """Those with these numbers, the most natural first."""
        tree = interpreted(self.solution) if self.is_cython else ast.parse(self.solution)
        wanted = set(numbers)
        found: list[Suspect] = []
        for number, mutant in enumerate(mutants(tree, self.solution, self.known, self.function)):
            if number in wanted and len(found) < most:
                with mutant.made():
                    found.append(Suspect(mutant.words, ast.unparse(tree), mutant.line))
        return found

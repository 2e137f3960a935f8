"""What a wrong answer may come of: the known mistakes of an exercise, and the slips that nobody has put there.

Both are texts of a solution with something changed, as Python: a .pyx, too (``interpreted.py``), so none is compiled.
"""

from __future__ import annotations

import ast
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kuiper.course.at_sight import at_sight
from kuiper.course.bugs import may_show_in, patched, read_bugs
from kuiper.course.errors import CourseError
from kuiper.course.interpreted import interpreted
from kuiper.course.mutants import mutants
from kuiper.course.names import names_in
from kuiper.course.phrases import code, phrase
from kuiper.course.places import folder, folder_of_answers
from kuiper.course.repairs import repairs, unread, wrong
from kuiper.course.state_file import as_table, keep_text, read_state, write_state

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.course.manifest import Exercise

HEADER = """\
from pathlib import Path
from kuiper.course.builder import load_pyx
from kuiper.course.interpreted import constants, namespace
globals().update(namespace(constants({source!r}, load_pyx(Path({student!r}), Path({build!r})))))
"""


MAX_LINES = 3  # in which slips may be that answer alike
MAX_FILES = 500  # of suspects that are kept for each course


@dataclass(frozen=True)
class Suspect:
    """A mistake: what it says (after "this is what you get when"), its text, and the line of the solution it is in.

    The text is Python, that of a .pyx, too. The line of a known mistake is 0: each has words of its own. ``rank`` says
    how natural a slip is, 0 the most. A text that ``is_right`` is the student's file with one place mended, in the line
    whose negative ``line`` is; one that ``is_certain`` is that file, in which the mistake shows.
    """

    when: str
    text: str
    line: int = 0
    rank: int = 0
    is_right: bool = False
    is_certain: bool = False

    def file(self, exercise: Exercise, student: Path) -> Path:
        """The mistake as a file; that of a .pyx needs the student's own module, for the compiler's numbers."""
        root = exercise.course.parent
        text = self.text
        if exercise.is_cython:
            build = folder(root, "build")
            source = exercise.solution_file.read_text(encoding="utf-8")
            text = HEADER.format(source=source, student=str(student), build=str(build)) + text
        name = hashlib.sha256(text.encode()).hexdigest()[:12]
        path = _bank(exercise) / f"{exercise.solution_file.stem}_{name}.py"
        if not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            _leave_room(path.parent)
            keep_text(path, text)
        return path


def _bank(exercise: Exercise) -> Path:
    return folder_of_answers(exercise.course.parent) / "bug-bank" / exercise.course.name / "suspects"


def _leave_room(folder: Path) -> None:
    """Remove the files that were made first, if there are many."""
    files = sorted(folder.glob("*.py"), key=lambda path: path.stat().st_mtime) if folder.is_dir() else []
    for path in files[: max(len(files) - MAX_FILES, 0)]:
        path.unlink(missing_ok=True)


def are_telling(slips: Sequence[Suspect]) -> bool:
    """Whether slips that answer alike are in few lines: an answer that comes of anything tells nothing of the mistake.

    An array of zeros is such an answer: whatever keeps a loop from its work leaves it.
    """
    return len({slip.line for slip in slips}) <= MAX_LINES


def known_mistakes(exercise: Exercise, function: str) -> list[Suspect]:
    """Those of the bank that a failure may be about, before anything was run.

    ``function`` is the one that the failure belongs to. A bug of another function may answer alike, but its own tests
    would have failed first. None where the bank cannot be read, which is its author's affair: the gates report it.
    To look for them, and to make Python of each, takes as long as to try them: they are kept.
    """
    path, of = _bank(exercise) / f"{exercise.solution_file.stem}-{function}.json", _digest(exercise)
    kept = as_table(read_state(path))
    if kept.get("of") == of and isinstance(kept.get("mistakes"), dict):
        return [Suspect(str(when), str(text)) for when, text in kept["mistakes"].items()]
    try:
        bugs = [bug for bug in read_bugs(exercise) if may_show_in(exercise, bug, function)]
        solution = exercise.solution_file.read_text(encoding="utf-8") if bugs else ""
        texts = {bug.when: patched(solution, bug, bug.name) for bug in bugs}
        mistakes = {when: as_python(exercise, text) for when, text in texts.items()}
    except (CourseError, SyntaxError):
        return []
    path.parent.mkdir(parents=True, exist_ok=True)
    write_state(path, {"of": of, "mistakes": mistakes})
    return [Suspect(when, text) for when, text in mistakes.items()]


def as_python(exercise: Exercise, text: str) -> str:
    """The text of a file of an exercise; a .pyx becomes Python."""
    return ast.unparse(interpreted(text)) if exercise.is_cython else text


def _digest(exercise: Exercise) -> str:
    """Of all that the known mistakes of an exercise are made of."""
    files = (exercise.bugs_file, exercise.solution_file, Path(interpreted.__code__.co_filename))
    texts = [file.read_bytes() if file.is_file() else b"" for file in files]
    return hashlib.sha256(repr((exercise.symbols, exercise.hints, texts)).encode()).hexdigest()


class Slips:
    """The slips of a solution, by their number; made again each time, as they change one tree.

    With ``own`` these are the repairs: the changes of the student's file in place of the solution.
    """

    def __init__(self, exercise: Exercise, student: Path, function: str, own: bool = False) -> None:
        text = student.read_text(encoding="utf-8", errors="replace")
        self.solution = exercise.solution_file.read_text(encoding="utf-8")
        self.text = text if own else self.solution
        self.known, self.own = names_in(text), own
        self.function, self.is_cython = function, exercise.is_cython

    def suspects(self, numbers: Sequence[int], most: int) -> list[Suspect]:
        """Those with these numbers, the most natural first."""
        tree = self._tree(self.text)
        changed = (
            repairs(tree, self.text, self.function, self.solution)
            if self.own
            else mutants(tree, self.text, self.known, self.function)
        )
        wanted = set(numbers)
        found: list[Suspect] = []
        for number, mutant in enumerate(changed):
            if len(found) == most:
                break
            if number in wanted:
                words, line, rank = mutant.words, mutant.line, mutant.rank
                if self.own:  # one place mends more naturally than several
                    words, line, rank = wrong(mutant), -line, rank + 2 * len(mutant.edits)
                with mutant.made():
                    found.append(Suspect(words, ast.unparse(tree), line, rank, self.own))
        return found

    def at_sight(self) -> list[Suspect]:
        """The student's file as it is, for each mistake that shows in it."""
        tree = self._tree(self.text)
        found = at_sight(tree, self.text, self.function, self._tree(self.solution))
        return [Suspect(words, ast.unparse(tree), -line, is_certain=True) for words, line in found.items()]

    def unread(self) -> list[Suspect]:
        """The student's file as it is, for each parameter that it does not use in this function, and should."""
        tree = self._tree(self.text)
        needless = unread(self._tree(self.solution), self.function)
        names = [(name, line) for name, line in unread(tree, self.function).items() if name not in needless]
        function = self.function.rpartition(".")[2]
        return [
            Suspect(
                phrase("{function} does not use {name}", function=code(function), name=code(name)),
                ast.unparse(tree),
                -line,
            )
            for name, line in names
        ]

    def _tree(self, text: str) -> ast.Module:
        return interpreted(text) if self.is_cython else ast.parse(text)

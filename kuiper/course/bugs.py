"""The bug bank: wrong implementations that students really write, as small patches on the solutions."""

from __future__ import annotations

import contextlib
import difflib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kuiper.course.errors import CourseError
from kuiper.course.markers import CLASS, FUNCTION, enclosing
from kuiper.course.places import folder, folder_of_answers
from kuiper.course.state_file import keep_text
from kuiper.course.toml import read_toml, tables
from kuiper.course.variants import changed_functions, common_text, module_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.course.manifest import Exercise


@dataclass(frozen=True)
class Bug:
    """A named mistake. ``when`` completes "this is what you get when ..."; ``edits`` turn the solution into it.

    ``seen_in`` is the function whose tests fail first, where that is not the one that holds the mistake; ``because``
    says why no test of the other one can come first.
    """

    name: str
    when: str
    edits: tuple[tuple[str, str], ...]
    seen_in: str = ""
    because: str = ""


def read_bugs(exercise: Exercise) -> list[Bug]:
    """The bugs of an exercise; none where it has no file.

    Raises
    ------
    CourseError
        If the file cannot be read, a bug lacks a key, or two share a name.
    """
    path = exercise.bugs_file
    if not path.is_file():
        return []
    bugs = [_bug(path, entry) for entry in tables(read_toml(path), "bug", str(path))]
    names = [bug.name for bug in bugs]
    for name in names:
        if names.count(name) > 1:
            raise CourseError(str(path), "bugs with names of their own", f"{name} twice")
    return bugs


def bug_file(exercise: Exercise, bug: Bug, among: Sequence[Bug] | None = None) -> Path:
    """The solution with the bug in it, as a file.

    ``among`` are all bugs of the exercise, which are read if they are not given. Those of a .pyx that change the same
    functions are compiled as one module, and the file is Python that takes the functions of this bug out of it.

    Raises
    ------
    CourseError
        If the patch does not fit, or there is no solution to patch.
    """
    solution = _solution(exercise)
    text = patched(solution, bug, str(exercise.bugs_file))
    root = exercise.course.parent
    bank = folder_of_answers(root) / "bug-bank" / exercise.course.name
    changed = changed_functions(solution, text) if exercise.is_cython else None
    if not changed:
        return _kept(bank / bug.name / exercise.file, text)
    together = _texts(solution, tuple(among or read_bugs(exercise)), changed)
    common, names = common_text(solution, tuple(together.values()))
    stem = Path(exercise.file).stem
    source = _kept(bank / f"{stem}-{'-'.join(sorted(changed))}" / exercise.file, common)
    own = names[list(together).index(bug.name)]
    return _kept(bank / bug.name / f"{stem}.py", module_text(own, source, folder(root, "build")))


def _kept(path: Path, text: str) -> Path:
    """A file with this text."""
    path.parent.mkdir(parents=True, exist_ok=True)
    keep_text(path, text)
    return path


@cache
def _texts(solution: str, bugs: tuple[Bug, ...], changed: frozenset[str]) -> dict[str, str]:
    """The texts of the bugs that change these functions, by name; a bug whose patch does not fit is left out."""
    found = {}
    for bug in bugs:
        with contextlib.suppress(CourseError):
            text = patched(solution, bug, bug.name)
            if changed_functions(solution, text) == changed:
                found[bug.name] = text
    return found


def patched(text: str, bug: Bug, where: str) -> str:
    """The text with the bug's edits made.

    Raises
    ------
    CourseError
        If what is to be replaced does not occur exactly once: a patch that does not fit any more.
    """
    for before, after in bug.edits:
        if text.count(before) != 1:
            found = f"{text.count(before)} times {before.splitlines()[0] if before else before!r}"
            raise CourseError(f"{where} bug {bug.name}", "text that occurs exactly once in the solution", found)
        text = text.replace(before, after)
    return text


def holders(exercise: Exercise, bug: Bug) -> set[str]:
    """The functions that hold a mistake, of those that the exercise has hints for.

    Raises
    ------
    CourseError
        If the patch does not fit, or there is no solution to patch.
    """
    text = _solution(exercise)
    before = text.splitlines()
    after = patched(text, bug, exercise.bugs_file.name).splitlines()
    found = set()
    for kind, first, last, *_ in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        for number in range(first, max(last, first + 1)) if kind != "equal" else ():
            line = before[number]
            function = FUNCTION.match(line) or CLASS.match(line)
            name = enclosing(before[:number], len(line) - len(line.lstrip()))
            found.add(".".join(filter(None, (name, function[2] if function else ""))))
    return {exercise.ladder(name).function for name in found if exercise.has_ladder(name)}


def may_show_in(exercise: Exercise, bug: Bug, function: str) -> bool:
    """Whether the first failure of a bug can belong to this function; a gate checks that it belongs to its holder.

    Raises
    ------
    CourseError
        If the patch does not fit.
    """
    homes = {bug.seen_in} if bug.seen_in else holders(exercise, bug)
    return not homes or function in homes


def _solution(exercise: Exercise) -> str:
    """The text that bugs are patches of; a class may have been handed none."""
    if not exercise.solution_file.is_file():
        raise CourseError(str(exercise.solution_file), "the solution that a bug is a patch of", "no such file")
    return exercise.solution_file.read_text(encoding="utf-8")


def _bug(path: Path, entry: dict[str, Any]) -> Bug:
    where = f"{path} bug {entry.get('name', '(without name)')}"
    edits = entry.get("edits", [entry])
    if not all(isinstance(entry.get(key), str) for key in ("name", "when")):
        raise CourseError(where, "a name, and what students did, as 'when'", sorted(entry))
    if ("seen_in" in entry) != ("because" in entry) or not all(
        isinstance(entry.get(key, ""), str) for key in ("seen_in", "because")
    ):
        raise CourseError(where, "'seen_in', a function, together with 'because', the reason", sorted(entry))
    if not isinstance(edits, list) or not edits or not all(_is_edit(edit) for edit in edits):
        raise CourseError(where, "'replace' and 'with', or a list of them as 'edits'", sorted(entry))
    pairs = tuple((edit["replace"], edit["with"]) for edit in edits)
    return Bug(entry["name"], entry["when"], pairs, entry.get("seen_in", ""), entry.get("because", ""))


def _is_edit(edit: Any) -> bool:
    return isinstance(edit, dict) and all(isinstance(edit.get(key), str) for key in ("replace", "with"))

"""``load_exercise("3.4")``: the module of an exercise, as one test body, a notebook or a later exercise asks for it."""

from __future__ import annotations

import hashlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING

from kuiper.course.builder import Mode, load_pyx
from kuiper.course.compile_errors import shown
from kuiper.course.errors import CommandError, ExerciseSyntaxError
from kuiper.course.phrases import phrase
from kuiper.course.places import folder
from kuiper.course.selection import Selection, active

if TYPE_CHECKING:
    from pathlib import Path

    from kuiper.course.manifest import Exercise


def load_exercise(id_: str, mode: Mode | None = None) -> ModuleType:
    """The module of an exercise: the student's, or the reference where the selection says so.

    It is loaded anew whenever its text, or the text of what it stands on, has changed: a notebook's cell only has to
    run again. ``mode`` is for .pyx: "safe" checks every index, "fast" does not; by default safe, and fast in the race.

    Raises
    ------
    CourseError
        If there is no such exercise.
    ExerciseSyntaxError
        If its file does not compile.
    """
    selection = active()
    return load(selection, selection.syllabus.exercise(id_), mode or selection.mode)


def load(selection: Selection, exercise: Exercise, mode: Mode = "safe") -> ModuleType:
    """The module that stands for an exercise in a selection; it must be the active one."""
    path = selection.path(exercise)
    if not path.is_file():
        hint = phrase("{command} writes it anew", command=f"kuiper reset {exercise.id}")
        raise CommandError(str(path), phrase("an exercise file"), phrase("no such file"), hint)
    if path.suffix == ".pyx":
        return load_pyx(path, folder(selection.syllabus.root, "build"), mode)
    name = _module_name(selection, exercise, path, mode)
    return sys.modules.get(name) or _load_python(name, path)


def _module_name(selection: Selection, exercise: Exercise, path: Path, mode: Mode) -> str:
    """The file's name and a hash of its text and of all the files that stand for what it stands on."""
    digest = hashlib.sha256(f"{path} {mode}".encode() + path.read_bytes())
    for needed in selection.syllabus.needed_by(exercise):
        other = selection.path(needed)
        digest.update(f"{other}".encode() + (other.read_bytes() if other.is_file() else b""))
    return f"{path.stem}_{digest.hexdigest()[:16]}"


def _load_python(name: str, path: Path) -> ModuleType:
    try:
        code = compile(path.read_bytes(), str(path), "exec")
    except SyntaxError as error:
        raise ExerciseSyntaxError(_syntax_error(error, path)) from None
    module = ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module  # before it runs: dataclasses look their own module up
    try:
        exec(code, module.__dict__)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _syntax_error(error: SyntaxError, path: Path) -> str:
    place = f"{shown(path)}:{error.lineno}:{error.offset}: {error.msg}"
    if not error.text:
        return place
    line = error.text.rstrip("\n")
    column = (error.offset or 1) - 1 - (len(line) - len(line.lstrip()))
    return f"{place}\n    {line.lstrip()}\n    {' ' * max(column, 0)}^"

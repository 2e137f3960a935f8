"""``load_exercise("3.4")``: the module of an exercise, as one test body, a notebook or a later exercise asks for it."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from kuiper.course.builder import Mode, load_pyx
from kuiper.course.compile_errors import shown
from kuiper.course.errors import CourseError, ExerciseSyntaxError
from kuiper.course.places import folder
from kuiper.course.selection import active


def load_exercise(id_: str, mode: Mode = "safe") -> ModuleType:
    """The module of an exercise: the student's, or the reference where the selection says so.

    It is loaded anew whenever its text has changed, so a notebook's cell only has to run again. ``mode`` is for .pyx:
    "safe" checks every index, "fast" does not.

    Raises
    ------
    CourseError
        If there is no such exercise.
    ExerciseSyntaxError
        If its file does not compile.
    """
    selection = active()
    return load_file(selection.path(selection.syllabus.exercise(id_)), selection.syllabus.root, mode)


def load_file(path: Path, root: Path, mode: Mode = "safe") -> ModuleType:
    """The module that a .py or .pyx makes; one text is loaded once."""
    if not path.is_file():
        raise CourseError(str(path), "an exercise file", "no such file", hint="kuiper course sync writes it anew")
    if path.suffix == ".pyx":
        return load_pyx(path, folder(root, "build"), mode)
    text = path.read_bytes()
    digest = hashlib.sha256(text + str(path).encode() + repr(active().paths).encode()).hexdigest()[:16]
    name = f"{path.stem}_{digest}"
    if name in sys.modules:
        return sys.modules[name]
    return _load_python(name, path, text)


def _load_python(name: str, path: Path, text: bytes) -> ModuleType:
    try:
        code = compile(text, str(path), "exec")
    except SyntaxError as error:
        raise ExerciseSyntaxError(_syntax_error(error, path)) from None
    spec = importlib.util.spec_from_loader(name, loader=None, origin=str(path))
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    module.__file__ = str(path)
    sys.modules[name] = module
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

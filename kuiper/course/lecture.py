"""What a lecture says about exercises.

    from kuiper.course.lecture import exercise, task
    if mine := exercise("3.4"):          your own function, once your tests pass; until then a line that says what to do
        grid(mine.im2col(...))
    exercise_or_reference("5.10")        your own functions, or those of the reference, and the line says that, too
    task("3.4", "stride-ignored")        the exercise that a section prepares, and what goes wrong there
    terminal("kuiper hint 3.4")          what a command prints

All of it is read from the manifest and the bug bank, so that it stays true. Where there is no C compiler, a notebook
that has imported this leaves out the cells that need one.
"""

from __future__ import annotations

import hashlib
import shlex
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.course.builder import load_pyx
from kuiper.course.cells import filter_cells
from kuiper.course.importer import load_exercise
from kuiper.course.in_place import command_here
from kuiper.course.material import PACKAGED
from kuiper.course.places import folder, lecture_root, python_environment
from kuiper.course.progress import Progress
from kuiper.course.selection import Selection, active, selected
from kuiper.course.state_file import keep_text
from kuiper.course.task_box import Task, task_box
from kuiper.graph import RuntimeGraph, pnnx
from kuiper.language import _
from kuiper.layers import registry
from kuiper.machine.processes import has_processes

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

    from kuiper.course.manifest import Exercise


IN_A_LECTURE = {"COLUMNS": "96", "NO_COLOR": "1"}


def exercise(id_: str) -> ModuleType | None:
    """The module of an exercise whose tests pass; else None, and one friendly line.

    Raises
    ------
    CourseError
        If there is no such exercise.
    """
    selection = active()
    part = selection.syllabus.exercise(id_)
    if not is_solved(selection, part):
        if selection.syllabus.root == PACKAGED:
            words = _("not yet: {exercise}. kuiper course start writes the exercises into a folder of your own")
        else:
            words = _("not yet: {exercise}. Your turn: {command}")
        command = f"python -m pytest {part.course.name} --exercise {part.id}"
        print(words.format(exercise=part.label, command=command))
        return None
    return load_exercise(id_)


def exercise_or_reference(id_: str) -> ModuleType:
    """The module of an exercise whose tests pass; else that of the reference, and two lines that say so.

    Raises
    ------
    CourseError
        If there is no such exercise.
    """
    if own := exercise(id_):
        return own
    print(_("Until then the reference stands in its place."))
    selection = active()
    with selected(replace(selection, kinds={**selection.kinds, id_: "solution"})):
        return load_exercise(id_)


def is_solved(selection: Selection, part: Exercise) -> bool:
    """Whether what stands for an exercise is known to be right, and all that it stands on."""
    kind = selection.kind_of(part)
    if kind != "student":
        return kind == "solution"
    progress = Progress(selection.syllabus.root)
    return all(progress.status(each) == "solved" for each in [part, *selection.syllabus.needed_by(part)])


def task(id_: str, *mistakes: str) -> Task:
    """The exercise that a section prepares, and the bugs of its bank, by name, that the section wants to warn of.

    Raises
    ------
    CourseError
        If there is no such exercise, or no such bug.
    """
    return task_box(active().syllabus, id_, *mistakes)


def cython(source: str) -> ModuleType:
    """The module that a few lines of Cython make, compiled to be fast; a text that was compiled before is only loaded.

    Raises
    ------
    ExerciseSyntaxError
        If it does not compile.
    BuildError
        If Cython or a C compiler is missing.
    """
    root = lecture_root()
    path = folder(root, "lectures", hashlib.sha256(source.encode()).hexdigest()[:16]) / "demonstration.pyx"
    keep_text(path, source)
    return load_pyx(path, folder(root, "build"), "fast")


def operator(type_: str, *inputs: Any, weights: dict[str, Any] | None = None, **settings: object) -> np.ndarray:
    """What an operator of this type makes of these inputs: a file with this one line, run as it stands.

    >>> operator("nn.MaxPool2d", [[[[1.0, 2.0], [3.0, 4.0]]]], kernel_size=(2, 2)).ravel().tolist()
    [4.0]
    >>> operator("nn.Linear", [[1.0, 2.0]], in_features=2, out_features=1, bias=False,
    ...          weights={"weight": [[10, 1]]}).ravel().tolist()
    [12.0]
    """
    arrays = {name: np.asarray(weight, np.float32) for name, weight in (weights or {}).items()}
    fields = [f"{name}={_spelled(value)}" for name, value in settings.items()]
    fields += [f"@{name}=({','.join(map(str, array.shape))})f32" for name, array in arrays.items()]
    names = [f"x{i}" for i in range(len(inputs))]
    lines = [f"pnnx.Input {name} 0 1 {name}" for name in names]
    lines += [" ".join([type_, "operator", str(len(names)), "1", *names, "y", *fields]), "pnnx.Output out 1 0 y"]
    file = "\n".join(["7767517", f"{len(lines)} {len(names) + 1}", *lines, ""])
    parsed = pnnx.parse_param(file, "lecture")
    for name, array in arrays.items():
        parsed.operator("operator").attrs[name].data = array
    graph = RuntimeGraph(parsed)
    graph.build(registry, optimize=False)
    return np.asarray(graph.forward(*(np.asarray(x, np.float32) for x in inputs)))


def _spelled(value: object) -> str:
    """A setting as a file spells it: lists without blanks."""
    return str(value).replace(" ", "")


def terminal(command: str, where: Path | None = None) -> None:
    """Run a command as in a terminal (``where``: by default the root of the courses), and print what it prints.

    ``python`` and ``kuiper`` are those of this notebook, whatever the PATH says.
    """
    where = where or lecture_root()
    words = shlex.split(command)
    if not has_processes():
        _, text = command_here(words, where, IN_A_LECTURE)
        print(f"$ {command}\n{text.rstrip()}")
        return
    programs = {"python": [sys.executable], "kuiper": [sys.executable, "-m", "kuiper"]}
    words = [*programs.get(words[0], words[:1]), *words[1:]]
    environment = {**python_environment(), **IN_A_LECTURE, "PYTHONIOENCODING": "utf-8"}
    for name in ("KUIPER_IMPL", "FORCE_COLOR"):  # Jupyter asks for colours, which a stored text shows as codes
        environment.pop(name, None)
    ran = subprocess.run(
        words,
        cwd=where,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    print(f"$ {command}\n{ran.stdout.rstrip()}")


filter_cells(lambda: cython("answer = 42\n"))

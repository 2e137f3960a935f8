"""Where an image goes in kuiper, and where an exercise goes: tables that are written by tracing a run.

    python -m tests.stations            writes them into docs/inside/engine.md and docs/teach/write-an-exercise.md
    python -m tests.stations --check    says whether they are what a run gives now

A *station* is a public function of kuiper that is called out of another file. It is called at most twice in its part of
the run, so not once for each operator or weight; it lies at most this many files away from what the user called; and it
calls functions of other files, or has five statements. Where one file calls functions in three files of a folder below
its own, as the engine calls its kernels, they are one row. What a station does is the first sentence of its docstring.

Python's profiler does not see compiled functions: ``Recorded`` notes those of a plan.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import os
import re
import sys
import tempfile
from difflib import unified_diff
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

import kuiper
from kuiper.course.bugs import patched, read_bugs
from kuiper.course.handout import start
from kuiper.course.manifest import read_syllabus
from kuiper.engine import compile as compiling
from kuiper.engine.program import Program
from kuiper.models import bundled

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import FrameType

ROOT = Path(__file__).parents[1]
PACKAGE = str(ROOT / "kuiper") + os.sep
IMAGE_PAGE, EXERCISE_PAGE = ROOT / "docs" / "inside" / "engine.md", ROOT / "docs" / "teach" / "write-an-exercise.md"
MARK = "<!-- stations -->"
MAX_CALLS = 2
FEWEST_STATEMENTS = 5
FEWEST_FILES = 3
NAMES_SHOWN = 5

MODEL = "cifar_resnet20"
EXERCISE, BUG, TEST = "3.7", "end-rounded-down", "course3_layers/test_adaptive_pooling.py::test_windows[7-3-expected1]"


class Function(NamedTuple):
    """A function, where it stands, what its docstring says first, and how many statements it has."""

    file: str
    name: str
    sentence: str
    statements: int

    @property
    def folder(self) -> str:
        return os.path.dirname(self.file)


class Call(NamedTuple):
    """Who called a function first, out of another file, and in how many files the calls stand that lead there."""

    caller: str
    depth: int


@cache
def functions(file: str) -> dict[tuple[int, str], Function]:
    """The functions and methods of a file by name and first line, as code objects have it: that of a decorator."""
    found = {}
    tree = ast.parse(Path(file).read_text(encoding="utf-8"))
    for scope in [tree, *(node for node in tree.body if isinstance(node, ast.ClassDef))]:
        for node in scope.body:
            if isinstance(node, ast.FunctionDef):
                first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
                name = node.name if isinstance(scope, ast.Module) else f"{scope.name}.{node.name}"
                text = ast.get_docstring(node) or ast.get_docstring(scope) or ""
                statements = sum(isinstance(each, ast.stmt) for each in ast.walk(node)) - 1
                found[first, node.name] = Function(
                    file, name.removesuffix(".__init__"), first_sentence(text), statements
                )
    return found


def first_sentence(text: str) -> str:
    """Of the first paragraph, up to a full stop or a semicolon.

    >>> first_sentence("A plan, which is\\n    kept; it runs.")
    'A plan, which is kept'
    """
    return re.split(r"[.;](?:\s|$)", " ".join(text.split("\n\n")[0].split()))[0].removesuffix(":")


class Trace:
    """The public functions of kuiper that this thread calls, in the order of their first calls."""

    def __init__(self) -> None:
        self.count: dict[Function, int] = {}
        self.first: dict[Function, Call] = {}
        self.calls_others: set[Function] = set()

    def __enter__(self) -> Trace:
        sys.setprofile(self._event)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def _event(self, frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            function = function_of(frame)
            if function is not None:
                self.note(function, waiting(frame.f_back))

    def note(self, function: Function, callers: list[FrameType]) -> None:
        """A call of a function; the calls of kuiper that wait for it, the latest first."""
        files = [function.file, *(frame.f_code.co_filename for frame in callers)]
        if is_public(function.name):
            self.count[function] = self.count.get(function, 0) + 1
        if files[1:2] == files[:1]:
            return
        for frame in callers:  # those in the caller's file, the private ones too, lead out of it
            if frame.f_code.co_filename != files[1]:
                break
            self.calls_others.update(filter(None, [function_of(frame)]))
        if is_public(function.name):
            self.first.setdefault(function, Call("".join(files[1:2]), len(list(groupby(files)))))

    def rows(self, depth: int) -> list[list[Function]]:
        """A list for each row: a station, or what one file calls in a folder below its own."""
        groups: dict[object, list[Function]] = {}
        for function, (caller, _) in self.first.items():
            below = bool(caller) and function.folder.startswith(os.path.dirname(caller) + os.sep)
            groups.setdefault((caller, function.folder) if below else function, []).append(function)
        rows = []
        for group in groups.values():
            if len({function.file for function in group}) >= FEWEST_FILES:
                rows.append(group)
            else:
                rows += [[function] for function in group if self.is_station(function, depth)]
        places = list(self.first)
        return sorted(rows, key=lambda row: places.index(row[0]))

    def is_station(self, function: Function, depth: int) -> bool:
        leads_on = function in self.calls_others or function.statements >= FEWEST_STATEMENTS
        return leads_on and self.count[function] <= MAX_CALLS and self.first[function].depth <= depth


def is_public(name: str) -> bool:
    return not any(part.startswith("_") for part in name.removesuffix(".__call__").split("."))


def function_of(frame: FrameType) -> Function | None:
    """The function that a frame runs, if it is one of kuiper's at the top of a file or of a class."""
    code = frame.f_code
    if not code.co_filename.startswith(PACKAGE):
        return None
    return functions(code.co_filename).get((code.co_firstlineno, code.co_name))


def waiting(frame: FrameType | None) -> list[FrameType]:
    """The calls of kuiper's functions that have not returned, the latest first."""
    found = []
    while frame is not None:
        if frame.f_code.co_filename.startswith(PACKAGE):
            found.append(frame)
        frame = frame.f_back
    return found


class Recorded(Program):
    """A program that notes its run, and whose kernels it runs, in ``trace``."""

    trace = Trace()

    def run(self, *arguments: Any) -> None:
        own = compiled(Program)
        self.trace.note(own, waiting(sys._getframe()))
        for kind in dict.fromkeys(type(step) for step in self.steps):
            kernel = compiled(kind)
            self.trace.count[kernel] = 1
            self.trace.first.setdefault(kernel, Call(own.file, self.trace.first[own].depth + 1))
        super().run(*arguments)


def compiled(kind: type) -> Function:
    """The function ``run`` of a compiled class."""
    file = ROOT / f"{kind.__module__.replace('.', os.sep)}.pyx"
    head = re.search(r'"""(.*?)"""', file.read_text(encoding="utf-8"), re.DOTALL)
    return Function(str(file), f"{kind.__name__}.run", first_sentence(head[1] if head else ""), FEWEST_STATEMENTS)


def table(rows: Iterable[list[Function]], page: Path) -> str:
    """The rows in Markdown, with links from a page; one of several functions tells of their folder."""
    lines = ["| station | function | file |", "|---|---|---|"]
    for row in rows:
        names = ", ".join(f"`{function.name}`" for function in row[:NAMES_SHOWN])
        more = f" and {len(row) - NAMES_SHOWN} more" if len(row) > NAMES_SHOWN else ""
        path, sentence = Path(row[0].file), row[0].sentence
        if len(row) > 1:
            path = path.parent
            sentence = first_sentence(ast.get_docstring(ast.parse((path / "__init__.py").read_text("utf-8"))) or "")
        link = f"[{path.relative_to(PACKAGE).as_posix()}]({Path(os.path.relpath(path, page.parent)).as_posix()})"
        lines.append(f"| {sentence} | {names}{more} | {link} |")
    return "\n".join(lines)


def image_tables() -> str:
    """Loading, the first call, and a later call; ``reproducible`` makes the same plan on every machine."""
    path, x = bundled(MODEL), np.zeros((1, 3, 32, 32), np.float32)
    kuiper.load(path, reproducible=True)(x)  # what is made once in a process
    with Trace() as loading:
        model = kuiper.load(path, reproducible=True)
    with recording() as first:
        model(x)
    with recording() as later:
        model(x)
    every_time = later.rows(depth=5)
    only_first = [row for row in first.rows(depth=5) if row not in every_time]
    return (
        f"`kuiper.load(path)`:\n\n{table(loading.rows(depth=4), IMAGE_PAGE)}\n\n"
        f"The first call with a shape makes a plan:\n\n{table(only_first, IMAGE_PAGE)}\n\n"
        f"Every call, `model(x)`:\n\n{table(every_time, IMAGE_PAGE)}"
    )


@contextlib.contextmanager
def recording() -> Iterator[Trace]:
    """A trace that has the compiled functions, too, of plans that are made in it or have been."""
    trace = Recorded.trace = Trace()
    compiling.Program = Recorded
    try:
        with trace:
            yield trace
    finally:
        compiling.Program = Program


def exercise_table() -> str:
    """One test of one exercise with one bug, in a student's folder."""
    exercise = read_syllabus(ROOT).exercise(EXERCISE)
    bug = next(bug for bug in read_bugs(exercise) if bug.name == BUG)
    before, printed = Path.cwd(), io.StringIO()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "kuiper-course"
        start(folder, solutions=False)
        answer = patched(exercise.solution_file.read_text(encoding="utf-8"), bug, str(exercise.bugs_file))
        (folder / exercise.student_file.relative_to(ROOT)).write_text(answer, encoding="utf-8")
        os.chdir(folder)
        os.environ["XDG_CACHE_HOME"] = name  # no answer that an earlier run has kept
        try:
            with contextlib.redirect_stdout(printed), Trace() as trace:
                pytest.main([TEST, "-p", "no:cacheprovider"])
        finally:
            os.chdir(before)
    if "likely: " not in printed.getvalue():
        raise RuntimeError(f"{TEST}: expected a diagnosis, got {printed.getvalue()}")
    return table(trace.rows(depth=2), EXERCISE_PAGE)


def pages() -> dict[Path, str]:
    """Both pages as they should be."""
    found = {}
    for page, text in ((IMAGE_PAGE, image_tables()), (EXERCISE_PAGE, exercise_table())):
        before, _, after = page.read_text(encoding="utf-8").split(MARK)
        found[page] = f"{before}{MARK}\n\n{text}\n\n{MARK}{after}"
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.stations")
    parser.add_argument("--check", action="store_true", help="write nothing; print what differs")
    if not parser.parse_args().check:
        for page, text in pages().items():
            page.write_text(text, encoding="utf-8")
        return 0
    differences = []
    for page, text in pages().items():
        stored = page.read_text(encoding="utf-8").splitlines()
        differences += unified_diff(stored, text.splitlines(), page.name, "a run", lineterm="")
    print("\n".join(differences))
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())

"""Without processes, as in a browser's tab: a student's code, the tests and the commands run in the process at hand.

A crash takes this process along, and so does a loop in compiled code that never ends: whatever runs this process, such
as a page, is to start another one then. A loop in Python is ended here, as ``Deadline`` says.
"""

from __future__ import annotations

import contextlib
import io
import os
import runpy
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kuiper.course.manifest import read_syllabus
from kuiper.course.observation import NO_ANSWER_WITHIN, Observation, Raised, changes
from kuiper.course.quiet import own_wait
from kuiper.course.remote import call_key
from kuiper.course.selection import Selection
from kuiper.course.worker import answer
from kuiper.machine.processes import need_processes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from types import CodeType

    from kuiper.course.manifest import Syllabus

DEADLINE_TOOL = 4  # of Python's six tools that may watch code: debuggers, coverage and profilers have others
OWN_FOLDERS = frozenset({"exercises", "solutions", "skeletons", "bug-bank"})
TEST_FOLDER_MARK = "course.toml"


class EndlessLoop(BaseException):
    """A call has taken longer than it may; no ``except Exception`` of a student's holds it up."""


class InPlace:
    """Stands where ``remote.Worker`` does, and answers the same calls in this process."""

    def __init__(self) -> None:
        self._syllabuses: dict[str, Syllabus] = {}
        self._endless: dict[tuple[str, str, bytes], Raised] = {}

    def call(self, request: dict[str, Any], timeout: float) -> Observation:
        """Make one call. A loop in Python that does not end is an observation like any other, and is met once only."""
        key = call_key(request)
        if key in self._endless:
            return Observation(raised=self._endless[key])
        seen = self._answer(request, timeout)
        if seen.raised and seen.raised.type == EndlessLoop.__name__:
            self._endless[key] = seen.raised
        seen.changed = changes(request["args"], request["kwargs"], seen.changed)
        return seen

    def trial(self, request: dict[str, Any], timeout: float) -> Any:
        """Make one call on many variants of a solution (``trial.py``); None if they take too long."""
        seen = self._answer(request, timeout)
        return None if seen.raised else seen.value

    def _answer(self, request: dict[str, Any], timeout: float) -> Observation:
        root = request["root"]
        if root not in self._syllabuses:
            self._syllabuses[root] = read_syllabus(Path(root))
        paths = {id_: Path(path) for id_, path in request["paths"].items()}
        selection = Selection(self._syllabuses[root], paths=paths, mode=request["mode"])
        if request["function"]:  # compiled first, which may take its time
            loaded = answer(selection, {**request, "function": "", "probe": ""})
            if loaded.raised:
                return loaded
        try:
            with deadline(timeout):
                return answer(selection, request)
        except EndlessLoop:
            words = NO_ANSWER_WITHIN.format(seconds=f"{timeout:.0f}")
            return Observation(raised=Raised("EndlessLoop", ("EndlessLoop",), words))

    def seconds_without_core(self) -> float:
        """How long this process was ready to run while others had the cores."""
        return own_wait()

    def stop(self) -> None:
        """There is nothing to end."""


@contextlib.contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Within this block, Python code of exercises that jumps back after so many seconds raises EndlessLoop.

    Python asks at each jump (``sys.monitoring``, Python 3.12); before, and in compiled code, nothing ends a loop.
    """
    watch: Any = getattr(sys, "monitoring", None)
    if watch is None or watch.get_tool(DEADLINE_TOOL) is not None:  # the inner one of two: the outer one's time holds
        yield
        return
    end = time.monotonic() + seconds

    own: dict[str, bool] = {}  # whether a file is an exercise's

    def jumped(code: CodeType, place: int, target: int) -> object:
        file = code.co_filename
        if file not in own:
            own[file] = not OWN_FOLDERS.isdisjoint(Path(file).parts)
        if not own[file]:
            return watch.DISABLE
        if target <= place and time.monotonic() > end:
            raise EndlessLoop
        return None

    watch.use_tool_id(DEADLINE_TOOL, "kuiper's deadline")
    watch.register_callback(DEADLINE_TOOL, watch.events.JUMP, jumped)
    watch.restart_events()
    watch.set_events(DEADLINE_TOOL, watch.events.JUMP)
    try:
        yield
    finally:
        watch.set_events(DEADLINE_TOOL, 0)
        watch.register_callback(DEADLINE_TOOL, watch.events.JUMP, None)
        watch.free_tool_id(DEADLINE_TOOL)


def pytest_here(words: Sequence[str], root: Path) -> int:
    """pytest with these words (``pytest_command``'s, from its first option on) in a folder; its exit code.

    Raises
    ------
    KeyboardInterrupt
        Behind its report, if it was interrupted.
    """
    import pytest

    interrupts = Interrupts()
    with working_in(root, {}):
        forget_tests(root)
        try:
            code = int(pytest.main(list(words), [interrupts]))
        finally:
            forget_tests(root)
    if interrupts.seen:
        raise KeyboardInterrupt
    return code


class Interrupts:
    """A plugin of pytest that notes whether somebody ends the run: pytest itself calls broken test files so, too."""

    def __init__(self) -> None:
        self.seen = False

    def pytest_keyboard_interrupt(self, excinfo: Any) -> None:
        self.seen = excinfo.type is KeyboardInterrupt


def forget_tests(root: Path) -> None:
    """Let the next run of pytest import the tests below ``root`` anew; all else, modules of a .pyx too, stays."""
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if not file or not file.endswith(".py") or not file.startswith(f"{root}{os.sep}"):
            continue
        path = Path(file)
        is_test = path.name == "conftest.py" or path.name.startswith("test_")
        if is_test and (path.parent == root or (path.parent / TEST_FOLDER_MARK).is_file()):
            del sys.modules[name]


def command_here(words: Sequence[str], where: Path, variables: Mapping[str, str]) -> tuple[int, str]:
    """Run ``kuiper ...``, ``python -m kuiper ...`` or ``python -m pytest ...``; its exit code and all that it prints.

    Raises
    ------
    ExecutionError
        If it is another program.
    """
    text = io.StringIO()
    with working_in(where, variables), contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
        match list(words):
            case ["kuiper", *rest] | ["python", "-m", "kuiper", *rest]:
                code = ended(partial(_program, rest))
            case ["pytest", *rest] | ["python", "-m", "pytest", *rest]:
                code = ended(lambda: pytest_here(rest, where))
            case _:
                need_processes(" ".join(words), "for programs other than kuiper and pytest")
                raise AssertionError("this is only for systems without processes")
    return code, text.getvalue()


def _program(words: Sequence[str]) -> int:
    """``python -m kuiper``, which never returns but by SystemExit."""
    before, sys.argv = sys.argv, ["kuiper", *words]
    try:
        runpy.run_module("kuiper", run_name="__main__", alter_sys=False)
    finally:
        sys.argv = before
    return 0


def ended(act: Callable[[], int]) -> int:
    """The exit code of a command, also of one that leaves by SystemExit."""
    try:
        return int(act())
    except SystemExit as error:  # a wrong usage, or --help
        return error.code if isinstance(error.code, int) else int(error.code is not None)


@contextlib.contextmanager
def working_in(where: Path, variables: Mapping[str, str]) -> Iterator[None]:
    """Within this block, this process has another working directory and environment."""
    before, here = dict(os.environ), Path.cwd()
    os.chdir(where)
    os.environ.update(variables)
    try:
        yield
    finally:
        os.chdir(here)
        os.environ.clear()
        os.environ.update(before)

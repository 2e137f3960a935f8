"""The classroom without processes, as in a browser's tab: the scripts run where none can be started, nor a thread."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from kuiper.course import c_modules
from kuiper.course.builder import load_pyx
from kuiper.course.errors import BuildError, ExerciseSyntaxError
from kuiper.course.in_place import InPlace, command_here, deadline
from kuiper.course.local_arrays import with_checked_stores
from kuiper.course.places import python_environment
from kuiper.course.selection import Selection
from kuiper.errors import ExecutionError
from kuiper.machine.processes import VARIABLE
from tests.course.made_up import solve

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from kuiper.course.manifest import Syllabus

ALONE = """
import os, subprocess, sys, threading

def refuse(*words, **options):
    raise OSError(138, "emscripten does not support processes.")

subprocess.Popen.__init__ = refuse
os.fork = os.posix_spawn = refuse
threading.Thread.start = refuse
from kuiper.cli import main
"""
HAS_MONITORING = pytest.mark.skipif(
    not hasattr(sys, "monitoring"), reason="before Python 3.12 nothing ends such a loop"
)


@pytest.fixture
def no_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "none")


def alone(syllabus: Syllabus, script: str) -> str:
    """What a script prints in a process that cannot start others."""
    environment = {**python_environment(), VARIABLE: "none", "COLUMNS": "100", "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, "-c", ALONE + script]
    done = subprocess.run(command, cwd=syllabus.root, env=environment, capture_output=True, encoding="utf-8")
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout + done.stderr


def test_check_runs_the_tests_in_place_each_time_anew(syllabus: Syllabus) -> None:
    solve(syllabus, "1.1", ("x * 2", "x * x"))
    text = alone(
        syllabus,
        """
print(main(["check", "1.1"]))
path = "course1_made_up/exercises/double.py"
text = open(path).read()
open(path, "w").write(text.replace("x * x", "x * 2"))
print(main(["check", "1.1"]))
open("course1_made_up/test_double.py", "a").write("\\n\\ndef test_more(impl):\\n    assert False\\n")
print(main(["check", "1.1"]))
""",
    )
    first, second, third = text.split("next: 1.")[:3]
    assert "expected 6" in first
    assert "got      9" in first
    assert "likely: this is what you get when x is squared" in first
    assert first.count("1.1 double - 0 of 2 tests pass") == 1
    assert "1/2 solved" in second
    assert "test_more" in third


def test_watch_tests_once_and_leaves_the_rest_to_the_page(syllabus: Syllabus) -> None:
    solve(syllabus, "1.1")
    text = alone(syllabus, 'print(main(["watch", "1.1"]))')
    assert "2 passed" in text
    assert text.rstrip().endswith("here the page runs the tests at each save\n0")


@HAS_MONITORING
def test_check_names_a_loop_that_never_ends(syllabus: Syllabus) -> None:
    solve(syllabus, "1.1", ("result = x * 2 + 0", "while True:\n        x += 1\n    result = x"))
    text = alone(syllabus, 'main(["check", "1.1"])')
    assert "EndlessLoop: no answer within 2 seconds" in text


def test_hint_and_progress_need_no_process(syllabus: Syllabus) -> None:
    text = alone(syllabus, 'main(["hint", "1.1"]); main(["hint", "1.1"]); main(["progress"])')
    assert "what is twice?" in text
    assert "see the lecture" in text
    assert "next: 1.1 double" in text


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["grade", "."], "submissions: expected a system with processes that hold a submission's code apart"),
        (["convert", "model.pt"], "conversion: expected a system with processes in which the converters run"),
        (["course", "gates"], "gates: expected a system with processes that run what courses have"),
    ],
)
def test_what_needs_processes_is_one_error(syllabus: Syllabus, words: list[str], error: str) -> None:
    text = alone(syllabus, f"print(main({words!r}))")
    assert text.startswith("1\n")
    assert error in text


def test_terminal_shows_what_commands_print(syllabus: Syllabus) -> None:
    text = alone(
        syllabus,
        """
from pathlib import Path
from kuiper.course.lecture import terminal
terminal("kuiper hint 1.1", Path.cwd())
terminal("python -m pytest course1_made_up --exercise 1.1 -q", Path.cwd())
""",
    )
    assert "$ kuiper hint 1.1\n1.1 double, hint 1 of 4\nwhat is twice?" in text
    assert "$ python -m pytest course1_made_up --exercise 1.1 -q\n" in text
    assert "1.1 double - not started" in text


@pytest.mark.usefixtures("no_processes")
def test_command_here_refuses_other_programs(tmp_path: Path) -> None:
    with pytest.raises(ExecutionError, match="ls -l: expected a system with processes for programs other than kuiper"):
        command_here(["ls", "-l"], tmp_path, {})


def test_command_here_leaves_folder_and_environment_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    code, text = command_here(["kuiper", "--version"], tmp_path, {"COLUMNS": "40"})
    assert (code, text.split()[0]) == (0, "kuiper")
    import os
    from pathlib import Path

    assert Path.cwd() != tmp_path
    assert "COLUMNS" not in os.environ


def request(syllabus: Syllabus, *args: Any) -> dict[str, Any]:
    """A call of double, as an implementation asks for it."""
    paths = Selection(syllabus).all_paths
    named = {"paths": paths, "exercise": "1.1", "mode": "safe", "function": "double", "probe": ""}
    return {"root": str(syllabus.root), **named, "args": args, "kwargs": {}}


def test_in_place_sees_values_errors_and_changed_arguments(syllabus: Syllabus) -> None:
    solve(syllabus, "1.1")
    worker = InPlace()
    assert worker.call(request(syllabus, 3), 2.0).value == 6
    solve(syllabus, "1.1", ("result = x * 2 + 0", "x[0] = 5\n    result = len(x)"))
    seen = worker.call(request(syllabus, given := [1, 2]), 2.0)
    assert (seen.value, seen.changed, given) == (2, {0: [5, 2]}, [1, 2])
    solve(syllabus, "1.1", ("result =", "result ="), ("x * 2 + 0", "(("))
    raised = worker.call(request(syllabus, 3), 2.0).raised
    assert raised is not None
    assert raised.type == "ExerciseSyntaxError"


@HAS_MONITORING
def test_deadline_ends_no_other_code() -> None:
    with deadline(0.0):
        total = 0
        while total < 1000:
            total += 1
    assert total == 1000


@pytest.fixture
def system_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Sequence[str]]:
    """The system's compiler as the function that a page would hand over; its flags as they were asked for."""
    tool = c_modules.find_tool()
    if tool is None or sys.platform != "linux":
        pytest.skip("the test calls the compiler as Linux's are called")
    asked: list[Sequence[str]] = []

    def call(files: Mapping[str, str], flags: Sequence[str], name: str) -> bytes | str:
        asked.append(flags)
        for file, text in files.items():
            (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / file).write_text(text)
        made = tmp_path / f"{name}.made"
        flags = [flag for flag in flags if not flag.startswith("-fsanitize")]
        try:
            c_modules._call(tool, tmp_path / f"{name}.c", made, tmp_path, list(flags), check_arrays=False)
        except c_modules.RefusedError as error:
            return str(error)
        return made.read_bytes()

    monkeypatch.setattr(c_modules, "_used", [])
    c_modules.use("a compiler of the page's", call)
    monkeypatch.setenv(VARIABLE, "none")
    return asked


TWICE = "def twice(float[::1] x):\n    cdef Py_ssize_t i\n    for i in range(x.shape[0]):\n        x[i] *= 2\n"


def test_load_pyx_compiles_by_a_function(system_compiler: list[Sequence[str]], tmp_path: Path) -> None:
    path = tmp_path / "twice.pyx"
    path.write_text(TWICE)
    x = np.ones(3, np.float32)
    load_pyx(path, tmp_path).twice(x)
    assert x.tolist() == [2, 2, 2]
    assert "-fsanitize=array-bounds" in system_compiler[-1]
    load_pyx(path, tmp_path, "fast").twice(x)
    assert "-fsanitize=array-bounds" not in system_compiler[-1]


def test_load_pyx_tells_what_the_function_refuses(system_compiler: list[Sequence[str]], tmp_path: Path) -> None:
    path = tmp_path / "twice.pyx"
    path.write_text("cdef extern from 'nothing.h':\n    int none\n\ndef f():\n    return none\n")
    with pytest.raises(ExerciseSyntaxError, match=r"(?s)the C compiler refuses it.*nothing\.h"):
        load_pyx(path, tmp_path)


@pytest.mark.usefixtures("no_processes")
def test_load_pyx_without_a_compiler_says_who_brings_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(c_modules, "_used", [])
    path = tmp_path / "twice.pyx"
    path.write_text(TWICE)
    with pytest.raises(BuildError, match="expected a C compiler, got none; the page loads one"):
        load_pyx(path, tmp_path)


def test_with_checked_stores_changes_stores_only() -> None:
    code = "  (__pyx_v_s[__pyx_v_i]) = x;\n  if (__pyx_v_s[0]) f((__pyx_v_s[1]));\n  ((__pyx_v_s[0])[(1)]) += 1.0;\n"
    wanted = "  __pyx_v_s[__pyx_v_i] = x;\n  if (__pyx_v_s[0]) f((__pyx_v_s[1]));\n  __pyx_v_s[0][(1)] += 1.0;\n"
    assert with_checked_stores(code) == wanted
    assert with_checked_stores("  (__pyx_v_s[0]) == x;\n") == "  (__pyx_v_s[0]) == x;\n"

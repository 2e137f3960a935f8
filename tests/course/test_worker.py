from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

import numpy as np
import pytest

from kuiper.course.implementation import Implementation, StudentError
from kuiper.course.manifest import read_syllabus
from kuiper.course.remote import Worker
from kuiper.course.selection import Selection
from kuiper.course.testing import Mismatch, calling
from tests.course.made_up import made_up

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    worker = Worker()
    yield worker
    worker.stop()


def implementation(root: Path, worker: Worker | None, code: str, timeout: float = 2.0) -> Implementation:
    made_up(root)
    manifest = root / "course1_made_up" / "course.toml"
    manifest.write_text(manifest.read_text().replace("timeout = 2.0", f"timeout = {timeout}"))
    syllabus = read_syllabus(root)
    exercise = syllabus.exercise("1.1")
    exercise.student_file.write_text(code)
    return Implementation(exercise, Selection(syllabus), worker)


def double_twice(impl, x):  # type: ignore[no-untyped-def]
    return impl.double(impl.double(x))


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is said stands in one line, and can be looked for as a whole."""
    monkeypatch.setenv("COLUMNS", "400")


@pytest.mark.parametrize("where", ["here", "worker"])
def test_calls_give_values_wherever_they_run(tmp_path: Path, worker: Worker, where: str) -> None:
    code = (
        "def double(x):\n    return x * 2\n\ndef spoil(x):\n    x[0] = 7\n\n"
        "def count():\n    return (i for i in 'ab')\n"
    )
    impl = implementation(tmp_path, worker if where == "worker" else None, code)
    assert impl.double(3) == 6
    calling(impl.double, np.ones((2, 3))).gives(2 * np.ones((2, 3)))
    calling(double_twice, impl, 2).gives(8)
    out = np.zeros(2)
    calling(impl.spoil, out).fills(out, [7, 0])
    assert out.tolist() == [0, 0]
    with pytest.raises(Mismatch, match="argument 1 overwritten"):
        calling(impl.spoil, np.zeros(2)).gives(None)
    with pytest.raises(StudentError, match="there is no function missing in your file"):
        impl.missing(1)
    with pytest.raises(StudentError, match="expected a plain value"):
        impl.count()


@pytest.mark.parametrize("where", ["here", "worker"])
def test_errors_carry_the_students_line(tmp_path: Path, worker: Worker, where: str) -> None:
    impl = implementation(tmp_path, worker if where == "worker" else None, "def double(x):\n    return x / 0\n")
    calling(impl.double, 3).raises(ZeroDivisionError, "division")
    calling(impl.double, 3).raises(ArithmeticError)
    with pytest.raises(Mismatch, match=r"double.py:2: return x / 0"):
        calling(impl.double, 3).gives(6)
    with pytest.raises(Mismatch, match="expected ValueError"):
        calling(impl.double, 3).raises(ValueError)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("import os; os._exit(0)", "ended in the middle of the call"),
        ("import ctypes; ctypes.string_at(0)", "segmentation fault"),
        ("while True: pass", "no answer within 1 seconds"),
        ("raise SystemExit", "SystemExit"),
        (
            "import sys; sys.setrecursionlimit(10**9); return double(x)",
            "segmentation fault|recursion|Memory|Crash|EndlessLoop",
        ),
    ],
)
def test_a_death_is_one_failure_and_the_next_call_works(tmp_path: Path, worker: Worker, body: str, words: str) -> None:
    code = f"def double(x):\n    {body}\n\ndef fine(x):\n    return x + 1\n"
    impl = implementation(tmp_path, worker, code, timeout=1.0)
    with pytest.raises(StudentError, match=words):
        impl.double(1)
    started = time.perf_counter()
    with pytest.raises(StudentError, match=words):
        impl.double(2)
    assert time.perf_counter() - started < 1.0, "a deadly function is not called again"
    assert impl.fine(1) == 2


def called_by_name(module, name, x):
    return getattr(module, name)(x)


def test_a_loop_in_one_function_is_not_one_in_another(tmp_path: Path, worker: Worker) -> None:
    """Both are called by the same function of a test, which is told their names."""
    code = "def double(x):\n    while True: pass\n\ndef fine(x):\n    return x + 1\n"
    impl = implementation(tmp_path, worker, code, timeout=1.0)
    with pytest.raises(Mismatch, match="no answer within 1 seconds"):
        calling(called_by_name, impl, "double", 1).gives(2)
    calling(called_by_name, impl, "fine", 1).gives(2)


def test_what_a_student_prints_does_not_disturb(
    tmp_path: Path, worker: Worker, capsys: pytest.CaptureFixture[str]
) -> None:
    code = "import os\ndef double(x):\n    print('here', x)\n    os.write(1, b'there')\n    return 2 * x\n"
    calling(implementation(tmp_path, worker, code).double, 3).gives(6)
    assert capsys.readouterr().out == "here 3\n"


def test_an_object_equal_to_everything_does_not_cross(tmp_path: Path, worker: Worker) -> None:
    code = (
        "class Yes:\n    def __eq__(self, other): return True\n    __hash__ = None\n\n"
        "def double(x):\n    return Yes()\n"
    )
    with pytest.raises(Mismatch, match="and not numbers, strings"):
        calling(implementation(tmp_path, worker, code).double, 3).gives(6)


def test_a_forged_answer_is_only_a_value(tmp_path: Path, worker: Worker) -> None:
    code = (
        "import os\ndef double(x):\n"
        "    for fd in range(3, 30):\n        try:\n            os.write(fd, b'[1, 2, 3]\\n')\n"
        "        except OSError:\n            pass\n"
        "    return 0\n"
    )
    with pytest.raises(Mismatch):
        calling(implementation(tmp_path, worker, code).double, 3).gives(6)


ARRAY = """
def double(long count):
    cdef long numbers[3]
    cdef long i
    for i in range(count):
        numbers[i] = 2 * count
    return numbers[0]
"""


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform == "win32", reason="Visual Studio has no such check")
def test_an_index_outside_of_a_local_array_ends_the_worker_with_its_place(tmp_path: Path, worker: Worker) -> None:
    syllabus = made_up(tmp_path)
    path = tmp_path / "exercises" / "double.pyx"
    path.parent.mkdir()
    path.write_text(ARRAY)
    exercise = syllabus.exercise("1.1")
    impl = Implementation(exercise, Selection(syllabus).with_path(exercise, path), worker)
    calling(impl.double, 3).gives(6)
    with pytest.raises(
        Mismatch, match="ArrayIndexError: index 3 is outside of a local C array of 3 elements"
    ) as caught:
        calling(impl.double, 10_000_000).gives(6)  # so far that a write there would end the process
    assert "double.pyx:6: numbers[i] = 2 * count" in str(caught.value)
    path.write_text(ARRAY + "\n# another text\n")
    calling(impl.double, 2).gives(4)

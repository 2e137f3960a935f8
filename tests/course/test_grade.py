"""Grading: honest work gets its points, and none of the known cheats does."""

from __future__ import annotations

import json
import shutil
import time
from typing import TYPE_CHECKING

import pytest

from kuiper.course.errors import CourseError
from kuiper.course.grade import grade_all, grade_one, gradescope, submissions_in
from kuiper.course.sandbox import best_mode
from tests.course.made_up import made_up

if TYPE_CHECKING:
    from pathlib import Path

    from kuiper.course.manifest import Syllabus

HONEST = "def double(x):\n    return x + x\n"
CHEATS = {
    "exit": "import os\nos._exit(0)\n",
    "exit in the call": "import os\ndef double(x):\n    os._exit(0)\n",
    "always equal": (
        "class Yes(int):\n    def __eq__(self, other): return True\n    __hash__ = None\n"
        "def double(x):\n    return Yes()\n"
    ),
    "array always equal": (
        "import numpy as np\nclass Yes(np.ndarray):\n    def __eq__(self, other): return True\n    __hash__ = None\n"
        "def double(x):\n    return np.zeros(()).view(Yes)\n"
    ),
    "patched pytest": (
        "import pytest, _pytest.runner\npytest.raises = _pytest.runner.call_and_report = print\n"
        "def double(x):\n    return 0\n"
    ),
    "patched comparison": (
        "import kuiper.course.comparison as c, kuiper.course.testing as t\n"
        "c.difference = t.difference = lambda *a, **k: None\ndef double(x):\n    return 0\n"
    ),
    "conftest": "open('conftest.py', 'w').write('import pytest')\ndef double(x):\n    return 0\n",
    "forged answers": (
        "import os\ndef double(x):\n    for fd in range(1, 64):\n        try:\n"
        '            os.write(fd, b\'{"tuple": [2, 6, null, {"dict": []}, ""]}\\n\' * 9)\n'
        "        except OSError:\n            pass\n    return 0\n"
    ),
    "endless": "def double(x):\n    while True:\n        pass\n",
    "endless import": "while True:\n    pass\n",
    "fork bomb": (
        "import os\ndef double(x):\n    while True:\n        try:\n            os.fork()\n"
        "        except OSError:\n            pass\n"
    ),
    "memory": "def double(x):\n    return len(bytearray(100 * 1024**3)) and 2 * x\n",
    "walks the stack": (
        "import sys, gc\ndef double(x):\n    frame = sys._getframe()\n    while frame:\n"
        "        for c in frame.f_code.co_consts:\n            if c in (6, -8):\n                return c\n"
        "        frame = frame.f_back\n    return 0\n"
    ),
}


@pytest.fixture(scope="module")
def syllabus(tmp_path_factory: pytest.TempPathFactory) -> Syllabus:
    return made_up(tmp_path_factory.mktemp("course"))


def submission(folder: Path, name: str, code: str) -> Path:
    path = folder / name.replace(" ", "-")
    path.mkdir()
    (path / "double.py").write_text(code)
    return path


def reads_the_solution(syllabus: Syllabus) -> str:
    path = syllabus.exercise("1.1").solution_file
    return f"exec(open({str(path)!r}).read())\n"


def talks(port: int) -> str:
    return f"import socket\nsocket.create_connection(('127.0.0.1', {port}), 1)\ndef double(x):\n    return 2 * x\n"


@pytest.mark.timeout(600)
def test_cheats_get_nothing_and_honest_work_its_points(syllabus: Syllabus, tmp_path: Path) -> None:
    folders = {name: submission(tmp_path, name, code) for name, code in {**CHEATS, "honest": HONEST}.items()}
    exercises = [syllabus.exercise("1.1")]
    reports = grade_all(syllabus, exercises, list(folders.values()), 40.0, 2, lambda report: None)
    points = {report.name: report.points for report in reports}
    assert points.pop("honest") == 2
    assert points == dict.fromkeys(points, 0)
    assert len(points) == len(CHEATS)


@pytest.mark.skipif(best_mode() == "limits", reason="neither bubblewrap nor user namespaces on this machine")
def test_walls_hide_solutions_and_network(syllabus: Syllabus, tmp_path: Path) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:
        for name, code in (("reader", reads_the_solution(syllabus)), ("talker", talks(server.getsockname()[1]))):
            report = grade_one(syllabus, [syllabus.exercise("1.1")], submission(tmp_path, name, code), 60.0)
            assert report.points == 0, name


def test_a_failed_dependency_is_replaced(syllabus: Syllabus, tmp_path: Path) -> None:
    folder = submission(tmp_path, "half", "def double(x):\n    return 7\n")
    fourfold = syllabus.exercise("1.2")
    text = fourfold.solution_file.read_text()
    (folder / "fourfold.py").write_text("\n".join(line for line in text.splitlines() if "SOLUTION" not in line))
    report = grade_one(syllabus, list(syllabus), folder, 60.0)
    assert {grade.id: grade.verdict for grade in report.grades} == {"1.1": "wrong", "1.2": "solved"}
    scores = gradescope(report)
    assert scores["score"] == 3
    assert [test["score"] for test in scores["tests"]] == [0, 3]
    assert "got      7" in scores["tests"][0]["output"]
    json.dumps(scores)


def test_untouched_links_and_giants_are_not_taken(syllabus: Syllabus, tmp_path: Path) -> None:
    double, fourfold = syllabus
    folder = tmp_path / "lazy"
    folder.mkdir()
    shutil.copyfile(double.student_file, folder / "double.py")
    (folder / "fourfold.py").symlink_to(fourfold.solution_file)
    started = time.perf_counter()
    report = grade_one(syllabus, list(syllabus), folder, 60.0)
    assert report.points == 0
    assert [grade.verdict for grade in report.grades] == ["not started", "not started"]
    assert any("fourfold.py is a link" in words for words in report.odd)
    assert time.perf_counter() - started < 60


def test_submissions_in_finds_one_or_many(syllabus: Syllabus, tmp_path: Path) -> None:
    one = submission(tmp_path, "ada", HONEST)
    (tmp_path / "notes").mkdir()
    assert submissions_in(syllabus, one) == [one]
    assert submissions_in(syllabus, tmp_path) == [one]
    with pytest.raises(CourseError, match="expected submissions"):
        submissions_in(syllabus, tmp_path / "notes")

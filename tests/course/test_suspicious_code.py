# ruff: noqa: E501 (each case is one line)
from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kuiper.course.intake import take_in
from kuiper.course.manifest import read_syllabus
from kuiper.course.suspicious_code import UNREADABLE, in_file, suspicious_code

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("import math\nimport numpy as np\nfrom kuiper.course import load_exercise\nx = np.sqrt(math.pi)\n", []),
        ("# ctypes and kuiper.graph in words only\ntext = 'import ctypes'\n", []),
        ("from kuiper.graph.schedule import queue_order\n", ["imports kuiper.graph.schedule.queue_order"]),
        ("import kuiper.graph.schedule as s\ns.queue_order\n", ["imports kuiper.graph.schedule"]),
        (
            "import kuiper\nkuiper.graph.schedule.queue_order([])\n",
            ["imports kuiper", "uses kuiper.graph.schedule.queue_order"],
        ),
        ("def f():\n    from ctypes import CDLL\n", ["imports ctypes.CDLL"]),
        ("import numpy as np\nnp.allclose = lambda *a: True\n", ["changes numpy.allclose"]),
        ("from numpy import ctypeslib\n", ["imports numpy.ctypeslib"]),
        ("import numpy as np\nnp.load('x', allow_pickle=True)\n", ["uses numpy.load"]),
        ("__import__('o' + 's')\n", ["uses __import__"]),
        ("f = getattr(str, '__cl' + 'ass__')\n", ["uses getattr with a name that is computed"]),
        ("f = getattr(str, '__subclasses__')\n", ["uses __subclasses__"]),
        ("().__class__.__base__.__subclasses__()\n", ["uses __base__"]),
        ("eval('1')\n", ["uses eval"]),
        ("g = (i for i in ())\ng.gi_frame.f_back\n", ["uses f_back"]),
        ("def f(:\n", []),
        ("\0", []),
        ("x = " + "-" * 100_000 + "1\n", None),
        ("x = a" + ".a" * 100_000 + "\n", None),
    ],
)
def test_suspicious_code_goes_by_syntax(tmp_path: Path, code: str, found: list[str] | None) -> None:
    path = tmp_path / "double.py"
    path.write_text(code)
    if found is None:  # no reader of Python may be able to read it, but the grader goes on
        assert suspicious_code([(path, None), (ROOT / "setup.py", ROOT / "setup.py")])[1] == []
    else:
        assert set(found) <= set(in_file(path))
        assert bool(found) == bool(in_file(path))


@pytest.mark.parametrize(
    ("code", "found"),
    [
        (
            "cimport cython\nfrom libc.math cimport exp\nimport numpy as np\n\ncdef float f(float x) noexcept:\n    return exp(x)\n",
            [],
        ),
        ('include "/root/solutions/im2col.pyx"\n', ["has include ''"]),
        ('cdef extern from "/root/secret.h":\n    pass\n', ["has cdef extern from ''"]),
        ("from posix.unistd cimport fork\n", ["imports posix.unistd.fork"]),
        ("from kuiper.layers import operators\n", ["imports kuiper.layers.operators"]),
        ("import kuiper\nkuiper.load('x')\n", ["imports kuiper", "uses kuiper.load"]),
        ("# distutils: include_dirs=/root\n", ["has the directive distutils: include_dirs=/root"]),
        ("def f():\n    return open('x')\n", ["uses open"]),
    ],
)
def test_suspicious_code_of_cython(tmp_path: Path, code: str, found: list[str]) -> None:
    path = tmp_path / "double.pyx"
    path.write_text(code)
    assert in_file(path) == found


def test_the_cookie_of_a_source_is_read_as_python_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "double.py"
    path.write_bytes(b"# coding: utf-7\n+AGkAbQBwAG8AcgB0ACAAYwB0AHkAcABlAHM-\n")
    assert in_file(path) == ["imports ctypes"]


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    assert suspicious_code([(tmp_path / "missing.py", None)]) == [[UNREADABLE]]


@pytest.mark.thorough
def test_what_the_reference_does_is_not_odd(tmp_path: Path) -> None:
    syllabus = read_syllabus(ROOT)
    submission = tmp_path / "ada"
    submission.mkdir()
    for exercise in syllabus:
        shutil.copyfile(exercise.solution_file, submission / exercise.file)
    assert take_in(syllabus, submission, tmp_path / "home").odd == []
    (submission / "schedule.py").write_text("from kuiper.graph.schedule import queue_order, depth_first_order\n")
    assert take_in(syllabus, submission, tmp_path / "home").odd == [
        ("2.6", "imports kuiper.graph.schedule.queue_order"),
        ("2.6", "imports kuiper.graph.schedule.depth_first_order"),
    ]

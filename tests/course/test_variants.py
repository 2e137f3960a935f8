"""Many mistakes of one .pyx as one module."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kuiper.course.bugs import Bug, bug_file
from kuiper.course.builder import load_pyx
from kuiper.course.importer import load
from kuiper.course.places import folder_of_answers
from kuiper.course.selection import Selection, selected
from kuiper.course.variants import changed_functions, common_text
from tests.course.made_up import made_up

if TYPE_CHECKING:
    from pathlib import Path

    from kuiper.course.manifest import Exercise

SOLUTION = """
cdef enum:
    FACTOR = 2

LIMIT = 100

cdef int times(int x):
    return x * FACTOR


def double(int x):
    \"\"\"Twice x: double(3) is 6.\"\"\"
    # BEGIN SOLUTION
    return times(x)
    # END SOLUTION


def quadruple(int x):
    return double(double(x))
"""
BUGS = [
    Bug("once", "x is added once", (("x * FACTOR", "x + FACTOR"),)),
    Bug("thrice", "three times", (("x * FACTOR", "x * 3"),)),
    Bug("unlike", "a text that is not there", (("nowhere", ""),)),
    Bug("once-too-few", "double once", (("double(double(x))", "double(x)"),)),
    Bug("limit", "another limit", (("LIMIT = 100", "LIMIT = 99"),)),
]


@pytest.fixture
def exercise(tmp_path: Path) -> Exercise:
    syllabus = made_up(tmp_path)
    manifest = tmp_path / "course1_made_up" / "course.toml"
    manifest.write_text(manifest.read_text().replace('"double.py"', '"double.pyx"'))
    (tmp_path / "course1_made_up" / "solutions" / "double.pyx").write_text(SOLUTION)
    return type(syllabus.exercise("1.1"))(**{**vars(syllabus.exercise("1.1")), "file": "double.pyx"})


def test_bug_file_gives_each_mistake_a_module_that_behaves_as_its_own_text(exercise: Exercise, tmp_path: Path) -> None:
    syllabus = made_up(tmp_path / "other")
    answers = {}
    for bug in BUGS:
        if bug.name == "unlike":
            continue
        path = bug_file(exercise, bug, BUGS)
        selection = Selection(syllabus).with_path(syllabus.exercise("1.1"), path)
        with selected(selection):
            module = load(selection, syllabus.exercise("1.1"))
        answers[bug.name] = module.double(5), module.quadruple(5), module.LIMIT
    assert answers == {
        "once": (7, 9, 100),
        "thrice": (15, 45, 100),
        "once-too-few": (10, 10, 100),
        "limit": (10, 20, 99),
    }


def test_bug_file_compiles_mistakes_of_the_same_function_together(exercise: Exercise, tmp_path: Path) -> None:
    for bug in (BUGS[0], BUGS[1], BUGS[3]):
        bug_file(exercise, bug, BUGS)
    bank = folder_of_answers(exercise.course.parent) / "bug-bank"
    texts = {path.parent.name: path for path in bank.rglob("*.pyx")}
    assert sorted(texts) == ["double-quadruple", "double-times"]
    module = load_pyx(texts["double-times"], tmp_path)
    assert (module.double__0(5), module.double__1(5), module.double(5)) == (7, 15, 10)


def test_changed_functions_is_none_where_something_outside_of_them_differs() -> None:
    assert changed_functions(SOLUTION, SOLUTION.replace("FACTOR = 2", "FACTOR = 3")) is None
    assert changed_functions(SOLUTION, SOLUTION + "\n\ndef another():\n    pass\n") is None
    assert changed_functions(SOLUTION, SOLUTION.replace("x * FACTOR", "x")) == {"times"}


def test_common_text_copies_callers_and_leaves_names_of_others_alone() -> None:
    text = "def f(x):\n    return x\n\ndef ff(x):\n    return x.f + f(x)\n\ndef g(x):\n    return ff_(x)\n"
    common, (names,) = common_text(text, (text.replace("return x\n", "return 2\n"),))
    assert names == {"f": "f__0", "ff": "ff__0"}
    assert common.endswith("def ff__0(x):\n    return x.f + f__0(x)\n")

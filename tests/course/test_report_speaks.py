"""The report of a failing exercise in another language: each of its words is in a catalogue, or is code."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from kuiper.course import sync
from kuiper.course.handout_record import Record
from kuiper.course.manifest import read_syllabus
from kuiper.language import columns
from tests.course.made_up import CONFTEST, made_up, solve
from tests.course.student_run import student_runs
from tests.pseudo_language import escaped

if TYPE_CHECKING:
    from pathlib import Path

    from kuiper.course.manifest import Syllabus

# What is done wrong, the solution's body of f, the student's, and what the tests say of it.
CASES = [
    (
        "one turn",
        "return [i for i in range(n)]",
        "return [i for i in range(n - 1)]",
        "calling(impl.f, 4).gives([0, 1, 2, 3])",
    ),
    ("known", "return n * 2", "return n * 3", "calling(impl.f, 4).gives(8)"),
    ("value", "return n + 3", "return n * n + 71", "calling(impl.f, 4).gives(7)"),
    ("shape", "return np.ones((2, n))", "return np.ones((n, 2, 1))", "calling(impl.f, 3).gives(np.ones((2, 3)))"),
    (
        "swapped",
        "return np.arange(6.0).reshape(2, 3)",
        "return np.arange(6.0).reshape(3, 2)",
        "calling(impl.f, 3).gives(np.arange(6.0).reshape(2, 3))",
    ),
    ("dtype", "return np.ones(n, np.float32)", "return np.ones(n)", "calling(impl.f, 3).gives(np.ones(3, np.float32))"),
    (
        "large",
        "return np.arange(400.0).reshape(20, 20) + 1",
        "x = np.arange(400.0).reshape(20, 20) + 1; x[15, 3] = 0; return x",
        "calling(impl.f, 3).gives(np.arange(400.0).reshape(20, 20) + 1)",
    ),
    (
        "scaled",
        "return np.arange(24.0).reshape(2, 3, 4)",
        "return np.arange(24.0).reshape(2, 3, 4) / 2",
        "calling(impl.f, 3).gives(np.arange(24.0).reshape(2, 3, 4))",
    ),
    ("list", "return (n, 2)", "return [n, 2]", "calling(impl.f, 3).gives((3, 2))"),
    ("key", "return {'a': n, 'b': 2}", "return {'a': n}", "calling(impl.f, 3).gives({'a': 3, 'b': 2})"),
    (
        "nested",
        "return [[('name', i, 'value') for i in range(n)]] * n",
        "return [[('name', i, 'value' if j else 'other') for i in range(n)] for j in range(n)]",
        "calling(impl.f, 5).gives([[('name', i, 'value') for i in range(5)]] * 5)",
    ),
    ("text", "return 'bias'", "return '@bias'", "calling(impl.f, 3).gives('bias')"),
    ("object", "return n", "return object", "calling(impl.f, 3).gives(3)"),
    ("zero", "return n / 2", "return n / 0", "calling(impl.f, 3).gives(1.5)"),
    ("name", "return n / 2", "return m / 2", "calling(impl.f, 3).gives(1.5)"),
    ("none", "return n", "return None + n", "calling(impl.f, 3).gives(3)"),
    ("returns", "return n + 1", "n + 1", "calling(impl.f, 3).gives(4)"),
    ("broadcast", "return n", "return np.ones(3) + np.ones(n)", "calling(impl.f, 4).gives(4)"),
    (
        "endless",
        "return n",
        "while n > 0: n = n + 0\n    return n",
        "calling(impl.f, 0).gives(0)\n    calling(impl.f, 4).gives(4)",
    ),
    ("died", "return n", "import os; os._exit(3)", "calling(impl.f, 4).gives(4)"),
    ("changed", "return n[::-1]", "n.reverse(); return n", "calling(impl.f, [1, 2]).gives([2, 1])"),
    (
        "unfilled",
        "n[...] = 7",
        "n = n * 0 + 7",
        "out = np.zeros(2)\n    calling(impl.f, out).fills(out, np.full(2, 7.0))",
    ),
    (
        "refused",
        "if n < 0: raise ValueError('negative')\n    return n",
        "return n",
        "calling(impl.f, -2).raises(ValueError, 'negative')",
    ),
    (
        "message",
        "if n < 0: raise ValueError('negative')\n    return n",
        "if n < 0: raise ValueError('small')\n    return n",
        "calling(impl.f, -2).raises(ValueError, 'negative')",
    ),
    (
        "type",
        "if n < 0: raise ValueError('negative')\n    return n",
        "if n < 0: raise TypeError('negative')\n    return n",
        "calling(impl.f, -2).raises(ValueError, 'negative')",
    ),
    ("too strict", "return n", "if n < 5: raise ValueError('no')\n    return n", "calling(impl.f, 2).gives(2)"),
    ("syntax", "return n", "if n > 0\n        return n", "calling(impl.f, 2).gives(2)"),
    ("ignored", "return np.arange(n) * k", "return np.arange(n) * 2", "calling(impl.f, 4, 3).gives(np.arange(4) * 3)"),
    (
        "own way",
        "return sum(range(n))",
        "total, i = 0, 1\n    while i <= n:\n        total += i\n        i += 1\n    return total",
        "calling(impl.f, 4).gives(6)\n\ndef test_g(impl):\n    calling(impl.f, 5).gives(10)",
    ),
    ("empty", "return np.zeros((0, 3))", "return np.zeros((0, 2))", "calling(impl.f, 4).gives(np.zeros((0, 3)))"),
    ("no function", "return n", "", "calling(impl.f, 2).gives(2)"),
    (
        "unfinished",
        "return n",
        "1 + 1\n    raise NotImplementedError('exercise {id}: f')",
        "calling(impl.f, 2).gives(2)",
    ),
]
HEAD = '"""Exercise {id}."""\n\nimport numpy as np\n\n\ndef f(n, k=1):\n'
EXERCISE = """
[[exercise]]
id = "{id}"
title = "case_{number}"
file = "f{number}.py"
symbols = ["f"]
tests = ["test_f{number}.py"]
test_count = 1
points = 2
minutes = 5
timeout = 0.5
hints = [{{ for = "f", ladder = ["rung_1", "rung_2"] }}]
"""
KNOWN = {
    *("ValueError", "TypeError", "NameError", "ZeroDivisionError", "EndlessLoop", "Crash", "AttributeError"),
    *("float", "int", "list", "tuple", "NoneType", "None", "type"),
    *("kuiper", "hint", "course", "sync", "exercise", "out"),
    *("double", "fourfold"),  # titles of the made-up course, which no catalogue has
}
FOREIGN = (  # what no catalogue of kuiper's has
    r"(?m)^[Fu.pb-]+ .*%\]$",  # pytest's letters, which may stand in front of what takes long
    r"(?m)^[Fu.pb-]+(?=⟦|$)",
    r"(?:(?<=\d )(?:passed|deselected)(?=, \d| in \d)|(?<=[⟧d]) in [\d.]+s\s*$)",  # pytest's, in its last line
    r"(?:(?<=⟦   at ⟧)|(?<=not written yet: ⟧)).*",  # a student's line
    r"(?<=`)[^`\n]*(?=`)",
    r"(?<=ZeroDivisionError: )division by zero",
    r"(?<=NameError: )name 'm' is not defined",
    r"(?<=TypeError: )unsupported operand type\(s\) for \+: 'NoneType' and 'int'",
    r"(?<=ValueError: )operands could not be broadcast together with shapes \(3,\) \(4,\)",
    r"(?<=ValueError: )(?:small|no)\b",
    r"(?<=TypeError: )negative",
    r"expected ':'\n +if n > 0\n +\^",
)


def course_of_cases(root: Path) -> Syllabus:
    """A course in which each exercise is done wrong in its own way."""
    folder = root / "course1_cases"
    (folder / "solutions").mkdir(parents=True)
    (folder / "bugs").mkdir()
    (root / "conftest.py").write_text(CONFTEST)
    (root / "pytest.ini").write_text("[pytest]\n")
    manifest = 'title = "cases"\n'
    for number, (_, body, _, test) in enumerate(CASES, 1):
        id_ = f"1.{number}"
        manifest += EXERCISE.format(id=id_, number=number)
        solution = f"    # BEGIN SOLUTION\n    {body}\n    # END SOLUTION\n"
        (folder / "solutions" / f"f{number}.py").write_text(HEAD.format(id=id_) + solution)
        head = "import numpy as np\nfrom kuiper.course import calling\n\n\ndef test_f(impl):\n    "
        (folder / f"test_f{number}.py").write_text(head + test + "\n")
        code = body.replace("n * 2", "n * 3")
        bug = f'[[bug]]\nname = "one"\nwhen = "known_{number}"\nreplace = "n * 2"\nwith = "n * 3"\n'
        (folder / "bugs" / f"f{number}.toml").write_text(bug if code != body else "")
    (folder / "course.toml").write_text(manifest)
    syllabus = read_syllabus(root)
    for exercise, (what, _, body, _) in zip(syllabus, CASES, strict=True):
        sync.write(exercise)
        text = HEAD.format(id=exercise.id) + f"    {body}\n".replace("{id}", exercise.id)
        exercise.student_file.write_text("x = 1\n" if what == "no function" else text)
    return syllabus


def without_foreign_words(report: str) -> str:
    """A report without what pytest, Python and the student say in it."""
    for pattern in FOREIGN:
        report = re.sub(pattern, " ", report)
    return report


@pytest.mark.usefixtures("pseudo_language")
def test_report_speaks(tmp_path: Path) -> None:
    code, report = student_runs(course_of_cases(tmp_path), "-q")
    assert code == 1
    assert report.count("⟦ tests pass: ⟧") == len(CASES)
    assert escaped(without_foreign_words(report), KNOWN) == []


@pytest.mark.usefixtures("pseudo_language")
def test_report_speaks_of_what_is_not_tested(tmp_path: Path) -> None:
    syllabus = made_up(tmp_path)
    solve(syllabus, "1.1", ("x * 2 + 0", "x * 2 + 5"))
    solve(syllabus, "1.2")
    blocked = student_runs(syllabus, "-q")[1]
    assert "⟦blocked by ⟧1.1⟦; go on with ⟧--ref 1.1" in blocked
    (tmp_path / "double.py").write_text("")
    sync.reset(syllabus.exercise("1.1"))
    begun = student_runs(syllabus, "-q")[1]
    assert "⟦ (only this file is tested, not ⟧double.py⟦)⟧" in begun
    syllabus.exercise("1.1").student_file.unlink()
    missing = student_runs(syllabus, "-q", "--exercise", "1.1")[1]
    assert "⟦ is missing: move ⟧" in missing
    nothing = student_runs(syllabus, "-q", "-k", "nothing_fits")[1]
    assert "⟦no test of an exercise fits ⟧" in nothing
    for report in (blocked, begun, missing, nothing):
        assert escaped(without_foreign_words(report), KNOWN) == []


def test_the_head_of_a_report_is_as_wide_as_the_terminal_in_chinese(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUIPER_LANG", "zh")
    report = student_runs(made_up(tmp_path), "-q", width=80)[1]
    (head,) = (line for line in report.splitlines() if line.startswith("==="))
    assert not head.isascii()
    assert columns(head) in (79, 80)  # one less on Windows


@pytest.mark.parametrize(("language", "words"), [("", "expected 6"), ("xx", "⟦expected ⟧6")])
def test_report_speaks_the_language_of_the_folder(
    language: str, words: str, tmp_path: Path, pseudo_language: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KUIPER_LANG")
    monkeypatch.setenv("LC_ALL", "C")
    syllabus = made_up(tmp_path)
    solve(syllabus, "1.1", ("x * 2 + 0", "x * 2 + 5"))
    Record(version="1", language=language).save(tmp_path)
    assert words in student_runs(syllabus, "-q", cwd="course1_made_up")[1]

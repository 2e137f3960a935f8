"""A small made-up course, written to a folder: two exercises in Python, the second of which stands on the first."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from kuiper.course import sync
from kuiper.course.manifest import Syllabus, read_syllabus

if TYPE_CHECKING:
    from pathlib import Path

MANIFEST = """
title = "Made up"

[[exercise]]
id = "1.1"
title = "double"
file = "double.py"
symbols = ["double"]
tests = ["test_double.py"]
test_count = 2
points = 2
minutes = 5
timeout = 2.0
hints = [{ for = "double", ladder = ["what is twice?", "see the lecture", "multiply"] }]

[[exercise]]
id = "1.2"
title = "fourfold"
file = "fourfold.py"
symbols = ["fourfold"]
tests = ["test_fourfold.py"]
test_count = 1
points = 3
minutes = 5
timeout = 2.0
depends_on = ["1.1"]
hints = [{ for = "fourfold", ladder = ["how often?", "see the lecture", "twice the double"] }]
"""

DOUBLE = '''
"""Exercise 1.1."""


def double(x):
    """Twice x.

    >>> double(3)
    6
    """
    # BEGIN SOLUTION
    result = x * 2 + 0
    return result
    # END SOLUTION
'''

FOURFOLD = '''
"""Exercise 1.2."""

from kuiper.course import load_exercise

double = load_exercise("1.1").double


def fourfold(x):
    # BEGIN SOLUTION
    return double(double(x))
    # END SOLUTION
'''

TEST_DOUBLE = """
from kuiper.course import calling


def test_double(impl):
    calling(impl.double, 3).gives(6)


def test_double_negative(impl):
    calling(impl.double, -4).gives(-8)
"""

TEST_FOURFOLD = """
from kuiper.course import calling


def test_fourfold(impl):
    calling(impl.fourfold, 3).gives(12)
"""

BUGS_DOUBLE = "\n".join(
    f'[[bug]]\nname = "{name}"\nwhen = "{when}"\nreplace = "x * 2"\nwith = "{code}"\n'
    for name, when, code in (
        ("tripled", "three is taken for two", "x * 3"),
        ("squared", "x is squared", "x * x"),
        ("plus", "two is added", "x + 2"),
        ("sign", "the sign is lost", "abs(x) * 2"),
        ("minus", "the sign is turned", "x * -2"),
    )
)
BUGS_FOURFOLD = "\n".join(
    f'[[bug]]\nname = "{name}"\nwhen = "{name}"\nreplace = "double(double(x))"\nwith = "{code}"\n'
    for name, code in (
        ("once", "double(x)"),
        ("none", "x"),
        ("thrice", "double(double(double(x)))"),
        ("float", "4.0 * x"),
        ("sum", "double(x) + x"),
    )
)
CONFTEST = 'pytest_plugins = ["kuiper.course.pytest_plugin"]\n'


def made_up(root: Path, second: str = "1.2") -> Syllabus:
    """Write the course and its skeletons; the exercise behind 1.1 may have another number."""
    files = {
        "conftest.py": CONFTEST,
        "pytest.ini": "[pytest]\n",
        "course1_made_up/course.toml": MANIFEST.replace("1.2", second),
        "course1_made_up/solutions/double.py": DOUBLE,
        "course1_made_up/solutions/fourfold.py": FOURFOLD,
        "course1_made_up/test_double.py": TEST_DOUBLE,
        "course1_made_up/test_fourfold.py": TEST_FOURFOLD,
        "course1_made_up/bugs/double.toml": BUGS_DOUBLE,
        "course1_made_up/bugs/fourfold.toml": BUGS_FOURFOLD,
    }
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text).lstrip("\n"))
    syllabus = read_syllabus(root)
    for exercise in syllabus:
        sync.write(exercise)
    return syllabus


def solve(syllabus: Syllabus, id_: str, *replacements: tuple[str, str]) -> None:
    """Write the solution, perhaps with something replaced, into the student's file."""
    exercise = syllabus.exercise(id_)
    lines = exercise.solution_file.read_text().splitlines()
    text = "\n".join(line for line in lines if "SOLUTION" not in line) + "\n"
    for before, after in replacements:
        assert before in text
        text = text.replace(before, after)
    exercise.student_file.write_text(text)


def edit(path: Path, before: str, after: str) -> None:
    """Replace a part of a file, which must be there."""
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after))

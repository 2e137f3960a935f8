"""Mistakes that show in a student's file itself, and what only looks like one."""

from __future__ import annotations

import ast

import pytest

from kuiper.course.at_sight import at_sight
from kuiper.course.interpreted import interpreted

RIGHT = "def f(x, n):\n    return sum(x)\n"
LOOP = "`return` stands in the loop over `row`, which ends in its first turn"


def found(body: str, right: str = RIGHT) -> list[str]:
    text = "def f(x, n):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    return [str(words) for words in at_sight(ast.parse(text), text, "f", ast.parse(right))]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("t = 0\nfor row in x:\n    t += row\n    return t", [LOOP]),
        ("t = 0\nfor row in x:\n    t += row\nreturn t", []),
        ("for row in x:\n    t = row\n    for i in row:\n        t += i\n        return t", [LOOP]),
        ("for row in x:\n    if row < 0:\n        continue\n    t = row\n    return t", []),  # the first that is not
        ("for row in x:\n    return row", []),  # the first
        ("for row in x:\n    n += row\n    if n > 9:\n        return row\nreturn 0", []),
        ("t = n\nreturn t\nt += 1", ["`return` in line 3 ends the function: what stands behind it is never reached"]),
        ("if n:\n    return 1\nreturn 2", []),
        ("return", ["`f` does nothing yet"]),
        ('"""Words."""\npass', ["`f` does nothing yet"]),
        ("x.sort()", []),
    ],
)
def test_at_sight_names_what_is_certain(body: str, words: list[str]) -> None:
    assert found(body) == words


def test_at_sight_leaves_alone_what_the_solution_does_too() -> None:
    body = "for row in x:\n    n += row\n    return n"
    assert found(body, f"def f(x, n):\n    {body.replace(chr(10), chr(10) + '    ')}\n") == []
    assert found("pass", "def f(x, n):\n    pass\n") == []


def test_at_sight_knows_the_declarations_of_cython() -> None:
    """A function of declarations does nothing, although each becomes an assignment in Python."""
    text = "def f(float[:] x, int n):\n    cdef Py_ssize_t i, row = 0\n    return\n"
    right = interpreted("def f(float[:] x, int n):\n    x[n] = 0\n")
    assert [str(words) for words in at_sight(interpreted(text), text, "f", right)] == ["`f` does nothing yet"]
    filled = text.replace("return", "x[row] = n")
    assert at_sight(interpreted(filled), filled, "f", right) == {}

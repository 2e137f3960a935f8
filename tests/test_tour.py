"""The tour names functions that exist, and they are as many lines as it promises."""

from __future__ import annotations

import ast
import re
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "inside" / "tour.md"
ROW = re.compile(r"^\| \[[^]]+\]\(([^)]+)\) \| ([^|]+) \|", re.MULTILINE)
STOPS = [((PAGE.parent / file).resolve(), names) for file, names in ROW.findall(PAGE.read_text(encoding="utf-8"))]


def lines_of(file: Path, name: str) -> list[str]:
    """The lines of a function or class, without blank ones; empty if the file has none of this name."""
    text = file.read_text(encoding="utf-8")
    lines = of_python(text, name) if file.suffix == ".py" else of_compiled(text, name)
    return [line for line in lines if line.strip()]


def of_python(text: str, name: str) -> list[str]:
    scope: ast.AST = ast.parse(text)
    for part in name.split("."):
        inside = [node for node in ast.iter_child_nodes(scope) if getattr(node, "name", "") == part]
        if not inside:
            return []
        scope = inside[0]
    assert isinstance(scope, (ast.FunctionDef, ast.ClassDef))
    return text.splitlines()[scope.lineno - 1 : scope.end_lineno]


def of_compiled(text: str, name: str) -> list[str]:
    """Of Cython: to the last line that is further inside, or closes the brackets; of C, to the next "}"."""
    found = re.search(rf"^( *)(?!return\b|#)\w[\w *<>]*\b{name}\([^;]*?[:{{]$", text, re.MULTILINE)
    if not found:
        return []
    first, *others = text[found.start() :].splitlines()
    if found[0].endswith("{"):
        return [first, *takewhile(lambda line: line != "}", others), "}"]
    return [first, *takewhile(lambda line: not line or line.startswith((f"{found[1]} ", f"{found[1]})")), others)]


@pytest.mark.parametrize(("file", "names"), STOPS, ids=[file.name for file, _ in STOPS])
def test_tour_names_functions_that_exist(file: Path, names: str) -> None:
    assert names == "all" or re.fullmatch(r"`[\w.]+`(, `[\w.]+`)*", names), names
    assert [name for name in re.findall(r"`([\w.]+)`", names) if not lines_of(file, name)] == []


def test_tour_is_some_2000_lines() -> None:
    total = 0
    for file, names in STOPS:
        if names == "all":
            total += sum(bool(line.strip()) for line in file.read_text(encoding="utf-8").splitlines())
        total += sum(len(lines_of(file, name)) for name in re.findall(r"`([\w.]+)`", names))
    assert 1600 <= total <= 2400, total


CYTHON = """
cdef int f(
    int a,
) noexcept:
    if a:

        return 1
    return g(a)


cdef int g(int a):
    return 2
"""
C = """
static int f(int a,
             int b) {
#if defined(A)
    if (a) return g(b);
#endif
    return 2;
}
int x;
"""
PYTHON = """
class A:
    def f(self):
        return 1

    def g(self):
        return 2
"""


@pytest.mark.parametrize(
    ("find", "text", "name", "count", "last"),
    [
        (of_compiled, CYTHON, "f", 6, "    return g(a)"),
        (of_compiled, CYTHON, "g", 2, "    return 2"),
        (of_compiled, CYTHON, "h", 0, ""),
        (of_compiled, C, "f", 7, "}"),
        (of_compiled, C, "g", 0, ""),
        (of_python, PYTHON, "A", 5, "        return 2"),
        (of_python, PYTHON, "A.f", 2, "        return 1"),
        (of_python, PYTHON, "f", 0, ""),
    ],
)
def test_lines_of_a_function_end_with_it(find: Any, text: str, name: str, count: int, last: str) -> None:
    lines = [line for line in find(text, name) if line]
    assert (len(lines), "".join(lines[-1:])) == (count, last)

"""From the author's solution to the student's skeleton: each marked region becomes a hole.

    def offset(index, strides):                 def offset(index, strides):
        # BEGIN SOLUTION                            raise NotImplementedError("exercise 1.1: offset")
        return sum(...)                 ->
        # END SOLUTION

A region outside of any function (a helper that the student may invent) leaves nothing but a comment. Text after
``# BEGIN SOLUTION:`` stands in the hole instead of the ``raise``, ``# BEGIN SOLUTION: pass``.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kuiper.course.errors import CourseError

if TYPE_CHECKING:
    from collections.abc import Collection

BEGIN = re.compile(r"^(\s*)# BEGIN SOLUTION(?:: (.*))?$")
END = re.compile(r"^\s*# END SOLUTION$")
MENTION = re.compile(r"#\s*(BEGIN|END)\s*SOLUTION", re.IGNORECASE)
FUNCTION = re.compile(r"^(\s*)(?:async )?(?:def|cdef|cpdef)\s[^(=]*?(\w+)\s*\(")
CLASS = re.compile(r"^(\s*)(?:cdef )?class\s+(\w+)")


@dataclass(frozen=True)
class Region:
    """A marked region: its lines, where it begins (counted from 1), what stands in its place, and in which function."""

    begin: int
    lines: tuple[str, ...]
    hole: str
    function: str


def skeleton(text: str, exercise_id: str, where: str) -> str:
    """The student's text.

    Raises
    ------
    CourseError
        If markers are unbalanced, misspelt or absent.
    """
    lines = text.splitlines()
    out: list[str] = []
    done = 0
    for region in regions(text, exercise_id, where):
        out += [*lines[done : region.begin - 1], region.hole]
        done = region.begin + len(region.lines) + 1
    return "\n".join([*out, *lines[done:]]) + "\n"


def without_functions(text: str, names: Collection[str], exercise_id: str) -> str:
    """A Python module whose functions of these names raise NotImplementedError, as those of a skeleton do.

    >>> print(without_functions("def f(x):\\n    return x\\n\\ndef g(x):\\n    return x\\n", ["f"], "2.6"))
    def f(x):
        raise NotImplementedError('exercise 2.6: f')
    <BLANKLINE>
    def g(x):
        return x
    """
    module = ast.parse(text)
    for node in module.body:
        if isinstance(node, ast.FunctionDef) and node.name in names:
            node.body = ast.parse(f"raise NotImplementedError({f'exercise {exercise_id}: {node.name}'!r})").body
    return ast.unparse(module)


def regions(text: str, exercise_id: str, where: str) -> list[Region]:
    """The marked regions in order."""
    lines = text.splitlines()
    found: list[Region] = []
    begin: tuple[int, str, str] | None = None
    for number, line in enumerate(lines, start=1):
        opening = BEGIN.match(line)
        if opening:
            if begin:
                raise CourseError(f"{where}:{number}", f"END SOLUTION for line {begin[0]}", "another BEGIN SOLUTION")
            hole = opening[2] or _hole(lines[: number - 1], len(opening[1]), exercise_id)
            begin = (number, opening[1] + hole, enclosing(lines[: number - 1], len(opening[1])))
        elif END.match(line):
            if not begin:
                raise CourseError(f"{where}:{number}", "BEGIN SOLUTION first", "END SOLUTION")
            found.append(Region(begin[0], tuple(lines[begin[0] : number - 1]), *begin[1:]))
            begin = None
        elif MENTION.search(line):
            raise CourseError(f"{where}:{number}", "# BEGIN SOLUTION or # END SOLUTION alone on its line", line.strip())
    if begin:
        raise CourseError(f"{where}:{begin[0]}", "END SOLUTION below", "the end of the file")
    if not found:
        raise CourseError(where, "a region between # BEGIN SOLUTION and # END SOLUTION", "none")
    return found


def _hole(above: list[str], indent: int, exercise_id: str) -> str:
    """What replaces a region: the function that encloses it raises in the exercise's name."""
    name = enclosing(above, indent)
    if not name:
        return f"# exercise {exercise_id}: your own helpers may stand here"
    return f'raise NotImplementedError("exercise {exercise_id}: {name}")'


def enclosing(above: list[str], indent: int) -> str:
    """The function or class, with those around it, that a line of this indent stands in; "" if in none.

    >>> enclosing(["class Registry:", "    def create(self, op):"], 8)
    'Registry.create'
    """
    names: list[str] = []
    for line in reversed(above):
        opening = FUNCTION.match(line) or CLASS.match(line)
        if opening and len(opening[1]) < indent:
            indent = len(opening[1])
            names.insert(0, opening[2])
        if indent == 0:
            break
    return ".".join(names)

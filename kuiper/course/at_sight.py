"""Mistakes that show in a student's file itself, whatever it answers: what is said of them is certain."""

from __future__ import annotations

import ast
from itertools import pairwise
from typing import TYPE_CHECKING

from kuiper.course.mutant_words import Voice
from kuiper.course.names import names_in
from kuiper.course.phrases import Phrase, code, phrase
from kuiper.course.student_tree import function_named

if TYPE_CHECKING:
    from collections.abc import Iterator


def at_sight(tree: ast.Module, text: str, function: str, solution: ast.Module) -> dict[Phrase, int]:
    """The words for each mistake in a function, and its line; what the ``solution`` does as well is none.

    >>> text = "def total(rows):\\n    t = 0\\n    for row in rows:\\n        t += row\\n        return t\\n"
    >>> right = ast.parse("def total(rows):\\n    return sum(rows)\\n")
    >>> [str(words) for words in at_sight(ast.parse(text), text, "total", right)]
    ['`return` stands in the loop over `row`, which ends in its first turn']
    """
    own, theirs = (function_named(each, function) for each in (tree, solution))
    if own is None or theirs is None:
        return {}
    voice, found = Voice(frozenset(names_in(text))), {}
    if not [*_loops_left_at_once(theirs)]:
        for loop, leaving in _loops_left_at_once(own):
            words = phrase("`return` stands in {loop}, which ends in its first turn", loop=voice.loop(loop))
            found[words] = leaving.lineno
    for line in _lines_before_the_end(own):
        words = phrase("`return` in line {line} ends the function: what stands behind it is never reached", line=line)
        found[words] = line
    if not any(map(_does_something, own.body)) and any(map(_does_something, theirs.body)):
        found[phrase("{function} does nothing yet", function=code(own.name))] = own.lineno
    return found


def _loops_left_at_once(function: ast.FunctionDef) -> Iterator[tuple[ast.For, ast.Return]]:
    """The loops that end with a ``return``: none that looks for the first of something, and goes on until it is there.

    Of loops within each other the outermost that is ended, so that its words say how far the line is to be moved.
    """
    for each in ast.walk(function):
        if isinstance(each, ast.For) and len(each.body) > 1 and not _goes_on(each):
            last = each.body[-1]
            while isinstance(last, ast.For) and len(last.body) > 1 and not _goes_on(last):
                last = last.body[-1]
            if isinstance(last, ast.Return):
                yield each, last
                return


def _lines_before_the_end(function: ast.FunctionDef) -> Iterator[int]:
    """Where a ``return`` has something behind it in its block."""
    for each in ast.walk(function):
        for block in (getattr(each, name, None) for name in ("body", "orelse")):
            for before, behind in pairwise(block if isinstance(block, list) else []):
                if isinstance(before, ast.Return) and _does_something(behind):
                    yield before.lineno


def _goes_on(loop: ast.For) -> bool:
    return any(isinstance(each, (ast.Continue, ast.Yield)) for each in ast.walk(loop))


def _does_something(statement: ast.stmt) -> bool:
    """Whether a statement is more than a docstring, a declaration, ``pass`` or an empty ``return``."""
    if isinstance(statement, (ast.Expr, ast.Return)):
        return statement.value is not None and not isinstance(statement.value, ast.Constant)
    if isinstance(statement, ast.Assign):
        return not _is_declaration(statement)
    return not isinstance(statement, ast.Pass)


def _is_declaration(statement: ast.Assign) -> bool:
    """Whether it is Cython's ``cdef`` as Python: of a constant, of nothing, or of a parameter by its own name."""
    value, target = statement.value, statement.targets[0]
    if not isinstance(target, ast.Name):
        return False
    while isinstance(value, ast.Call) and value.args and getattr(value.func, "id", "").startswith("_"):
        value = value.args[0]
    is_old = isinstance(value, ast.Call) and ast.unparse(value).startswith("_old.")
    is_own = isinstance(value, ast.Name) and value.id == target.id
    return is_old or is_own or isinstance(value, ast.Constant)

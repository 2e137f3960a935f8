"""The names in a student's file, and what the file does with them: a diagnosis may name these and no others."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from kuiper.course.interpreted import interpreted

if TYPE_CHECKING:
    from collections.abc import Iterator


def names_in(text: str) -> list[str]:
    """The names in a file: those of its code, and those that its docstrings have between backticks.

    A name that is given a value stands there with ``=`` as well, and with ``=`` and each name that it is computed from;
    one that parts are cut out of with ``[:]``, and the attribute of a name with that name.

    >>> names_in("total = a * x.size  # a product")
    ['a', 'size', 'total', 'total=', 'total=a', 'total=x', 'x', 'x.size']
    >>> names_in("print(f'the length is {n}', row[1:])")
    ['n', 'print', 'row', 'row[:]']
    """
    found = set(re.findall(r"[A-Za-z_]\w*", " ".join(re.findall(r"``(.*?)``", text))))
    try:
        for node in ast.walk(_parsed(text)):
            found.update(_names_of(node))
    except SyntaxError:  # of Cython that is not known as Python
        found.update(re.findall(r"[A-Za-z_]\w*", re.sub(r'(?s)""".*?"""|#[^\n]*', " ", text)))
    return sorted(found)


def _parsed(text: str) -> ast.Module:
    try:
        return ast.parse(text)
    except SyntaxError:
        return interpreted(text)


def _names_of(node: ast.AST) -> Iterator[str]:
    """The names that stand in a node itself, and what it does with them."""
    if isinstance(node, ast.Name):
        yield node.id
        if isinstance(node.ctx, ast.Store):
            yield f"{node.id}="
    elif isinstance(node, ast.Attribute):
        yield node.attr
        if isinstance(node.value, ast.Name):
            yield f"{node.value.id}.{node.attr}"
        if isinstance(node.ctx, ast.Store):
            yield f"{node.attr}="
    elif isinstance(node, ast.Subscript):
        name = getattr(node.value, "id", "") or getattr(node.value, "attr", "")
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if isinstance(node.ctx, ast.Store):
            yield f"{name}="
        if any(isinstance(part, ast.Slice) for part in parts):
            yield f"{name}[:]"
    elif isinstance(node, (ast.Assign, ast.AugAssign)):
        for target, value in _pairs(node):
            read = {each.id for each in ast.walk(value) if isinstance(each, ast.Name)}
            set_here = [each for each in ast.walk(target) if isinstance(getattr(each, "ctx", None), ast.Store)]
            for name in filter(None, (getattr(each, "id", "") or getattr(each, "attr", "") for each in set_here)):
                yield from (f"{name}={other}" for other in read)
    elif isinstance(node, (ast.arg, ast.keyword)) and node.arg:
        yield node.arg
    elif isinstance(node, ast.alias):
        yield node.asname or node.name
    elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        yield node.name


def _pairs(node: ast.Assign | ast.AugAssign) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Targets and what each is given: of several at once, each its own."""
    target = node.target if isinstance(node, ast.AugAssign) else node.targets[0]
    if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple) and len(target.elts) == len(node.value.elts):
        yield from zip(target.elts, node.value.elts, strict=True)
    else:
        yield target, node.value

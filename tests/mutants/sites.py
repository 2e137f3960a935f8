"""What can be changed in a Python file, one thing at a time."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

COMPARISONS = {
    ast.Lt: ("<=", ">"), ast.LtE: ("<",), ast.Gt: (">=", "<"), ast.GtE: (">",), ast.Eq: ("!=",), ast.NotEq: ("==",),
    ast.Is: ("is not",), ast.IsNot: ("is",), ast.In: ("not in",), ast.NotIn: ("in",),
}  # fmt: skip
ARITHMETIC = {ast.Add: "-", ast.Sub: "+", ast.Mult: "+", ast.FloorDiv: "*", ast.Div: "*", ast.Mod: "+"}
ROOT = Path(__file__).parents[2]
"""The checkout."""

SKIPPED = ("TYPE_CHECKING", "__all__", "__slots__")
"""Statements with one of these words are no code that runs, or lists of names."""


@dataclass(frozen=True, order=True)
class Mutant:
    """Text from ``start`` to ``end`` of a file becomes ``new``; the line, counted from 1, is for people."""

    file: str
    start: int
    end: int
    new: str
    line: int
    kind: str

    def applied(self, text: str) -> str:
        """The file's text with the change."""
        return text[: self.start] + self.new + text[self.end :]

    def changed(self, text: str) -> tuple[str, str]:
        """The statement's lines before and after, without what surrounds them, as one line each."""
        first = text.rfind("\n", 0, self.start) + 1
        last = text.find("\n", self.end)
        last = len(text) if last < 0 else last
        before = text[first:last]
        after = text[first : self.start] + self.new + text[self.end : last]
        return tuple(" ".join(part.split()) for part in (before, after))  # type: ignore[return-value]


def python_sites(file: str, text: str) -> list[Mutant]:
    """Every change in a file, in order."""
    finder = _Finder(file, text)
    finder.statements(ast.parse(text).body)
    return sorted(set(finder.found))


class _Finder:
    """Walks over what runs: no docstrings, no annotations, no imports for type checkers."""

    def __init__(self, file: str, text: str) -> None:
        self.file, self.text, self.found = file, text, []
        self.starts = [0]
        for line in text.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.lines = text.splitlines()

    def offset(self, line: int, column: int) -> int:
        """The place in the text; columns of ast count bytes."""
        return self.starts[line - 1] + len(self.lines[line - 1].encode()[:column].decode())

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """From where to where a node goes."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self.offset(node.lineno, node.col_offset), self.offset(node.end_lineno, node.end_col_offset)

    def add(self, node: ast.expr | ast.stmt, new: str, kind: str, span: tuple[int, int] | None = None) -> None:
        start, end = span or self.span(node)
        self.found.append(Mutant(self.file, start, end, new, self.text.count("\n", 0, start) + 1, kind))

    def source(self, node: ast.expr | ast.stmt) -> str:
        """A node's text."""
        start, end = self.span(node)
        return self.text[start:end]

    def statements(self, body: list[ast.stmt]) -> None:
        for node in body:
            if isinstance(node, (ast.Import, ast.ImportFrom, ast.Assert, ast.Raise)):
                continue
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                continue  # a docstring
            if any(word in self.source(node).partition("\n")[0] for word in SKIPPED):
                continue
            self.statement(node)

    def statement(self, node: ast.stmt) -> None:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            if isinstance(node, ast.FunctionDef):
                for default in [*node.args.defaults, *(one for one in node.args.kw_defaults if one)]:
                    self.expression(default)
            self.statements(node.body)
            return
        if (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)) or isinstance(node, ast.AugAssign):
            self.add(node, "pass", "dropped statement")
        if isinstance(node, ast.Continue):
            self.add(node, "pass", "dropped statement")
        if isinstance(node, ast.If):
            self.add(node.test, f"not ({self.source(node.test)})", "negated condition")
        if isinstance(node, ast.AugAssign) and type(node.op) in (ast.Add, ast.Sub):
            between = self.span(node.target)[1], self.span(node.value)[0]
            new = " -= " if isinstance(node.op, ast.Add) else " += "
            self.add(node, new, "arithmetic", between)
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "decorator_list"):
                continue
            for item in value if isinstance(value, list) else [value]:
                if isinstance(item, ast.stmt):
                    self.statements([item])
                elif isinstance(item, ast.expr):
                    self.expression(item)
                elif isinstance(item, (ast.ExceptHandler, ast.match_case, ast.withitem)):
                    for child in ast.iter_child_nodes(item):
                        if isinstance(child, ast.stmt):
                            self.statements([child])
                        elif isinstance(child, ast.expr):
                            self.expression(child)

    def expression(self, root: ast.expr) -> None:
        for node in self.walk(root):
            if isinstance(node, ast.Constant):
                self.constant(node)
            elif isinstance(node, ast.Compare) and len(node.ops) == 1:
                between = self.span(node.left)[1], self.span(node.comparators[0])[0]
                if "(" not in self.text[slice(*between)] and ")" not in self.text[slice(*between)]:
                    for new in COMPARISONS[type(node.ops[0])]:
                        self.add(node, f" {new} ", "comparison", between)
            elif isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
                between = self.span(node.left)[1], self.span(node.right)[0]
                if "(" not in self.text[slice(*between)] and ")" not in self.text[slice(*between)]:
                    self.add(node, f" {ARITHMETIC[type(node.op)]} ", "arithmetic", between)
            elif isinstance(node, ast.BoolOp):
                old, new = (" and ", " or ") if isinstance(node.op, ast.And) else (" or ", " and ")
                for left, right in zip(node.values, node.values[1:], strict=False):
                    between = self.span(left)[1], self.span(right)[0]
                    if self.text[slice(*between)].split() == [old.strip()]:
                        self.add(node, new, "and/or", between)
            elif isinstance(node, ast.IfExp):
                self.add(node.test, f"not ({self.source(node.test)})", "negated condition")
            elif isinstance(node, ast.comprehension):
                pass
            self.swaps(node)

    def walk(self, node: ast.AST) -> Iterator[ast.expr]:
        """An expression and all inside, f-strings left out: they are messages."""
        if isinstance(node, (ast.JoinedStr, ast.Lambda)) and isinstance(node, ast.JoinedStr):
            return
        if isinstance(node, ast.expr):
            yield node
        for child in ast.iter_child_nodes(node):
            yield from self.walk(child)

    def constant(self, node: ast.Constant) -> None:
        value = node.value
        if value is True or value is False:
            self.add(node, str(not value), "True/False")
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            self.add(node, repr(value + 1), "constant")
            self.add(node, repr(value - 1) if value >= 1 else f"({value - 1!r})", "constant")

    def swaps(self, node: ast.AST) -> None:
        """Two neighbours that are both plain names of one kind, such as h and w, change places."""
        items: list[ast.expr] = []
        if isinstance(node, ast.Call):
            items = node.args
        elif isinstance(node, ast.Tuple) and isinstance(node.ctx, ast.Load):
            items = node.elts
        for first, second in pairwise(items):
            if not all(isinstance(one, (ast.Name, ast.Attribute, ast.Subscript)) for one in (first, second)):
                continue
            one, other = self.source(first), self.source(second)
            if alike(one, other):
                span = self.span(first)[0], self.span(second)[1]
                between = self.text[self.span(first)[1] : self.span(second)[0]]
                self.add(first, f"{other}{between}{one}", "swapped", span)


PAIRS = (("h", "w"), ("rows", "columns"), ("first", "second"), ("start", "end"), ("top", "left"), ("before", "after"))


def alike(one: str, other: str) -> bool:
    """Whether two names are a pair such as ``out_h`` and ``out_w``, or ``x[0]`` and ``x[1]``."""
    if one == other:
        return False
    if one.replace("[0]", "[1]") == other or one.replace("0", "1") == other:
        return True
    for a, b in PAIRS:
        ends = (one, other) in ((a, b), (b, a))
        tails = any(
            one.endswith(f"{mark}{x}") and other.endswith(f"{mark}{y}") and one[: -len(x)] == other[: -len(y)]
            for mark in ("_", ".")
            for x, y in ((a, b), (b, a))
        )
        if ends or tails:
            return True
    return False

"""What a changed place of a solution is called in a report: by names that the student's own file has, and no code."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_NAMES = 2
COMMON = {
    "np",
    "range",
    "len",
    "self",
    "math",
    "enumerate",
    "zip",
    "float32",
    "int",
    "float",
    "list",
    "tuple",
    "isinstance",
    "str",
}


@dataclass(frozen=True)
class Place:
    """Where an expression stands: `` where `out` is computed``; and what it is there: ``an index of `x` ``."""

    words: str
    role: str

    def __str__(self) -> str:
        return self.words

    def a(self, otherwise: str) -> str:
        """What it is there, if that can be said, else another word."""
        return self.role or otherwise


@dataclass(frozen=True)
class Voice:
    """Speaks of expressions and statements to a student whose file has the names ``known``."""

    known: frozenset[str]

    def names(self, *nodes: ast.AST | None) -> list[str]:
        """The names in some expressions that the student knows, without those that stand everywhere."""
        found = [name for node in nodes if node is not None for name in _names(node)]
        return list(dict.fromkeys(name for name in found if name in self.known and name not in COMMON))

    def of(self, word: str, *nodes: ast.AST | None) -> str:
        """``" about `x` and `y`"`` for the word "about"; "" where nothing has a name that the student knows."""
        names = [f"`{name}`" for name in self.names(*nodes)][:MAX_NAMES]
        return f" {word} {' and '.join(names)}" if names else ""

    def quoted(self, name: str, otherwise: str) -> str:
        """A name, if the student knows it."""
        return f"`{name}`" if name in self.known else otherwise

    def role(self, node: ast.AST, name: str, index: int | None) -> str:
        """What the part of an expression in this field is to the expression; "" if nothing is to be said."""
        if isinstance(node, ast.keyword) and node.arg:
            return f"`{node.arg}`"
        if isinstance(node, ast.Subscript) and name == "slice":
            names = self.names(node.value)
            return f"an index of `{names[-1]}`" if names else "an index"
        if isinstance(node, ast.Slice):
            return f"the {'beginning' if name == 'lower' else 'end' if name == 'upper' else 'step'} of a part"
        if isinstance(node, ast.Subscript) or (isinstance(node, ast.Call) and name == "func"):
            return ""
        called = getattr(getattr(node, "func", None), "attr", "") if isinstance(node, ast.Call) else ""
        return f"an argument of `{called}`" if called and index is not None else ""

    def place(self, statement: ast.stmt) -> str:
        """Where something stands."""
        if isinstance(statement, ast.Return):
            return " in what is returned"
        if isinstance(statement, (ast.For, ast.While)):
            return " in the head of " + self.loop(statement)
        if isinstance(statement, ast.If):
            return " in the condition" + self.of("about", statement.test)
        if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
            verb = "written" if isinstance(target, ast.Subscript) else "computed"
            names = self.names(target.value if isinstance(target, ast.Subscript) else target)
            names_in_value = self.of("with", statement.value)
            return (
                f" where `{names[0]}` is {verb}" if names else f" in the line{names_in_value}" if names_in_value else ""
            )
        if isinstance(statement, ast.Raise):
            return " in the message of the error"
        return self.of("in the line with", statement)

    def loop(self, statement: ast.For | ast.While) -> str:
        """Which loop."""
        if isinstance(statement, ast.While):
            return "the `while` loop" + self.of("about", statement.test)
        names = self.names(statement.target) or self.names(statement.iter)
        return f"the loop over `{names[0]}`" if names else "a loop"


def _names(node: ast.AST) -> Iterator[str]:
    for each in ast.walk(node):
        if isinstance(each, ast.Name) and not each.id.startswith("_"):
            yield each.id
        elif isinstance(each, ast.Attribute):
            yield each.attr
        elif isinstance(each, ast.arg):
            yield each.arg

"""What a changed place of a solution is called in a report: by names that the student's own file has, and no code."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kuiper.course.phrases import code, phrase
from kuiper.language import noop

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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


OF, ABOUT, WITH = noop(" of {names}"), noop(" about {names}"), noop(" with {names}")
FROM, NEAR, BY = noop(" from {names}"), noop(" near {names}"), noop(" by {names}")
IN, UP_TO, ON = noop(" in {names}"), noop(" up to {names}"), noop(" on {names}")
AND_IS_ABOUT = noop(" and is about {names}")
THE_ONE_ABOUT = noop(", the one about {names},")
"""How a sentence goes on with names; each begins with a space or a comma, as a sentence may have none."""
WRITTEN, COMPUTED = noop(" where {name} is written"), noop(" where {name} is computed")
IN_RETURN, IN_HEAD, A_LOOP = noop(" in what is returned"), noop(" in the head of {loop}"), noop("a loop")
ARGUMENT = noop("an argument of {name}")
PARTS = {
    "lower": phrase("the beginning of a part"),
    "upper": phrase("the end of a part"),
    "step": phrase("the step of a part"),
}


@dataclass(frozen=True)
class Place:
    """Where an expression stands: `` where `out` is computed``; and what it is there: ``an index of `x` ``."""

    words: str
    role: str

    @property
    def is_near(self) -> bool:
        """Whether only names that stand beside it say where it is."""
        return getattr(self.words, "template", "") == NEAR

    def a(self, otherwise: str) -> str:
        """What it is there, if that can be said, else another word."""
        return self.role or otherwise


@dataclass(frozen=True)
class Voice:
    """Speaks of expressions and statements to a student whose file has the names ``known``."""

    known: frozenset[str]

    def names(self, *nodes: ast.AST | None) -> list[str]:
        """The names in some expressions that the student knows, without those that stand everywhere."""
        found = [name for node in nodes if node is not None for name in self._known(node)]
        return list(dict.fromkeys(name for name in found if name not in COMMON))

    def _known(self, node: ast.AST) -> Iterator[str]:
        """``image.shape`` where the student writes that, else what of it he knows; methods are not meant."""
        within = {id(call.func) for call in ast.walk(node) if isinstance(call, ast.Call)}
        for each in ast.walk(node):
            if isinstance(each, ast.Attribute) and id(each) not in within:
                base = each.value.id if isinstance(each.value, ast.Name) else ""
                whole = f"{base}.{each.attr}"
                if whole in self.known and base not in COMMON:
                    within.add(id(each.value))
                    yield whole
                elif base in COMMON or base not in self.known:
                    yield from self.known & {each.attr}
            elif isinstance(each, ast.Name) and id(each) not in within and not each.id.startswith("_"):
                yield from self.known & {each.id}
            elif isinstance(each, ast.arg):
                yield from self.known & {each.arg}

    def several(self, *nodes: ast.AST | None) -> str:
        """```x` and `y` ``; "" where nothing has a name that the student knows."""
        names = [code(name) for name in self.names(*nodes)][:MAX_NAMES]
        return phrase("{one} and {other}", one=names[0], other=names[1]) if len(names) > 1 else "".join(names)

    def of(self, words: str, *nodes: ast.AST | None) -> str:
        """``" about `x` and `y`"`` for ABOUT; "" where nothing has a name that the student knows."""
        names = self.several(*nodes)
        return phrase(words, names=names) if names else ""

    def quoted(self, name: str, otherwise: str) -> str:
        """A name, if the student knows it."""
        return code(name) if name in self.known else otherwise

    def role(self, node: ast.AST, name: str, index: int | None) -> str:
        """What the part of an expression in this field is to the expression; "" if nothing is to be said."""
        if isinstance(node, ast.keyword) and node.arg:
            return code(node.arg)
        if isinstance(node, ast.Subscript) and name == "slice":
            names = self.names(node.value)
            return phrase("an index of {name}", name=code(names[-1])) if names else phrase("an index")
        if isinstance(node, ast.Slice):
            return PARTS[name]
        if isinstance(node, ast.Subscript) or (isinstance(node, ast.Call) and name == "func"):
            return ""
        called = getattr(getattr(node, "func", None), "attr", "") if isinstance(node, ast.Call) else ""
        is_given = called in self.known and index is not None
        return phrase(ARGUMENT, name=code(called)) if is_given else ""

    def is_cut(self, node: ast.AST) -> bool:
        """Whether the student cuts parts out of this, too."""
        names = self.names(node)
        return any(f"{name.rpartition('.')[2]}[:]" in self.known for name in names) or not names

    def place(self, statement: ast.stmt, around: Sequence[ast.AST] = ()) -> str:
        """Where something stands; ``around`` has the expressions of the statement that it is in, the outermost first.

        A value is computed where the student computes it from the same. Else the nearest names say where.
        """
        if isinstance(statement, ast.Return):
            return phrase(IN_RETURN)
        if isinstance(statement, (ast.For, ast.While)):
            return phrase(IN_HEAD, loop=self.loop(statement))
        if isinstance(statement, ast.If):
            return phrase(" in the condition{about}", about=self.of(ABOUT, statement.test))
        if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            target = _part(statement.targets[0], around) if isinstance(statement, ast.Assign) else statement.target
            words = WRITTEN if isinstance(target, ast.Subscript) else COMPUTED
            names = self.names(target.value if isinstance(target, ast.Subscript) else target)
            if names and not isinstance(target, (ast.Tuple, ast.List)) and self._is_set(names[0], around):
                return phrase(words, name=code(names[0]))
        if isinstance(statement, ast.Raise):
            return phrase(" in the message of the error")
        near = (self.of(NEAR, node) for node in reversed(around))
        return next(filter(None, near), "")

    def _is_set(self, name: str, around: Sequence[ast.AST]) -> bool:
        """Whether the student gives a name a value, too, and computes it from what stands here."""
        near = next(filter(None, (self.names(node) for node in reversed(around))), [])
        endings = [each.partition(".")[0] for each in near] or [""]
        return any(f"{name.rpartition('.')[2]}={ending}" in self.known for ending in endings)

    def loop(self, statement: ast.For | ast.While) -> str:
        """Which loop."""
        if isinstance(statement, ast.While):
            names = self.several(statement.test)
            return phrase("the `while` loop about {names}", names=names) if names else phrase("the `while` loop")
        known = self.names(statement.target) or self.names(statement.iter)
        return phrase("the loop over {name}", name=code(known[0])) if known else phrase(A_LOOP)


def _part(target: ast.expr, around: Sequence[ast.AST]) -> ast.expr:
    """Of several targets the one whose value something is in."""
    value = around[0] if around else None
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        of = (own for own, element in zip(target.elts, value.elts, strict=True) if element in around)
        return next(of, target)
    return target

"""A solution with one place changed, as students err: what nobody has put into the bank is found among these.

Each mutant says what it changes, in the student's words, and how natural a slip it is: where several answer as the
student does, the most natural one is named. A slip that a student makes at all places of one kind (for the height and
for the width) is a mutant, too.
"""

from __future__ import annotations

import ast
import contextlib
import re
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from kuiper.course.expression_mutants import changes
from kuiper.course.interpreted import DIVISION
from kuiper.course.markers import BEGIN, END
from kuiper.course.mutant_words import Place, Voice
from kuiper.course.name_mutants import constants_of, name_slips, relatives_of
from kuiper.course.phrases import phrase
from kuiper.course.statement_mutants import Edits, slips
from kuiper.language import noop

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

TOGETHER = noop("{slip}, and the same at other places")
GROWING = ("append", "insert", "extend", "add")
MAX_TOGETHER = 6  # places at which the same slip is made at once
SILENT = Voice(frozenset())


@dataclass
class Mutant:
    """A slip: the statement of the module that it is in, its line, what it says, and what is to be changed for it."""

    statement: int
    line: int
    rank: int
    words: str
    edits: Edits
    kind: str = field(default="", repr=False)
    names: tuple[str, ...] = ()
    """Where a name is put in the place of another: both, which must be of one type."""

    @contextlib.contextmanager
    def made(self) -> Iterator[None]:
        """Within this block the tree has the slip."""
        before = [(place, key, _get(place, key)) for place, key, _ in self.edits]
        for place, key, new in self.edits:
            _set(place, key, new)
            if isinstance(new, ast.AST):
                _place(new, self.line)
            elif isinstance(new, list):
                for node in new:
                    _place(node, self.line)
        try:
            yield
        finally:
            for place, key, old in reversed(before):
                _set(place, key, old)


def mutants(
    tree: ast.Module,
    text: str,
    known: Iterable[str],
    function: str,
    others: Callable[[int, ast.FunctionDef], Iterable[Mutant]] = lambda number, node: (),
    order: Callable[[Mutant], int] = lambda mutant: mutant.rank,
) -> Iterator[Mutant]:
    """The slips in a solution's marked regions: first in the function whose test fails, then in those that it calls.

    Of each function the most natural ones come first. ``tree`` is that of ``text``, whose lines it is numbered by.
    ``known`` are the names in the student's own file. ``others`` has more for each function, and the number of the
    module's statement that it is in; ``order`` says which come first.
    """
    voice, lines = Voice(frozenset(known)), _own_lines(text)
    found, constants = list(_functions(tree)), constants_of(tree)
    name = function.rpartition(".")[2]
    called = {
        each.id for _, node in found if node.name == name for each in ast.walk(node) if isinstance(each, ast.Name)
    }
    for number, node in sorted(found, key=lambda pair: (pair[1].name != name, pair[1].name not in called)):
        single = sorted(_of_function(number, node, lines, voice, constants), key=lambda mutant: mutant.rank)
        all_ = [*single, *_together(single), *_with_names(number, node, lines, voice), *others(number, node)]
        growing = _growing(node)
        yield from sorted((mutant for mutant in all_ if not _makes_a_circle(mutant, growing)), key=order)


def _own_lines(text: str) -> set[int]:
    """The numbers of the lines between the markers of solutions; in a student's file, which has none, those of all."""
    inside, found, lines = False, set(), text.splitlines()
    for number, line in enumerate(lines, 1):
        inside = bool(BEGIN.match(line)) or (inside and not END.match(line))
        if inside:
            found.add(number)
    return found or set(range(1, len(lines) + 1))


def _functions(tree: ast.Module) -> Iterator[tuple[int, ast.FunctionDef]]:
    """All functions that are in no other function, and the number of the module's statement that each is in."""
    for number, node in enumerate(tree.body):
        for inner in [node, *(node.body if isinstance(node, ast.ClassDef) else [])]:
            if isinstance(inner, ast.FunctionDef):
                yield number, inner


def _of_function(
    number: int, function: ast.FunctionDef, lines: set[int], voice: Voice, constants: list[str]
) -> Iterator[Mutant]:
    relatives = relatives_of(function, constants)
    for body, index, loops in statements(function.body, []):
        node = body[index]
        if node.lineno not in lines or is_made(node):
            continue
        for rank, words, edits in slips(body, index, loops, voice):
            yield Mutant(
                number,
                node.lineno,
                rank,
                words,
                edits,
                f"{type(node).__name__} {_shape(node)} {re.sub('`.*?`', '', words)}",
            )
        in_message = isinstance(node, ast.Raise)
        parents = {id(child): each for each in ast.walk(node) for child in ast.iter_child_nodes(each)}
        for owner, key, part, role in expressions(node, voice):
            around = _around(part, node, parents)
            is_uncut = any(isinstance(each, ast.Subscript) and not voice.is_cut(each.value) for each in _cut_by(around))
            if in_message or is_uncut or is_made(part) or getattr(part, "lineno", node.lineno) not in lines:
                continue
            shape = _shape(part)
            before = ast.dump(part)
            for rank, words, new in changes(part, voice, Place(voice.place(node, around), role), relatives):
                if ast.dump(new) == before:  # such as two equal elements, exchanged
                    continue
                yield Mutant(number, node.lineno, rank, words, ((owner, key, new),), f"{shape} {_shape(new)} {rank}")


def _around(part: ast.expr, statement: ast.stmt, parents: dict[int, ast.AST]) -> list[ast.AST]:
    """The expressions of a statement that a part of it is in, the outermost first, and last the part itself."""
    found: list[ast.AST] = [part]
    while (parent := parents[id(found[0])]) is not statement:
        found.insert(0, parent)
    return found


def _cut_by(around: list[ast.AST]) -> Iterator[ast.AST]:
    """What parts are cut out of, where an expression is a slice or in one: the student may not cut at all."""
    for outer, inner in pairwise(around):
        if isinstance(inner, ast.Slice):
            yield outer if isinstance(outer, ast.Subscript) else around[around.index(outer) - 1]


def statements(body: list[ast.stmt], loops: list[ast.stmt]) -> Iterator[tuple[list[ast.stmt], int, list[ast.stmt]]]:
    """All statements of a body: the block that each is in, its number there, and the loops around it."""
    for index, node in enumerate(body):
        yield body, index, loops
        around = [*loops, node] if isinstance(node, (ast.For, ast.While)) else loops
        for name in ("body", "orelse", "finalbody"):
            yield from statements(getattr(node, name, []), around)
        for handler in getattr(node, "handlers", []):
            yield from statements(handler.body, around)


def expressions(statement: ast.stmt, voice: Voice = SILENT) -> Iterator[tuple[Any, Any, ast.expr, str]]:
    """All expressions of a statement that stand in none of its blocks: the place of each, and what it is there."""
    waiting: list[tuple[Any, str]] = [(statement, "")]
    while waiting:
        node, role = waiting.pop()
        for name, value in ast.iter_fields(node):
            parts = enumerate(value) if isinstance(value, list) else [(None, value)]
            for index, part in parts:
                if isinstance(part, ast.stmt) or name == "annotation":
                    continue
                place = (node, name) if index is None else (value, index)
                own = voice.role(node, name, index) or role
                if isinstance(part, ast.expr) and not isinstance(part, ast.JoinedStr):
                    yield *place, part, own
                if isinstance(part, (ast.expr, ast.comprehension, ast.keyword, ast.withitem)):
                    waiting.append((part, own))


def _growing(function: ast.FunctionDef) -> dict[int, str]:
    """The lists that something is put into, by what stands between the brackets there."""
    return {
        id(node.args): node.func.value.id
        for node in ast.walk(function)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in GROWING
        if isinstance(node.func.value, ast.Name)
    }


def _makes_a_circle(mutant: Mutant, growing: dict[int, str]) -> bool:
    """Whether a change puts a list into itself, or the list of rows into a row: NumPy looks for its end for hours."""
    lists = set(growing.values())
    for place, key, new in mutant.edits:
        name = growing.get(id(place))
        if name and isinstance(new, ast.Name) and new.id in lists:
            old = getattr(_get(place, key), "id", "")
            if new.id == name or old not in lists:
                return True
    return False


def _together(single: list[Mutant]) -> Iterator[Mutant]:
    """The same slip at all places of one kind at once."""
    groups: dict[str, list[Mutant]] = defaultdict(list)
    for mutant in single:
        groups[mutant.kind].append(mutant)
    for group in groups.values():
        places = {(id(place), repr(key)) for mutant in group for place, key, _ in mutant.edits}
        edits = tuple(edit for mutant in group for edit in mutant.edits)
        if 1 < len(group) <= MAX_TOGETHER and len(places) == len(edits):
            first = group[0]
            words = first.words if len({mutant.words for mutant in group}) == 1 else phrase(TOGETHER, slip=first.words)
            yield Mutant(first.statement, first.line, first.rank + 1, words, edits)


def _with_names(number: int, function: ast.FunctionDef, lines: set[int], voice: Voice) -> Iterator[Mutant]:
    """The slips with names of the function's own."""
    stored = (node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    own = {name for name in stored if not name.startswith("_")} | {argument.arg for argument in function.args.args}
    uses: dict[str, list[tuple[Any, Any, int]]] = defaultdict(list)
    for body, index, _ in statements(function.body, []):
        node = body[index]
        if node.lineno in lines and not is_made(node):
            for owner, key, part, _ in expressions(node, voice):
                is_called = (isinstance(owner, ast.Call) and key == "func") or isinstance(owner, ast.Attribute)
                if isinstance(part, ast.Name) and part.id in own and isinstance(part.ctx, ast.Load) and not is_called:
                    uses[part.id].append((owner, key, part.lineno))
    for line, rank, words, edits in name_slips(function, uses, voice):
        yield Mutant(number, line, rank, words, edits)


def is_made(node: ast.AST) -> bool:
    """Whether a node is none of the solution's own, but was put in to type or to count."""
    if isinstance(node, ast.Expr):
        return is_made(node.value)
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == DIVISION:
        return False
    name = node.func if isinstance(node, ast.Call) else node
    return isinstance(name, ast.Name) and name.id.startswith("_")


def _shape(node: Any) -> str:
    """What an expression looks like whatever its names are."""
    if isinstance(node, list):
        return " ".join(_shape(each) for each in node)
    if isinstance(node, ast.Name):
        return "?"
    if isinstance(node, ast.Attribute):
        return f"{_shape(node.value)}.?"
    if isinstance(node, ast.Constant):
        return repr(node.value) if not isinstance(node.value, int) else "0"
    if isinstance(node, ast.AST):
        return f"{type(node).__name__}({','.join(_shape(value) for _, value in ast.iter_fields(node))})"
    return str(node)


def _get(place: Any, key: Any) -> Any:
    return getattr(place, key) if isinstance(place, ast.AST) else place[key]


def _set(place: Any, key: Any, value: Any) -> None:
    if isinstance(place, ast.AST):
        setattr(place, key, value)
    else:
        place[key] = value


def _place(node: ast.AST, line: int) -> None:
    """Give the new nodes the line of the slip; those of the solution have theirs."""
    for each in ast.walk(node):
        if isinstance(each, (ast.expr, ast.stmt, ast.keyword)) and getattr(each, "lineno", None) is None:
            each.lineno = each.end_lineno = line
            each.col_offset = each.end_col_offset = 0

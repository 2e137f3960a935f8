"""The slips with names: one that stands where another belongs, two that are exchanged, one that is ignored."""

from __future__ import annotations

import ast
from collections import defaultdict
from itertools import combinations
from typing import TYPE_CHECKING, Any

from kuiper.course.phrases import code, phrase
from kuiper.language import noop

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kuiper.course.mutant_words import Voice

Uses = dict[str, list[tuple[Any, Any, int]]]
"""For each name the places where it is read: what holds it, the field or index there, and the line."""
Replaced = tuple[tuple[Any, Any, ast.expr], ...]
MODULES = ("np", "math", "re")
STANDS = noop("{one} stands where {other} belongs{place}")
A_NAME = noop("a name stands where another belongs{place}")
MAX_RELATIVES = 6  # names that may stand for another one


def relatives_of(function: ast.FunctionDef, constants: Sequence[str] = ()) -> dict[str, list[str]]:
    """For each name of a function, and each attribute behind a point, those that could be taken for it.

    ``constants`` are those of the module, each of which could be another one.
    """
    groups: list[list[str]] = [list(constants)]
    kinds: dict[str, list[str]] = defaultdict(list)
    for argument in function.args.args:
        kind = ast.unparse(argument.annotation) if argument.annotation else ""
        kinds[kind.replace("const ", "")].append(argument.arg)
    groups += kinds.values()
    targets, stems, attributes = [], defaultdict(list), []
    for node in ast.walk(function):
        if isinstance(node, (ast.Tuple, ast.List)) and isinstance(node.ctx, ast.Store):
            groups.append([each.id for each in node.elts if isinstance(each, ast.Name)])
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and not node.id.startswith("_"):
            targets.append(node.id)
        if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") not in MODULES:
            attributes.append(f".{node.attr}")
    targets = list(dict.fromkeys(targets))
    for name in [*targets, *(argument.arg for argument in function.args.args)]:
        for stem in _stems(name):
            stems[stem].append(name)
    groups += [targets if len(targets) <= MAX_RELATIVES else [], *stems.values()]
    found: dict[str, list[str]] = defaultdict(list)
    for group in groups:
        for name in group:
            found[name] += [other for other in group if other != name and other not in found[name]]
    for name in set(attributes):
        others = [other[1:] for other in dict.fromkeys(attributes) if other != name]
        found[name] = sorted(others, key=lambda other: other.isupper() != name[1:].isupper())[:MAX_RELATIVES]
    return {name: others[: 2 * MAX_RELATIVES] for name, others in found.items()}


def constants_of(tree: ast.Module) -> list[str]:
    """The names in capitals that a module reads."""
    return sorted({node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id.isupper()})


def _stems(name: str) -> Iterator[str]:
    """What a name has in common with those that could be taken for it: count1 and count2, stride_h and kernel_h."""
    if name[-1].isdigit():
        yield name.rstrip("0123456789")
    first, _, last = name.rpartition("_")
    if first:
        yield from (f"{first}_", f"_{last}")


def name_slips(function: ast.FunctionDef, uses: Uses, voice: Voice) -> Iterator[tuple[int, int, str, Replaced]]:
    """Line, rank, words and edits of each slip; ``uses`` has where each name is read in the solution's own lines."""
    relatives = relatives_of(function)
    for one, other in combinations(sorted(uses), 2):
        if other in relatives.get(one, []):
            both = one in voice.known and other in voice.known
            names = {"one": code(one), "other": code(other)}
            words = phrase("{one} and {other} are exchanged", **names) if both else phrase("two names are exchanged")
            yield from _replaced(uses, {one: other, other: one}, 2, words)
            words = phrase("{one} and {other} are ignored", **names) if both else phrase("two values are ignored")
            yield from _replaced(uses, {one: 0, other: 0}, 4, words)
            for name, to in ((one, other), (other, one)):
                words = phrase(STANDS, one=code(to), other=code(name), place="") if both else phrase(A_NAME, place="")
                yield from _replaced(uses, {name: to}, 3, words)
    yield from _of_fours(function, uses, voice)
    for name in uses:
        for value in (0, 1):
            a_value = phrase("a value")
            words = phrase("{name} is ignored", name=voice.quoted(name, a_value))
            yield from _replaced(uses, {name: value}, 3, words)


def _of_fours(function: ast.FunctionDef, uses: Uses, voice: Voice) -> Iterator[tuple[int, int, str, Replaced]]:
    """Of four values that are taken apart at once, such as borders, two stand where the other two belong."""
    for node in ast.walk(function):
        names = [getattr(each, "id", "") for each in node.elts] if isinstance(node, ast.Tuple) else []
        if isinstance(getattr(node, "ctx", None), ast.Store) and len(names) == 4 and voice.known.issuperset(names):
            for one, two, three, four in (names, [names[i] for i in (0, 2, 1, 3)]):
                quoted = {"one": code(two), "two": code(four), "three": code(one), "four": code(three)}
                words = phrase("{one} and {two} stand where {three} and {four} belong", **quoted)
                yield from _replaced(uses, {one: two, three: four}, 3, words)


def _replaced(
    uses: Uses, instead: dict[str, str | int], rank: int, words: str
) -> Iterator[tuple[int, int, str, Replaced]]:
    """All uses of these names with a name or number instead, and those of each line."""
    of_lines: dict[int, list[tuple[Any, Any, ast.expr]]] = defaultdict(list)
    for name, other in instead.items():
        for owner, key, line in uses.get(name, []):
            new = ast.Name(other, ast.Load()) if isinstance(other, str) else ast.Constant(other)
            of_lines[line].append((owner, key, new))
    if len(of_lines) > 1:
        yield min(of_lines), rank, words, tuple(edit for edits in of_lines.values() for edit in edits)
    for line, edits in of_lines.items():
        if len(edits) > 1 or len(of_lines) == 1:
            yield line, rank, words, tuple(edits)

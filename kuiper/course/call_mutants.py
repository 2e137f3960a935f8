"""The slips with calls, indices, slices and tuples: what is left out, exchanged, or taken for another one."""

from __future__ import annotations

import ast
import copy
from typing import TYPE_CHECKING, Any

from kuiper.course.name_mutants import MODULES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kuiper.course.mutant_words import Place, Voice

Change = tuple[int, str, Any]
"""How natural it is (0 is most), what it says, and what stands in the place of the expression."""

FAMILIES = (
    "min max", "maximum minimum", "sum mean max prod", "argmax argmin", "floor ceil rint trunc round",
    "round int ceil floor", "zeros ones", "any all", "sin cos", "sinf cosf", "lower upper", "startswith endswith",
    "isdigit isalnum isalpha", "exp expm1", "lstrip rstrip strip", "split rsplit", "partition rpartition",
    "find rfind", "float32 float64", "int64 int32", "std var", "int8 int32 uint8", "append extend",
    "keys values items", "log log2 log10", "rows columns", "cumsum sum", "abs int", "add subtract",
    "multiply divide", "first last", "start end", "zeros empty", "repeat tile", "fabs sqrtf", "median mean",
)  # fmt: skip
RELATIVES = {
    word: [other for family in FAMILIES if word in family.split() for other in family.split() if other != word]
    for family in FAMILIES
    for word in family.split()
}
MAX_ELEMENTS = 6
NO_WRAPPERS = {"range", "len", "isinstance", "enumerate", "zip", "super", "load_exercise", "ndindex", "print"}


def of_call(node: ast.Call, voice: Voice, place: Place) -> Iterator[Change]:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name.startswith("_"):
        return
    if isinstance(node.func, ast.Name):
        for other in RELATIVES.get(name, []):
            yield (
                2,
                f"`{other}` stands where `{name}` belongs{place}",
                ast.Call(ast.Name(other, ast.Load()), node.args, node.keywords),
            )
    is_module = isinstance(node.func, ast.Attribute) and getattr(node.func.value, "id", "") in MODULES
    if node.args and name not in NO_WRAPPERS and (isinstance(node.func, ast.Name) or is_module):
        yield 2, f"`{name}` is left out{place}{voice.of('for', node.args[0]) if not place else ''}", node.args[0]
    elif isinstance(node.func, ast.Attribute) and not is_module:
        words = "a copy is missing" if name == "copy" else f"`{name}` is left out"
        yield 1 if name == "copy" else 2, f"{words}{place}", node.func.value
    if name == "enumerate" and len(node.args) == 1:
        yield 1, f"counting begins at 1{place}", ast.Call(node.func, [*node.args, ast.Constant(1)], [])
    for number, keyword in enumerate(node.keywords):
        if keyword.arg:
            rest = [*node.keywords[:number], *node.keywords[number + 1 :]]
            yield (
                1,
                f"`{keyword.arg}` is left out where `{name}` is called{place}",
                ast.Call(node.func, node.args, rest),
            )
    for number in range(len(node.args)):
        if len(node.args) > 1:
            rest_of = [*node.args[:number], *node.args[number + 1 :]]
            yield 3, f"an argument of `{name}` is left out{place}", ast.Call(node.func, rest_of, node.keywords)
        part = node.args[number]
        if isinstance(part, ast.Starred):
            turned = ast.Subscript(
                part.value, ast.Slice(None, None, ast.UnaryOp(ast.USub(), ast.Constant(1))), ast.Load()
            )
            new = [*node.args[:number], ast.Starred(turned, ast.Load()), *node.args[number + 1 :]]
            yield 2, f"arguments of `{name}` are handed over in reversed order", ast.Call(node.func, new, node.keywords)
    for first in range(len(node.args) - 1):
        swapped = list(node.args)
        swapped[first : first + 2] = reversed(swapped[first : first + 2])
        about = voice.of("with", *node.args[first : first + 2])
        yield 3, f"two arguments of `{name}` are exchanged{about}", ast.Call(node.func, swapped, node.keywords)


def of_index(node: ast.Subscript, voice: Voice, place: Place) -> Iterator[Change]:
    about, index = voice.of("of", node.value), node.slice
    if isinstance(index, ast.Tuple):
        for first in range(len(index.elts) - 1):
            swapped = list(index.elts)
            swapped[first : first + 2] = reversed(swapped[first : first + 2])
            yield (
                2,
                f"two indices{about} are exchanged",
                ast.Subscript(node.value, ast.Tuple(swapped, ast.Load()), node.ctx),
            )
    elif isinstance(index, ast.Slice):
        yield from _of_slice(node, index, about)
    elif isinstance(node.ctx, ast.Load):
        yield 3, f"nothing is looked up{voice.of('in', node.value)}{place}", index
        yield 3, f"an index{about} is left out{place}", node.value
    if isinstance(index, (ast.Name, ast.BinOp)):
        yield (
            2,
            f"an index{about} is one too large{place}",
            _indexed(node, ast.BinOp(index, ast.Add(), ast.Constant(1))),
        )
        yield (
            2,
            f"an index{about} is one too small{place}",
            _indexed(node, ast.BinOp(index, ast.Sub(), ast.Constant(1))),
        )
        yield 3, f"the same element{about} is taken each time{place}", _indexed(node, ast.Constant(0))


def _of_slice(node: ast.Subscript, index: ast.Slice, about: str) -> Iterator[Change]:
    for name, other in (("lower", "begins"), ("upper", "ends")):
        bound = getattr(index, name)
        if bound is None:
            yield (
                3,
                f"a part{about} {other} one too {'late' if name == 'lower' else 'early'}",
                _cut(node, index, name, ast.Constant(1 if name == "lower" else -1)),
            )
            continue
        yield 2, f"a part{about} is not cut off where it {other}", _cut(node, index, name, None)
        for op, words in ((ast.Add(), "late"), (ast.Sub(), "early")):
            yield (
                1,
                f"a part{about} {other} one too {words}",
                _cut(node, index, name, ast.BinOp(bound, op, ast.Constant(1))),
            )
    if index.step is not None:
        yield (
            1,
            f"the step of a slice{about} is left out (does it run backwards, or leave some out?)",
            _cut(node, index, "step", None),
        )
    if index.lower is not None and index.upper is None and index.step is None:
        yield (
            3,
            f"the other part{about} is taken: what stands before, not behind",
            _indexed(node, ast.Slice(None, index.lower)),
        )
    if index.upper is not None and index.lower is None and index.step is None:
        behind, last = ast.Slice(index.upper, None), ast.Slice(_negated(index.upper), None)
        yield 3, f"the other part{about} is taken: what stands behind, not before", _indexed(node, behind)
        yield 2, f"the last ones{about} are taken, where the first ones belong", _indexed(node, last)


def _negated(bound: ast.expr) -> ast.UnaryOp:
    return ast.UnaryOp(ast.USub(), bound)


def _cut(node: ast.Subscript, index: ast.Slice, name: str, bound: ast.expr | None) -> ast.Subscript:
    new = copy.copy(index)
    setattr(new, name, bound)
    return _indexed(node, new)


def _indexed(node: ast.Subscript, index: ast.expr) -> ast.Subscript:
    return ast.Subscript(node.value, index, node.ctx)


def of_comprehension(node: Any, voice: Voice, place: Place) -> Iterator[Change]:
    for number, part in enumerate(node.generators):
        about = voice.of("of", part.iter)
        for rank, words, iterated in iterations(part.iter):
            yield rank, f"{words}{about}{place}", _with_generator(node, number, iterated, part.ifs)
        if part.ifs:
            yield (
                1,
                f"a condition{voice.of('about', *part.ifs)} is left out{place}",
                _with_generator(node, number, part.iter, []),
            )


def iterations(iterated: ast.expr) -> Iterator[Change]:
    """What else a loop could go through."""
    as_list = ast.Call(ast.Name("list", ast.Load()), [iterated], [])
    for rank, words, cut in (
        (2, "the first element is left out", ast.Slice(ast.Constant(1), None)),
        (2, "the last element is left out", ast.Slice(None, ast.UnaryOp(ast.USub(), ast.Constant(1)))),
        (2, "the elements come in reversed order", ast.Slice(None, None, ast.UnaryOp(ast.USub(), ast.Constant(1)))),
        (3, "only the first element is looked at", ast.Slice(None, ast.Constant(1))),
    ):
        yield rank, words, ast.Subscript(as_list, cut, ast.Load())


def _with_generator(node: Any, number: int, iterated: ast.expr, ifs: list[ast.expr]) -> Any:
    new, part = copy.copy(node), node.generators[number]
    made = ast.comprehension(part.target, iterated, ifs, part.is_async)
    new.generators = [*node.generators[:number], made, *node.generators[number + 1 :]]
    return new


def of_elements(node: ast.Tuple | ast.List, voice: Voice, place: Place) -> Iterator[Change]:
    if 1 < len(node.elts) <= MAX_ELEMENTS:
        for number, gone in enumerate(node.elts):
            rest = [*node.elts[:number], *node.elts[number + 1 :]]
            shown = f": {ast.unparse(gone)}" if isinstance(gone, ast.Constant) else voice.of("with", gone)
            yield 3, f"one of several values is missing{place}{shown}", type(node)(rest, node.ctx)
    if len(node.elts) > 4:
        return
    for first in range(len(node.elts)):
        for second in range(first + 1, len(node.elts)):
            swapped = list(node.elts)
            swapped[first], swapped[second] = swapped[second], swapped[first]
            about = voice.of("with", node.elts[first], node.elts[second])
            yield 2, f"two of several values are exchanged{about}{place}", type(node)(swapped, node.ctx)
    if len(node.elts) == 4:
        yield (
            2,
            f"the first two of four values and the last two are exchanged{place}",
            type(node)([*node.elts[2:], *node.elts[:2]], node.ctx),
        )

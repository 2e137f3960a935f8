"""The slips with calls, indices, slices and tuples: what is left out, exchanged, or taken for another one."""

from __future__ import annotations

import ast
import copy
from typing import TYPE_CHECKING, Any

from kuiper.course.mutant_words import ABOUT, IN, OF, WITH
from kuiper.course.name_mutants import MODULES, STANDS
from kuiper.course.phrases import code, phrase
from kuiper.language import noop

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


LEFT_OUT = noop("{name} is left out{place}")
TOO_LARGE = noop("an index{about} is one too large{place}")
TOO_SMALL = noop("an index{about} is one too small{place}")
BEGINS = (noop("a part{about} begins one too late"), noop("a part{about} begins one too early"))
ENDS = (noop("a part{about} ends one too late"), noop("a part{about} ends one too early"))
NO_BEGINNING, NO_END = (
    noop("a part{about} is not cut off where it begins"),
    noop("a part{about} is not cut off where it ends"),
)


def of_call(node: ast.Call, voice: Voice, place: Place) -> Iterator[Change]:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name.startswith("_"):
        return
    if isinstance(node.func, ast.Name):
        for other in RELATIVES.get(name, []):
            if other not in voice.known:
                continue
            words = phrase(STANDS, one=code(other), other=code(name), place=place.words)
            yield 2, words, ast.Call(ast.Name(other, ast.Load()), node.args, node.keywords)
    is_module = isinstance(node.func, ast.Attribute) and getattr(node.func.value, "id", "") in MODULES
    if node.args and name not in NO_WRAPPERS and (isinstance(node.func, ast.Name) or is_module):
        yield 2, phrase(LEFT_OUT, name=code(name), place=place.words), node.args[0]
    elif isinstance(node.func, ast.Attribute) and name == "copy" and not is_module:
        yield 1, phrase("a copy is missing{place}", place=place.words), node.func.value
    elif isinstance(node.func, ast.Attribute) and not is_module:
        yield 2, phrase(LEFT_OUT, name=code(name), place=place.words), node.func.value
    if name == "enumerate" and len(node.args) == 1:
        words = phrase("counting begins at 1{place}", place=place.words)
        yield 1, words, ast.Call(node.func, [*node.args, ast.Constant(1)], [])
    if name in voice.known:
        yield from _of_arguments(node, code(name), voice, place)


def _of_arguments(node: ast.Call, name: str, voice: Voice, place: Place) -> Iterator[Change]:
    for number, keyword in enumerate(node.keywords):
        if keyword.arg:
            rest = [*node.keywords[:number], *node.keywords[number + 1 :]]
            words = phrase(
                "{argument} is left out where {name} is called{place}",
                argument=code(keyword.arg),
                name=name,
                place=place.words,
            )
            yield 1, words, ast.Call(node.func, node.args, rest)
    for number in range(len(node.args)):
        if len(node.args) > 1:
            rest_of = [*node.args[:number], *node.args[number + 1 :]]
            words = phrase("an argument of {name} is left out{place}", name=name, place=place.words)
            yield 3, words, ast.Call(node.func, rest_of, node.keywords)
        part = node.args[number]
        if isinstance(part, ast.Starred):
            turned = ast.Subscript(
                part.value, ast.Slice(None, None, ast.UnaryOp(ast.USub(), ast.Constant(1))), ast.Load()
            )
            new = [*node.args[:number], ast.Starred(turned, ast.Load()), *node.args[number + 1 :]]
            words = phrase("arguments of {name} are handed over in reversed order", name=name)
            yield 2, words, ast.Call(node.func, new, node.keywords)
    for first in range(len(node.args) - 1):
        swapped = list(node.args)
        swapped[first : first + 2] = reversed(swapped[first : first + 2])
        about = voice.of(WITH, *node.args[first : first + 2])
        words = phrase("two arguments of {name} are exchanged{about}", name=name, about=about)
        yield 3, words, ast.Call(node.func, swapped, node.keywords)


def of_index(node: ast.Subscript, voice: Voice, place: Place) -> Iterator[Change]:
    about, index = voice.of(OF, node.value), node.slice
    if isinstance(index, ast.Tuple):
        for first in range(len(index.elts) - 1):
            swapped = list(index.elts)
            swapped[first : first + 2] = reversed(swapped[first : first + 2])
            words = phrase("two indices{about} are exchanged", about=about)
            yield 2, words, ast.Subscript(node.value, ast.Tuple(swapped, ast.Load()), node.ctx)
    elif isinstance(index, ast.Slice):
        yield from _of_slice(node, index, about) if voice.is_cut(node.value) else ()
    elif isinstance(node.ctx, ast.Load):
        source = voice.of(IN, node.value)
        yield 3, phrase("nothing is looked up{source}{place}", source=source, place=place.words), index
        yield 3, phrase("an index{about} is left out{place}", about=about, place=place.words), node.value
    if isinstance(index, (ast.Name, ast.BinOp)):
        for slip, op in ((TOO_LARGE, ast.Add()), (TOO_SMALL, ast.Sub())):
            moved = _indexed(node, ast.BinOp(index, op, ast.Constant(1)))
            yield 2, phrase(slip, about=about, place=place.words), moved
        words = phrase("the same element{about} is taken each time{place}", about=about, place=place.words)
        yield 3, words, _indexed(node, ast.Constant(0))


def _of_slice(node: ast.Subscript, index: ast.Slice, about: str) -> Iterator[Change]:
    for name, (late, early), uncut in (("lower", BEGINS, NO_BEGINNING), ("upper", ENDS, NO_END)):
        bound = getattr(index, name)
        if bound is None:
            words, moved = (late, 1) if name == "lower" else (early, -1)
            yield 3, phrase(words, about=about), _cut(node, index, name, ast.Constant(moved))
            continue
        yield 2, phrase(uncut, about=about), _cut(node, index, name, None)
        for op, words in ((ast.Add(), late), (ast.Sub(), early)):
            yield 1, phrase(words, about=about), _cut(node, index, name, ast.BinOp(bound, op, ast.Constant(1)))
    if index.step is not None:
        said = phrase(
            "the step of a slice{about} is left out (does it run backwards, or leave some out?)",
            about=about,
        )
        yield 1, said, _cut(node, index, "step", None)
    if index.lower is not None and index.upper is None and index.step is None:
        said = phrase("the other part{about} is taken: what stands before, not behind", about=about)
        yield 3, said, _indexed(node, ast.Slice(None, index.lower))
    if index.upper is not None and index.lower is None and index.step is None:
        behind, last = ast.Slice(index.upper, None), ast.Slice(_negated(index.upper), None)
        said = phrase("the other part{about} is taken: what stands behind, not before", about=about)
        yield 3, said, _indexed(node, behind)
        said = phrase("the last ones{about} are taken, where the first ones belong", about=about)
        yield 2, said, _indexed(node, last)


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
        about = voice.of(OF, part.iter)
        for rank, words, iterated in iterations(part.iter):
            said = phrase("{what}{about}{place}", what=phrase(words), about=about, place=place.words)
            yield rank, said, _with_generator(node, number, iterated, part.ifs)
        if part.ifs:
            about = voice.of(ABOUT, *part.ifs)
            said = phrase("a condition{about} is left out{place}", about=about, place=place.words)
            yield 1, said, _with_generator(node, number, part.iter, [])


def iterations(iterated: ast.expr) -> Iterator[Change]:
    """What else a loop could go through."""
    as_list = ast.Call(ast.Name("list", ast.Load()), [iterated], [])
    for rank, words, cut in (
        (2, noop("the first element is left out"), ast.Slice(ast.Constant(1), None)),
        (2, noop("the last element is left out"), ast.Slice(None, ast.UnaryOp(ast.USub(), ast.Constant(1)))),
        (
            2,
            noop("the elements come in reversed order"),
            ast.Slice(None, None, ast.UnaryOp(ast.USub(), ast.Constant(1))),
        ),
        (3, noop("only the first element is looked at"), ast.Slice(None, ast.Constant(1))),
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
            is_shown = isinstance(gone, ast.Constant)
            value = phrase(": {value}", value=ast.unparse(gone)) if is_shown else voice.of(WITH, gone)
            words = phrase("one of several values is missing{place}{value}", place=place.words, value=value)
            yield 3, words, type(node)(rest, node.ctx)
    if len(node.elts) > 4:
        return
    for first in range(len(node.elts)):
        for second in range(first + 1, len(node.elts)):
            swapped = list(node.elts)
            swapped[first], swapped[second] = swapped[second], swapped[first]
            about = voice.of(WITH, node.elts[first], node.elts[second])
            words = phrase("two of several values are exchanged{about}{place}", about=about, place=place.words)
            yield 2, words, type(node)(swapped, node.ctx)
    if len(node.elts) == 4:
        words = phrase("the first two of four values and the last two are exchanged{place}", place=place.words)
        yield 2, words, type(node)([*node.elts[2:], *node.elts[:2]], node.ctx)

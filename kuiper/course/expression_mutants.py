"""The slips within an expression: a comparison, a number, an operator, a name, a call, an index that is another one."""

from __future__ import annotations

import ast
import copy
from typing import TYPE_CHECKING

from kuiper.course.call_mutants import RELATIVES, of_call, of_comprehension, of_elements, of_index
from kuiper.course.interpreted import DIVISION
from kuiper.course.mutant_words import ABOUT, BY, NEAR, OF, WITH, Place
from kuiper.course.name_mutants import A_NAME, MODULES, STANDS
from kuiper.course.phrases import code, phrase
from kuiper.language import noop

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kuiper.course.call_mutants import Change
    from kuiper.course.mutant_words import Voice

EQUAL_TOO = noop("a comparison{about} also holds where both sides are equal, and should not")
NOT_EQUAL = noop("a comparison{about} does not hold where both sides are equal, and should")
TURNED = noop("a comparison{about} is turned round")
EQUAL_ONLY = noop("a comparison{about} only holds where both sides are equal")
COMPARISONS: dict[type[ast.cmpop], list[tuple[int, type[ast.cmpop], str]]] = {
    ast.Lt: [(0, ast.LtE, EQUAL_TOO), (3, ast.Gt, TURNED), (4, ast.GtE, TURNED)],
    ast.LtE: [(0, ast.Lt, NOT_EQUAL), (3, ast.GtE, TURNED), (4, ast.Gt, TURNED), (4, ast.Eq, EQUAL_ONLY)],
    ast.Gt: [(0, ast.GtE, EQUAL_TOO), (3, ast.Lt, TURNED), (4, ast.LtE, TURNED)],
    ast.GtE: [(0, ast.Gt, NOT_EQUAL), (3, ast.LtE, TURNED), (4, ast.Lt, TURNED), (4, ast.Eq, EQUAL_ONLY)],
    ast.Eq: [
        (3, ast.NotEq, TURNED),
        (3, ast.GtE, noop("a comparison{about} also holds where the left side is larger")),
        (3, ast.LtE, noop("a comparison{about} also holds where the left side is smaller")),
    ],
    ast.NotEq: [
        (3, ast.Eq, TURNED),
        (2, ast.Gt, noop("a comparison{about} does not hold where the left side is smaller, and should")),
        (2, ast.Lt, noop("a comparison{about} does not hold where the left side is larger, and should")),
    ],
    ast.In: [(3, ast.NotIn, TURNED)],
    ast.NotIn: [(3, ast.In, TURNED)],
    ast.Is: [(3, ast.IsNot, TURNED)],
    ast.IsNot: [(3, ast.Is, TURNED)],
}  # fmt: skip


def changes(node: ast.expr, voice: Voice, place: Place, relatives: dict[str, list[str]]) -> Iterator[Change]:
    """The changes of one expression; ``relatives`` are the names that could stand for each name in its function."""
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == DIVISION:
        node = ast.BinOp(node.args[0], ast.Div(), node.args[1])
    if isinstance(node, ast.Compare):
        yield from _of_comparison(node, voice)
    elif isinstance(node, ast.BoolOp):
        yield from _of_conditions(node, voice)
    elif isinstance(node, ast.BinOp):
        yield from _of_arithmetic(node, voice, place)
    elif isinstance(node, ast.UnaryOp):
        yield from _of_sign(node, place)
    elif isinstance(node, ast.Constant):
        yield from _of_number(node, place)
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        for other in relatives.get(node.id, []):
            both = other in voice.known and node.id in voice.known
            named = phrase(STANDS, one=code(other), other=code(node.id), place=place.words)
            yield 3, named if both else phrase(A_NAME, place=place.words), ast.Name(other, ast.Load())
    elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
        for other in dict.fromkeys([*RELATIVES.get(node.attr, []), *_relatives_of(node, relatives)]):
            if other not in voice.known:
                continue
            words = phrase(STANDS, one=code(other), other=code(node.attr), place=place.words)
            yield 3, words, ast.Attribute(node.value, other, ast.Load())
    elif isinstance(node, ast.Call):
        yield from of_call(node, voice, place)
    elif isinstance(node, ast.Subscript):
        yield from of_index(node, voice, place)
    elif isinstance(node, ast.IfExp):
        fields = {"about": voice.of(ABOUT, node.test), "place": place.words}
        turned = ast.IfExp(node.test, node.orelse, node.body)
        yield 3, phrase("the two cases{about} are exchanged{place}", **fields), turned
        yield 2, phrase("the case{about} is not treated{place}", **fields), node.orelse
        yield 2, phrase("one case{about} is taken always{place}", **fields), node.body
    elif isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp)):
        yield from of_comprehension(node, voice, place)
    elif isinstance(node, (ast.Tuple, ast.List)):
        yield from of_elements(node, voice, place)


def _relatives_of(node: ast.Attribute, relatives: dict[str, list[str]]) -> list[str]:
    return [] if getattr(node.value, "id", "") in MODULES else relatives.get(f".{node.attr}", [])


def _of_comparison(node: ast.Compare, voice: Voice) -> Iterator[Change]:
    parts = [node.left, *node.comparators]
    for number, op in enumerate(node.ops):
        left, right = (voice.several(part) for part in parts[number : number + 2])
        both = phrase(" of {left} with {right}", left=left, right=right)
        about = both if left and right else phrase(OF, names=left or right) if left or right else ""
        for rank, other, words in COMPARISONS.get(type(op), []):
            new = copy.copy(node)
            new.ops = [*node.ops[:number], other(), *node.ops[number + 1 :]]
            yield rank, phrase(words, about=about), new
    if len(node.ops) == 2:  # a <= b < c
        about = voice.of(OF, parts[1])
        for first, border in ((0, parts[2]), (1, parts[0])):
            value = ast.unparse(border) if isinstance(border, ast.Constant) else voice.several(border)
            which = phrase(": {border}", border=value) if value else ""
            words = phrase(
                "a comparison{about} does not ask for one of its two borders{border}", about=about, border=which
            )
            yield 1, words, ast.Compare(parts[first], [node.ops[first]], [parts[first + 1]])


def _of_conditions(node: ast.BoolOp, voice: Voice) -> Iterator[Change]:
    for number, left_out in enumerate(node.values):
        rest = [value for value in node.values if value is not left_out]
        new = rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
        which = voice.of(ABOUT, left_out) or phrase(" in place {number}", number=number + 1)
        yield 1, phrase("a part of a condition is left out: the one{which}", which=which), new
    one, other = ("and", "or") if isinstance(node.op, ast.Or) else ("or", "and")
    op = ast.And() if one == "and" else ast.Or()
    about = voice.of(ABOUT, node)
    words = phrase(
        "{one} stands where {other} belongs, in the condition{about}", one=code(one), other=code(other), about=about
    )
    yield 3, words, ast.BoolOp(op, node.values)


def _of_arithmetic(node: ast.BinOp, voice: Voice, place: Place) -> Iterator[Change]:
    left, right, op = node.left, node.right, type(node.op)
    for gone, kept, rank in ((right, left, 1), (left, right, 2)):
        beside = Place(voice.of(NEAR, kept), place.role) if place.is_near else place
        yield rank, _left_out(op, gone, gone is right, voice, beside), kept
    if op in (ast.Sub, ast.Div, ast.FloorDiv, ast.Pow, ast.Mod):
        words = phrase(TURNED_ROUND.get(op, TURNED_QUOTIENT), place=place.words)
        yield 3, words, ast.BinOp(right, node.op, left)
    for other, rank, slip in OPERATORS.get(op, []):
        yield rank, _of_operator(slip, voice.of(NEAR, right), place), ast.BinOp(left, other(), right)
    yield from _of_brackets(node, place)
    if op is ast.FloorDiv:
        up = ast.UnaryOp(ast.USub(), ast.BinOp(ast.UnaryOp(ast.USub(), left), ast.FloorDiv(), right))
        words = phrase("a quotient is rounded up, and should be rounded down{place}", place=place.words)
        yield 1, words, up


def _of_operator(slip: str | tuple[str, str], about: str, place: Place) -> str:
    """The words for another operator: a message, or the operator that stands there and the one that belongs."""
    about = "" if place.is_near else about
    if isinstance(slip, str):
        return phrase(slip, about=about, place=place.words)
    return phrase(
        "{one} stands where {other} belongs{about}{place}",
        one=code(slip[0]),
        other=code(slip[1]),
        about=about,
        place=place.words,
    )


TURNED_QUOTIENT = noop("a quotient is turned round{place}")
TURNED_ROUND: dict[type[ast.operator], str] = {
    ast.Sub: noop("a difference is turned round{place}"),
    ast.Pow: noop("a power is turned round{place}"),
}
SUMS, PRODUCTS = (ast.Add, ast.Sub), (ast.Mult, ast.Div, ast.FloorDiv, ast.Mod)


def _of_brackets(node: ast.BinOp, place: Place) -> Iterator[Change]:
    """``a / (b + c)`` without its brackets, and ``a / b + c`` with such brackets."""
    left, right = node.left, node.right
    if isinstance(node.op, PRODUCTS) and isinstance(right, ast.BinOp) and isinstance(right.op, SUMS):
        bare = ast.BinOp(ast.BinOp(left, node.op, right.left), right.op, right.right)
        yield 2, phrase("brackets are missing{place}", place=place.words), bare
    if isinstance(node.op, PRODUCTS) and isinstance(left, ast.BinOp) and isinstance(left.op, SUMS):
        bare = ast.BinOp(left.left, left.op, ast.BinOp(left.right, node.op, right))
        yield 2, phrase("brackets are missing{place}", place=place.words), bare
    if isinstance(node.op, SUMS) and isinstance(left, ast.BinOp) and isinstance(left.op, PRODUCTS):
        around = ast.BinOp(left.left, left.op, ast.BinOp(left.right, node.op, right))
        yield 3, phrase("brackets are too many{place}", place=place.words), around
    if isinstance(node.op, SUMS) and isinstance(right, ast.BinOp) and isinstance(right.op, PRODUCTS):
        around = ast.BinOp(ast.BinOp(left, node.op, right.left), right.op, right.right)
        yield 3, phrase("brackets are too many{place}", place=place.words), around


OPERATORS: dict[type[ast.operator], list[tuple[type[ast.operator], int, str | tuple[str, str]]]] = {
    ast.Add: [
        (ast.Sub, 2, noop("something is subtracted that is to be added{about}{place}")),
        (ast.Mult, 4, ("*", "+")),
    ],
    ast.Sub: [
        (ast.Add, 2, noop("something is added that is to be subtracted{about}{place}")),
        (ast.Div, 4, ("/", "-")),
    ],
    ast.Mult: [
        (ast.Div, 2, noop("something is divided that is to be multiplied{about}{place}")),
        (ast.Add, 3, ("+", "*")),
    ],
    ast.Div: [
        (ast.Mult, 2, noop("something is multiplied that is to be divided{about}{place}")),
        (ast.FloorDiv, 1, noop("a quotient loses its fraction{about}{place}")),
    ],
    ast.FloorDiv: [
        (ast.Div, 1, noop("a quotient keeps its fraction{about}{place}")),
        (ast.Mult, 4, noop("something is multiplied that is to be divided{about}{place}")),
        (ast.Mod, 4, ("%", "//")),
    ],
    ast.Mod: [(ast.FloorDiv, 3, ("//", "%"))],
    ast.Pow: [(ast.Mult, 3, noop("`*` stands where a power belongs{about}{place}"))],
}


def _left_out(op: type[ast.operator], gone: ast.expr, is_right: bool, voice: Voice, place: Place) -> str:
    is_shown = isinstance(gone, ast.Constant)
    fields = {
        "which": phrase(" {value}", value=ast.unparse(gone)) if is_shown else voice.of(WITH, gone),
        "place": place.words,
    }
    if op is ast.Add:
        return phrase("a term{which} is not added{place}", **fields)
    if op is ast.Sub and is_right:
        return phrase("a term{which} is not subtracted{place}", **fields)
    if op is ast.Sub:
        return phrase("only what is to be subtracted is left of a difference{place}", place=place.words)
    if op is ast.Mult:
        return phrase("a factor{which} is left out{place}", **fields)
    if op in (ast.Div, ast.FloorDiv) and is_right:
        divisor = phrase(BY, names=ast.unparse(gone)) if is_shown else voice.of(BY, gone)
        return phrase("the division{divisor} is left out{place}", divisor=divisor, place=place.words)
    if op in (ast.Div, ast.FloorDiv):
        return phrase("only the divisor is left of a quotient{place}", place=place.words)
    return phrase("one side of an operation{which} is left out{place}", **fields)


def _of_sign(node: ast.UnaryOp, place: Place) -> Iterator[Change]:
    if isinstance(node.op, ast.USub):
        yield 2, phrase("a minus sign is missing{place}", place=place.words), node.operand
        if isinstance(node.operand, ast.Constant) and node.operand.value == 1:
            yield (
                2,
                phrase("the first one is taken where the last one belongs{place}", place=place.words),
                ast.Constant(0),
            )
            yield (
                3,
                phrase("the last but one is taken where the last one belongs{place}", place=place.words),
                ast.Constant(-2),
            )
        elif not isinstance(node.operand, ast.Constant):
            yield (
                1,
                phrase("0 stands where the smallest of all numbers belongs{place}", place=place.words),
                ast.Constant(0),
            )
    elif isinstance(node.op, ast.Not):
        yield 3, phrase("a `not` is missing{place}", place=place.words), node.operand


def _of_number(node: ast.Constant, place: Place) -> Iterator[Change]:
    value = node.value
    if type(value) is bool:
        yield 3, phrase(STANDS, one=str(not value), other=str(value), place=place.words), ast.Constant(not value)
    elif type(value) is int:
        what = place.a(phrase("a number"))
        # The larger one first: as an index, -1 is the last place, which may be right by chance.
        yield (
            1,
            phrase("{what} is one too large{place}", what=what, place=place.words),
            ast.Constant(value + 1),
        )
        yield (
            1,
            phrase("{what} is one too small{place}", what=what, place=place.words),
            ast.Constant(value - 1),
        )
        if value > 1:
            yield (
                3,
                phrase("{what} is 0, and should be another one{place}", what=what, place=place.words),
                ast.Constant(0),
            )
        if value == 0:
            yield (
                3,
                phrase("the last one is taken where the first one belongs{place}", place=place.words),
                ast.Constant(-1),
            )
    elif type(value) is float:
        yield (
            2,
            phrase("a 0 stands where another number belongs{place}", place=place.words),
            ast.Constant(0.0 if value else 1.0),
        )
        yield (
            3,
            phrase("a 1 stands where another number belongs{place}", place=place.words),
            ast.Constant(1.0 if value != 1 else 2.0),
        )
        yield 3, phrase("a sign is turned{place}", place=place.words), ast.Constant(-value)

"""The slips within an expression: a comparison, a number, an operator, a name, a call, an index that is another one."""

from __future__ import annotations

import ast
import copy
from typing import TYPE_CHECKING

from kuiper.course.call_mutants import RELATIVES, of_call, of_comprehension, of_elements, of_index
from kuiper.course.interpreted import DIVISION
from kuiper.course.name_mutants import MODULES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kuiper.course.call_mutants import Change
    from kuiper.course.mutant_words import Place, Voice

EQUAL_TOO = "also holds where both sides are equal, and should not"
NOT_EQUAL = "does not hold where both sides are equal, and should"
TURNED = "is turned round"
EQUAL_ONLY = "only holds where both sides are equal"
COMPARISONS: dict[type[ast.cmpop], list[tuple[int, type[ast.cmpop], str]]] = {
    ast.Lt: [(0, ast.LtE, EQUAL_TOO), (3, ast.Gt, TURNED), (4, ast.GtE, TURNED)],
    ast.LtE: [(0, ast.Lt, NOT_EQUAL), (3, ast.GtE, TURNED), (4, ast.Gt, TURNED), (4, ast.Eq, EQUAL_ONLY)],
    ast.Gt: [(0, ast.GtE, EQUAL_TOO), (3, ast.Lt, TURNED), (4, ast.LtE, TURNED)],
    ast.GtE: [(0, ast.Gt, NOT_EQUAL), (3, ast.LtE, TURNED), (4, ast.Lt, TURNED), (4, ast.Eq, EQUAL_ONLY)],
    ast.Eq: [
        (3, ast.NotEq, TURNED),
        (3, ast.GtE, "also holds where the left side is larger"),
        (3, ast.LtE, "also holds where the left side is smaller"),
    ],
    ast.NotEq: [
        (3, ast.Eq, TURNED),
        (2, ast.Gt, "does not hold where the left side is smaller, and should"),
        (2, ast.Lt, "does not hold where the left side is larger, and should"),
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
            words = (
                f"`{other}` stands where `{node.id}` belongs{place}"
                if both
                else f"a name stands where another belongs{place}"
            )
            yield 3, words, ast.Name(other, ast.Load())
    elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
        for other in dict.fromkeys([*RELATIVES.get(node.attr, []), *_relatives_of(node, relatives)]):
            yield (
                3,
                f"`{other}` stands where `{node.attr}` belongs{place}",
                ast.Attribute(node.value, other, ast.Load()),
            )
    elif isinstance(node, ast.Call):
        yield from of_call(node, voice, place)
    elif isinstance(node, ast.Subscript):
        yield from of_index(node, voice, place)
    elif isinstance(node, ast.IfExp):
        yield (
            3,
            f"the two cases{voice.of('about', node.test)} are exchanged{place}",
            ast.IfExp(node.test, node.orelse, node.body),
        )
        yield 2, f"the case{voice.of('about', node.test)} is not treated{place}", node.orelse
        yield 2, f"one case{voice.of('about', node.test)} is taken always{place}", node.body
    elif isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp)):
        yield from of_comprehension(node, voice, place)
    elif isinstance(node, (ast.Tuple, ast.List)):
        yield from of_elements(node, voice, place)


def _relatives_of(node: ast.Attribute, relatives: dict[str, list[str]]) -> list[str]:
    return [] if getattr(node.value, "id", "") in MODULES else relatives.get(f".{node.attr}", [])


def _of_comparison(node: ast.Compare, voice: Voice) -> Iterator[Change]:
    parts = [node.left, *node.comparators]
    for number, op in enumerate(node.ops):
        about = voice.of("of", parts[number]) + voice.of(
            "with" if voice.of("of", parts[number]) else "of", parts[number + 1]
        )
        for rank, other, words in COMPARISONS.get(type(op), []):
            new = copy.copy(node)
            new.ops = [*node.ops[:number], other(), *node.ops[number + 1 :]]
            yield rank, f"a comparison{about} {words}", new
    if len(node.ops) == 2:  # a <= b < c
        words = f"one of the two borders of a comparison is not asked for{voice.of(':', node)}"
        for first in (0, 1):
            yield 1, words, ast.Compare(parts[first], [node.ops[first]], [parts[first + 1]])


def _of_conditions(node: ast.BoolOp, voice: Voice) -> Iterator[Change]:
    for number, left_out in enumerate(node.values):
        rest = [value for value in node.values if value is not left_out]
        new = rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
        yield (
            1,
            f"a part of a condition is left out: the one{voice.of('about', left_out) or f' in place {number + 1}'}",
            new,
        )
    one, other = ("and", "or") if isinstance(node.op, ast.Or) else ("or", "and")
    op = ast.And() if one == "and" else ast.Or()
    yield (
        3,
        f"`{one}` stands where `{other}` belongs, in the condition{voice.of('about', node)}",
        ast.BoolOp(op, node.values),
    )


def _of_arithmetic(node: ast.BinOp, voice: Voice, place: Place) -> Iterator[Change]:
    left, right, op = node.left, node.right, type(node.op)
    for gone, kept, rank in ((right, left, 1), (left, right, 2)):
        yield rank, _left_out(op, gone, gone is right, voice, place), kept
    if op in (ast.Sub, ast.Div, ast.FloorDiv, ast.Pow, ast.Mod):
        what = {ast.Sub: "a difference", ast.Pow: "a power"}.get(op, "a quotient")
        yield 3, f"{what} is turned round{place}", ast.BinOp(right, node.op, left)
    for other, rank, words in OPERATORS.get(op, []):
        yield rank, f"{words}{voice.of('near', right)}{place}", ast.BinOp(left, other(), right)
    yield from _of_brackets(node, place)
    if op is ast.FloorDiv:
        up = ast.UnaryOp(ast.USub(), ast.BinOp(ast.UnaryOp(ast.USub(), left), ast.FloorDiv(), right))
        yield 1, f"a quotient is rounded up, and should be rounded down{place}", up


SUMS, PRODUCTS = (ast.Add, ast.Sub), (ast.Mult, ast.Div, ast.FloorDiv, ast.Mod)


def _of_brackets(node: ast.BinOp, place: Place) -> Iterator[Change]:
    """``a / (b + c)`` without its brackets, and ``a / b + c`` with such brackets."""
    left, right = node.left, node.right
    if isinstance(node.op, PRODUCTS) and isinstance(right, ast.BinOp) and isinstance(right.op, SUMS):
        bare = ast.BinOp(ast.BinOp(left, node.op, right.left), right.op, right.right)
        yield 2, f"brackets are missing{place}", bare
    if isinstance(node.op, PRODUCTS) and isinstance(left, ast.BinOp) and isinstance(left.op, SUMS):
        bare = ast.BinOp(left.left, left.op, ast.BinOp(left.right, node.op, right))
        yield 2, f"brackets are missing{place}", bare
    if isinstance(node.op, SUMS) and isinstance(left, ast.BinOp) and isinstance(left.op, PRODUCTS):
        around = ast.BinOp(left.left, left.op, ast.BinOp(left.right, node.op, right))
        yield 3, f"brackets are too many{place}", around
    if isinstance(node.op, SUMS) and isinstance(right, ast.BinOp) and isinstance(right.op, PRODUCTS):
        around = ast.BinOp(ast.BinOp(left, node.op, right.left), right.op, right.right)
        yield 3, f"brackets are too many{place}", around


OPERATORS: dict[type[ast.operator], list[tuple[type[ast.operator], int, str]]] = {
    ast.Add: [
        (ast.Sub, 2, "something is subtracted that is to be added"),
        (ast.Mult, 4, "`*` stands where `+` belongs"),
    ],
    ast.Sub: [
        (ast.Add, 2, "something is added that is to be subtracted"),
        (ast.Div, 4, "`/` stands where `-` belongs"),
    ],
    ast.Mult: [
        (ast.Div, 2, "something is divided that is to be multiplied"),
        (ast.Add, 3, "`+` stands where `*` belongs"),
    ],
    ast.Div: [
        (ast.Mult, 2, "something is multiplied that is to be divided"),
        (ast.FloorDiv, 1, "a quotient loses its fraction"),
    ],
    ast.FloorDiv: [
        (ast.Div, 1, "a quotient keeps its fraction"),
        (ast.Mult, 4, "something is multiplied that is to be divided"),
        (ast.Mod, 4, "`%` stands where `//` belongs"),
    ],
    ast.Mod: [(ast.FloorDiv, 3, "`//` stands where `%` belongs")],
    ast.Pow: [(ast.Mult, 3, "`*` stands where a power belongs")],
}


def _left_out(op: type[ast.operator], gone: ast.expr, is_right: bool, voice: Voice, place: Place) -> str:
    shown = f" {ast.unparse(gone)}" if isinstance(gone, ast.Constant) else voice.of("with", gone)
    if op is ast.Add:
        return f"a term{shown} is not added{place}"
    if op is ast.Sub:
        return (
            f"a term{shown} is not subtracted{place}"
            if is_right
            else f"only what is to be subtracted is left of a difference{place}"
        )
    if op is ast.Mult:
        return f"a factor{shown} is left out{place}"
    if op in (ast.Div, ast.FloorDiv):
        return (
            f"the division{voice.of('by', gone) or (f' by{shown}' if shown else '')} is left out{place}"
            if is_right
            else f"only the divisor is left of a quotient{place}"
        )
    return f"one side of an operation{shown} is left out{place}"


def _of_sign(node: ast.UnaryOp, place: Place) -> Iterator[Change]:
    if isinstance(node.op, ast.USub):
        yield 2, f"a minus sign is missing{place}", node.operand
        if isinstance(node.operand, ast.Constant) and node.operand.value == 1:
            yield 2, f"the first one is taken where the last one belongs{place}", ast.Constant(0)
            yield 3, f"the last but one is taken where the last one belongs{place}", ast.Constant(-2)
        elif not isinstance(node.operand, ast.Constant):
            yield 1, f"0 stands where the smallest of all numbers belongs{place}", ast.Constant(0)
    elif isinstance(node.op, ast.Not):
        yield 3, f"a `not` is missing{place}", node.operand


def _of_number(node: ast.Constant, place: Place) -> Iterator[Change]:
    value = node.value
    if type(value) is bool:
        yield 3, f"{not value} stands where {value} belongs{place}", ast.Constant(not value)
    elif type(value) is int:
        # The larger one first: as an index, -1 is the last place, which may be right by chance.
        yield 1, f"{place.a('a number')} is one too large{place}", ast.Constant(value + 1)
        yield 1, f"{place.a('a number')} is one too small{place}", ast.Constant(value - 1)
        if value > 1:
            yield 3, f"{place.a('a number')} is 0, and should be another one{place}", ast.Constant(0)
        if value == 0:
            yield 3, f"the last one is taken where the first one belongs{place}", ast.Constant(-1)
    elif type(value) is float:
        yield 2, f"a 0 stands where another number belongs{place}", ast.Constant(0.0 if value else 1.0)
        yield 3, f"a 1 stands where another number belongs{place}", ast.Constant(1.0 if value != 1 else 2.0)
        yield 3, f"a sign is turned{place}", ast.Constant(-value)

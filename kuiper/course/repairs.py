"""Changes of one place of a student's own file: the one that makes a failing test pass says where the mistake is.

Slips are changes of the solution, so they explain only files that go the solution's way. A student may go another one,
in which a single place is wrong. The same changes are tried there, and their words are turned round: where a file is
right as soon as a number is one larger, the student's is one too small.
"""

from __future__ import annotations

import ast
import re
from functools import partial
from typing import TYPE_CHECKING

from kuiper.course.call_mutants import NO_WRAPPERS
from kuiper.course.expression_mutants import EQUAL_TOO, NOT_EQUAL
from kuiper.course.mutants import Mutant, expressions, is_made, mutants, names_in, statements

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_CODE = 40  # signs of the student's code that are quoted
ELSE = "something else belongs"  # what is said where a change has no words of its own
MADE = re.compile(r"\b_\w+\(")  # what the Python of a .pyx has, and the student's file has not
PAIRS = (
    (EQUAL_TOO, NOT_EQUAL),
    ("one too small", "one too large"),
    ("one too early", "one too late"),
    ("one turn too early", "one turn too late"),
    ("something is subtracted that is to be added", "something is added that is to be subtracted"),
    ("something is divided that is to be multiplied", "something is multiplied that is to be divided"),
    ("a quotient loses its fraction", "a quotient keeps its fraction"),
)
SAME = re.compile(r"(?:are|is) (?:exchanged|turned round)|are in the other order|a sign is turned")
TURNED = (  # the words of a change, and what is wrong where it mends
    (r"^(`[^`]+`|True|False) stands where (`[^`]+`|True|False) belongs", r"\2 stands where \1 belongs"),
    (r"^(`\w+`) and (`\w+`) stand where (`\w+`) and (`\w+`) belong", r"\3 and \4 stand where \1 and \2 belong"),
    (r"^a name stands where another belongs", "a name stands where another belongs"),
    (r"^a quotient is rounded up, and should be rounded down", "a quotient is rounded down, and should be rounded up"),
    (r"^a term(.*?) is not (added|subtracted)", r"a term\1 is \2 that should not be"),
    (r"^a factor(.*?) is left out", r"a factor\1 is too many"),
    (r"^the division(.*?) is left out", r"a division\1 is too many"),
    (r"^a part of a condition is left out: the one", "a condition asks for too much: the part"),
    (r"^one of the two borders of a comparison is not asked for", "a comparison asks for a border too many"),
    (r"^a check is missing: nothing refuses the case", "a check refuses what it should not"),
    (r"^the case(.*?) is not treated", r"the case\1 is treated apart, and should not be"),
    (r"^(`\w+`) is left out", r"\1 is called where it should not be"),
    (r"^a minus sign is missing", "a minus sign is too many"),
    (r"^a `not` is missing", "a `not` is too many"),
    (r"^(.*) is not set where it should be", r"\1 is set where it should not be"),
    (r"^(.*) is not changed where it should be", r"\1 is changed where it should not be"),
    (r"^(.*) is set anew each time: .*", r"something is added to \1, or taken from it, and it is to be set"),
    (r"^something is added to (.*?), which is to be set", r"\1 is set anew each time, and should be added to"),
    (r"^(.*) becomes less where it should not", r"\1 becomes more where it should become less"),
    (r"^(.*) becomes more where it should not", r"\1 becomes less where it should become more"),
    (r"^a part(.*?) is not cut off where it (begins|ends)", r"a part\1 is cut off where it \2, and should not be"),
    (r"^(.*) runs backwards$", r"\1 runs forwards, and should run backwards"),
    (r"^counting begins at 1", "counting begins at 0, and should begin at 1"),
    (r"^one of several values is missing", "one of several values is too many"),
    (r"^brackets are missing", "brackets are too many"),
    (r"^brackets are too many", "brackets are missing"),
    (r"^(`\w+`) is handed on to", r"\1 is not handed on to"),
    (r"^another number stands", "another number belongs"),
    (r"^(`\w+`) is used", r"\1 is not used: it belongs"),
    (r"^an argument of (`\w+`) is left out", r"an argument of \1 is too many"),
    (
        r"^(.*) is set once, before (.*), and not anew in each turn$",
        r"\1 is set anew in each turn of \2, and should be set before it",
    ),
    (r"^(.*) is set anew in each turn of (.*), and should be .*", r"\1 is set once, before \2, and not in each turn"),
    (r"^the last line in (.*) stands behind it, and .*", r"the last line in \1 belongs behind it"),
    (r"^the line behind (.*) stands in it.*", r"the line behind \1 belongs into it"),
)  # fmt: skip


def repairs(tree: ast.Module, text: str, function: str, solution: str = "") -> Iterator[Mutant]:
    """The changes of a student's file: first those in ``function``, the most natural first; ``wrong`` has the words.

    Numbers become those of the text of the ``solution``, too.
    """
    numbers = [float(word) if re.search(r"[.e]", word) else int(word) for word in sorted(_numbers(solution))]
    return mutants(tree, text, names_in(text), function, partial(_put_in, numbers))


def unread(tree: ast.Module, function: str) -> dict[str, int]:
    """The parameters of a function that it never reads, and the line of the function."""
    name = function.rpartition(".")[2]
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            read = {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)}
            return {argument.arg: node.lineno for argument in node.args.args if argument.arg not in read}
    return {}


def _numbers(text: str) -> set[str]:
    """The numbers in the code of a text, as they are written."""
    code = re.sub(r'(?s)""".*?"""|#[^\n]*', " ", text)
    return set(re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?:e-?\d+)?(?![\w.])", code))


def _put_in(numbers: list[float], number: int, function: ast.FunctionDef) -> Iterator[Mutant]:
    """What a student may have left out: a 1, an argument that is to be handed on, a parameter that nothing uses.

    And what he may have mistaken: one of the solution's ``numbers``.
    """
    names = [argument.arg for argument in function.args.args]
    read = {node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    for body, index, _ in statements(function.body, []):
        node = body[index]
        if is_made(node) or _is_docstring(node) or isinstance(node, ast.Raise):  # a message has many right forms
            continue
        for owner, key, part, _ in expressions(node):
            put_in = [*_by_one(owner, part), *_handed_on(part, names), *_unused(part, names, read)]
            for rank, words, new in [*put_in, *_other_numbers(part, numbers)]:
                yield Mutant(number, node.lineno, rank, words, ((owner, key, new),))


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _by_one(owner: object, part: ast.expr) -> Iterator[tuple[int, str, ast.expr]]:
    """What is computed, returned or compared is one larger or smaller."""
    may_be_one = isinstance(part, (ast.Name, ast.BinOp, ast.Subscript, ast.Attribute))
    is_read = isinstance(getattr(part, "ctx", ast.Load()), ast.Load)
    is_alone = isinstance(owner, (ast.Assign, ast.Return, ast.Compare)) or (isinstance(owner, list) and len(owner) == 1)
    if may_be_one and is_read and is_alone:
        for op, words in ((ast.Add(), "large"), (ast.Sub(), "small")):
            yield 2, f"a number is one too {words}", ast.BinOp(part, op, ast.Constant(1))


def _handed_on(part: ast.expr, names: list[str]) -> Iterator[tuple[int, str, ast.expr]]:
    """A call gets one of the parameters as its last argument."""
    if not isinstance(part, ast.Call) or not isinstance(part.func, (ast.Name, ast.Attribute)):
        return
    called = part.func.id if isinstance(part.func, ast.Name) else part.func.attr
    given = {argument.id for argument in part.args if isinstance(argument, ast.Name)}
    for name in names:
        if name not in given and called not in NO_WRAPPERS and not called.startswith("_"):
            more = ast.Call(part.func, [*part.args, ast.Name(name, ast.Load())], part.keywords)
            yield 2, f"`{name}` is handed on to `{called}`", more


def _other_numbers(part: ast.expr, numbers: list[float]) -> Iterator[tuple[int, str, ast.expr]]:
    if isinstance(part, ast.Constant) and type(part.value) in (int, float):
        for number in numbers:
            if number != part.value:
                yield 3, "another number stands", ast.Constant(number)


def _unused(part: ast.expr, names: list[str], read: set[str]) -> Iterator[tuple[int, str, ast.expr]]:
    """A parameter that nothing reads stands in the place of something."""
    if isinstance(getattr(part, "ctx", ast.Load()), ast.Load) and not is_made(part):
        for name in names:
            if name not in read and name != "self":
                yield 2, f"`{name}` is used", ast.Name(name, ast.Load())


def wrong(mutant: Mutant) -> str:
    """What is wrong in a file that this change makes right. The change is not made yet."""
    place, key, _ = mutant.edits[0]
    old = getattr(place, key) if isinstance(place, ast.AST) else place[key]
    where = _where(mutant.line, old)
    words = re.sub(
        r" where `\w+` is (?:computed|written)$| in (?:the line with|what is returned|the head of).*$", "", mutant.words
    )
    for one, other in PAIRS:
        for before, after in ((one, other), (other, one)):
            if before in words:
                return words.replace(before, after) + where
    if SAME.search(words):
        return words + where
    for pattern, after in TURNED:
        if re.search(pattern, words):
            return re.sub(pattern, after, words) + where
    return f"{ELSE}{where}"


def _where(line: int, old: object) -> str:
    """The line, and what stands there."""
    code = " ".join(ast.unparse(old).split()) if isinstance(old, ast.expr) else ""
    return f" in line {line}" + (f", at `{code}`" if 0 < len(code) <= MAX_CODE and not MADE.search(code) else "")

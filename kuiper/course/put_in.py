"""What a student may have left out or mistaken: changes of a file that no slip of a solution is turned round."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kuiper.course.call_mutants import NO_WRAPPERS
from kuiper.course.mutants import Mutant, expressions, is_made, statements
from kuiper.course.name_mutants import MODULES, STANDS
from kuiper.course.phrases import code, phrase
from kuiper.language import noop

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kuiper.course.call_mutants import Change

LEAVES = (ast.Break, ast.Continue, ast.Return, ast.Raise)
TURNABLE = "list"  # in the place of a name: what has this type can be turned round
MAX_TEXT = 12  # signs of a text in the solution that may stand where another one belongs
ONE_TOO_SMALL, ONE_TOO_LARGE = noop("{what} is one too small{place}"), noop("{what} is one too large{place}")


@dataclass(frozen=True)
class Parts:
    """What the functions of a solution hold, by their names: attributes that are read, and short texts."""

    attributes: dict[str, list[str]]
    texts: dict[str, list[str]]

    @classmethod
    def of(cls, solution: str) -> Parts:
        """Empty where the solution is no Python."""
        attributes, texts = {}, {}
        try:
            tree = ast.parse(solution)
        except SyntaxError:
            tree = ast.Module([], [])
        for function in ast.walk(tree):
            if isinstance(function, ast.FunctionDef):
                inside = [node for statement in function.body for node in ast.walk(statement)]
                read = [node for node in inside if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)]
                called = {id(node.func) for node in inside if isinstance(node, ast.Call)}
                names = [node.attr for node in read if id(node) not in called]
                attributes[function.name] = list(dict.fromkeys(names))
                values = [node.value for node in inside if isinstance(node, ast.Constant)]
                short = [value for value in values if isinstance(value, str) and len(value) <= MAX_TEXT]
                texts[function.name] = list(dict.fromkeys(short))
        return cls(attributes, texts)


def put_in(numbers: list[float], parts: Parts, number: int, function: ast.FunctionDef) -> Iterator[Mutant]:
    """What a student may have left out: a 1, an argument that is to be handed on, a parameter that nothing uses.

    And what he may have mistaken: one of the solution's ``numbers`` and its other ``parts``.
    """
    attributes, texts = parts.attributes.get(function.name, []), parts.texts.get(function.name, [])
    names = [argument.arg for argument in function.args.args]
    read = {node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    known = {*names} | {
        node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    attributed = {
        (node.value.id, node.attr): None
        for node in ast.walk(function)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr in known
    }
    for body, index, loops in statements(function.body, []):
        node = body[index]
        if loops and isinstance(node, ast.If) and not isinstance(node.body[-1], LEAVES):
            for word, leave in (("break", ast.Break()), ("continue", ast.Continue())):
                missing = phrase("a {word} ends an `if`", word=code(word))
                yield Mutant(number, node.lineno, 2, missing, ((node, "body", [*node.body, leave]),))
        if is_made(node) or _is_docstring(node) or isinstance(node, ast.Raise):  # a message has many right forms
            continue
        for owner, key, part, _ in expressions(node):
            more = [*_by_one(owner, part), *_handed_on(part, names), *_unused(part, names, read)]
            other = [*_other_numbers(part, numbers), *_other_texts(part, texts), *_other_attributes(part, attributes)]
            other += _of_same_name(part, attributed, known)
            for rank, words, new in [*more, *other]:
                yield Mutant(number, node.lineno, rank, words, ((owner, key, new),))
            for one, words, new in _other_names(owner, part, known):
                yield Mutant(number, node.lineno, 4, words, ((owner, key, new),), names=one)


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _by_one(owner: object, part: ast.expr) -> Iterator[Change]:
    """What is computed, returned or compared is one larger or smaller."""
    may_be_one = isinstance(part, (ast.Name, ast.BinOp, ast.Subscript, ast.Attribute))
    is_read = isinstance(getattr(part, "ctx", ast.Load()), ast.Load)
    is_alone = isinstance(owner, (ast.Assign, ast.Return, ast.Compare)) or (isinstance(owner, list) and len(owner) == 1)
    if may_be_one and is_read and is_alone:
        for op, words in ((ast.Add(), ONE_TOO_LARGE), (ast.Sub(), ONE_TOO_SMALL)):
            yield 2, phrase(words, what=phrase("a number"), place=""), ast.BinOp(part, op, ast.Constant(1))


def _handed_on(part: ast.expr, names: list[str]) -> Iterator[Change]:
    """A call gets one of the parameters as its last argument."""
    if not isinstance(part, ast.Call) or not isinstance(part.func, (ast.Name, ast.Attribute)):
        return
    called = part.func.id if isinstance(part.func, ast.Name) else part.func.attr
    given = {argument.id for argument in part.args if isinstance(argument, ast.Name)}
    for name in names:
        if name not in given and called not in NO_WRAPPERS and not called.startswith("_"):
            more = ast.Call(part.func, [*part.args, ast.Name(name, ast.Load())], part.keywords)
            yield 2, phrase("{name} is handed on to {called}", name=code(name), called=code(called)), more


def _other_numbers(part: ast.expr, numbers: list[float]) -> Iterator[Change]:
    if isinstance(part, ast.Constant) and type(part.value) in (int, float):
        for number in numbers:
            if number != part.value:
                yield 3, phrase("another number stands"), ast.Constant(number)


def _other_texts(part: ast.expr, texts: list[str]) -> Iterator[Change]:
    if isinstance(part, ast.Constant) and isinstance(part.value, str) and len(part.value) <= MAX_TEXT:
        for text in texts:
            if text != part.value:
                yield 3, phrase("another text stands"), ast.Constant(text)


def _other_attributes(part: ast.expr, attributes: list[str]) -> Iterator[Change]:
    """Another attribute, none, or one where there is none."""
    if not isinstance(getattr(part, "ctx", None), ast.Load):
        return
    if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) and part.value.id not in MODULES:
        fields = {"name": code(part.value.id), "attribute": code(part.attr)}
        yield 3, phrase("{name} stands alone, without its {attribute}", **fields), part.value
        for other in attributes:
            if other != part.attr:
                words = phrase(STANDS, one=code(other), other=code(part.attr), place="")
                yield 3, words, ast.Attribute(part.value, other, ast.Load())
    elif isinstance(part, ast.Name) and part.id not in MODULES:
        for other in attributes:
            words = phrase("{name} is asked for its {attribute}", name=code(part.id), attribute=code(other))
            yield 4, words, ast.Attribute(part, other, ast.Load())


def _of_same_name(part: ast.expr, attributed: Iterable[tuple[str, str]], known: set[str]) -> Iterator[Change]:
    """``shape`` for ``x.shape``, and ``x.shape`` for ``shape``."""
    if not isinstance(getattr(part, "ctx", None), ast.Load):
        return
    if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) and part.attr in known:
        words = phrase(STANDS, one=code(part.attr), other=code(ast.unparse(part)), place="")
        yield 3, words, ast.Name(part.attr, ast.Load())
    elif isinstance(part, ast.Name):
        for name, attribute in attributed:
            if attribute == part.id:
                words = phrase(STANDS, one=code(f"{name}.{attribute}"), other=code(attribute), place="")
                yield 3, words, ast.Attribute(ast.Name(name, ast.Load()), attribute, ast.Load())


def _other_names(owner: object, part: ast.expr, known: set[str]) -> Iterator[tuple[tuple[str, str], str, ast.expr]]:
    """Any other name of the function; and what a list holds, from its end."""
    if not isinstance(part, ast.Name) or not isinstance(part.ctx, ast.Load) or part.id not in known:
        return
    if isinstance(owner, ast.Attribute):
        return
    for other in sorted(known - {part.id}):
        yield (
            (part.id, other),
            phrase(STANDS, one=code(other), other=code(part.id), place=""),
            ast.Name(other, part.ctx),
        )
    turned = ast.Subscript(part, ast.Slice(None, None, ast.UnaryOp(ast.USub(), ast.Constant(1))), part.ctx)
    yield (part.id, TURNABLE), phrase("{name} is turned round", name=code(part.id)), turned


def _unused(part: ast.expr, names: list[str], read: set[str]) -> Iterator[Change]:
    """A parameter that nothing reads stands in the place of something."""
    if isinstance(getattr(part, "ctx", ast.Load()), ast.Load) and not is_made(part):
        for name in names:
            if name not in read and name != "self":
                yield 2, phrase("{name} is used", name=code(name)), ast.Name(name, ast.Load())

"""The slips with whole statements: one that is missing, stands at another place, or begins a loop at another number."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from kuiper.course.call_mutants import iterations
from kuiper.course.mutant_words import A_LOOP, ABOUT, AND_IS_ABOUT, FROM, ON, THE_ONE_ABOUT, UP_TO, WITH
from kuiper.course.phrases import Phrase, code, phrase
from kuiper.language import noop

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kuiper.course.mutant_words import Voice

Edits = tuple[tuple[Any, Any, Any], ...]
"""Places (a node or list, and a field or index) with what stands there instead."""
Slip = tuple[int, str, Edits]
NOT_SET, NOT_CHANGED = noop("{what} is not set where it should be"), noop("{what} is not changed where it should be")
NO_CHECK = noop("a check is missing: nothing refuses the case{about}")
SET_ONCE = noop("{what} is set once, before {loop}, and not anew in each turn")
SET_ANEW = noop("{what} is set anew in each turn of {loop}, and should be set before it")
EXCHANGED = noop("{other} stands where {word} belongs{place}")
ALL_ANEW = noop("{one} and {other} are set anew in each turn of {loop}, and should be set before it")
SUM = noop("{what} becomes a sum where it should not")
PRODUCT = noop("{what} becomes a product where it should not")
BECOMES = (
    (ast.Add, ast.Sub, noop("{what} becomes less where it should not")),
    (ast.Sub, ast.Add, noop("{what} becomes more where it should not")),
    (ast.Mult, ast.Add, SUM),
    (ast.Add, ast.Mult, PRODUCT),
)


def slips(body: list[ast.stmt], number: int, loops: Sequence[ast.stmt], voice: Voice) -> Iterator[Slip]:
    """The slips with statement ``number`` of a body; ``loops`` are those around it, from the outside."""
    node = body[number]
    if isinstance(node, (ast.Assign, ast.AugAssign)):
        yield from _of_assignment(body, number, voice)
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        name = (
            node.value.func.attr if isinstance(node.value.func, ast.Attribute) else getattr(node.value.func, "id", "")
        )
        about = voice.of(ON, node.value.func.value) if isinstance(node.value.func, ast.Attribute) else ""
        about = about or voice.of(WITH, *node.value.args)
        words = phrase("the call of {name}{about} is left out", name=code(name), about=about)
        yield 1, words, ((body, number, ast.Pass()),)
    elif isinstance(node, ast.If):
        yield from _of_if(body, number, voice)
    elif isinstance(node, ast.For):
        yield from _of_for(body, number, voice)
    elif isinstance(node, (ast.Break, ast.Continue)):
        word, other = ("break", ast.Continue()) if isinstance(node, ast.Break) else ("continue", ast.Break())
        within = ""
        if loops and isinstance(loops[-1], (ast.For, ast.While)):
            within = phrase(" in {loop}", loop=voice.loop(loops[-1]))
        missing = phrase("a {word} is missing{place}", word=code(word), place=within)
        yield 2, missing, ((body, number, ast.Pass()),)
        instead = code("break" if word == "continue" else "continue")
        exchanged = phrase(EXCHANGED, other=instead, word=code(word), place=within)
        yield 2, exchanged, ((body, number, other),)
    elif isinstance(node, ast.Raise) and len(body) > 1:
        words = phrase("an error is not raised{about}", about=voice.of(ABOUT, node.exc))
        yield 1, words, ((body, number, ast.Pass()),)
    elif isinstance(node, ast.Return) and node.value is not None:
        parts = [] if isinstance(node.value, ast.Name) else list(ast.walk(node.value))
        for name in dict.fromkeys(part.id for part in parts if isinstance(part, ast.Name) and part.id in voice.known):
            words = phrase("{name} is returned as it is", name=code(name))
            yield 3, words, ((node, "value", ast.Name(name, ast.Load())),)
    yield from _of_order(body, number, voice)


def _target(node: ast.Assign | ast.AugAssign, voice: Voice) -> str:
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    names = voice.names(target)
    return code(names[0]) if names else phrase("something{origin}", origin=voice.of(FROM, node.value))


def _of_assignment(body: list[ast.stmt], number: int, voice: Voice) -> Iterator[Slip]:
    node = body[number]
    assert isinstance(node, (ast.Assign, ast.AugAssign))
    what = _target(node, voice)
    missing = NOT_SET if isinstance(node, ast.Assign) else NOT_CHANGED
    yield 1, phrase(missing, what=what), ((body, number, ast.Pass()),)
    if isinstance(node, ast.AugAssign):
        anew = ast.Assign([node.target], node.value)
        words = phrase(
            "{what} is set anew each time: `=` stands where an operation with `=` belongs",
            what=what,
        )
        yield 1, words, ((body, number, anew),)
        for one, other, becomes in BECOMES:
            if isinstance(node.op, one):
                yield 2, phrase(becomes, what=what), ((node, "op", other()),)
    else:
        target = node.targets[0]
        if isinstance(target, (ast.Name, ast.Attribute, ast.Subscript)):
            sums = ast.AugAssign(target, ast.Add(), node.value)
            yield 3, phrase("something is added to {what}, which is to be set", what=what), ((body, number, sums),)


def _of_if(body: list[ast.stmt], number: int, voice: Voice) -> Iterator[Slip]:
    node = body[number]
    assert isinstance(node, ast.If)
    about = voice.of(ABOUT, node.test)
    if isinstance(node.body[-1], ast.Raise) and not node.orelse:
        words = phrase(NO_CHECK, about=about)
        yield 0, words, ((body, number, ast.Pass()),)
    elif node.orelse or len(node.body) > 1 or isinstance(node.body[0], (ast.If, ast.For, ast.Return, ast.Continue)):
        otherwise = node.orelse or [ast.Pass()]
        words = phrase("the case{about} is not treated{place}", about=about, place="")
        yield 2, words, ((body, number, _block(otherwise)),)
    words = phrase("what belongs to the case{about} is always done", about=about)
    yield 2, words, ((body, number, _block(node.body)),)
    words = phrase("a condition{about} is turned round", about=about)
    yield 3, words, ((node, "test", ast.UnaryOp(ast.Not(), node.test)),)
    if len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
        later = ast.If(node.orelse[0].test, node.orelse[0].body, [])
        both = [ast.If(node.test, node.body, []), ast.If(later.test, later.body, node.orelse[0].orelse)]
        words = phrase("`if` stands where `elif` belongs{about}", about=voice.of(ABOUT, later.test))
        yield 3, words, ((body, number, _block(both)),)


def _block(body: Sequence[ast.stmt]) -> ast.If:
    return ast.If(ast.Constant(True), list(body), [])


def _of_for(body: list[ast.stmt], number: int, voice: Voice) -> Iterator[Slip]:
    node = body[number]
    assert isinstance(node, ast.For)
    which = voice.loop(node)
    end = voice.of(UP_TO, node.iter) if which == A_LOOP else ""
    which = phrase("a loop{end}", end=end) if end else which
    first = [*node.body, ast.Break()]
    words = phrase("{loop} makes only its first turn (a `return` or `break` too far inside?)", loop=which)
    yield 2, words, ((node, "body", first),)
    if isinstance(node.iter, ast.Call) and getattr(node.iter.func, "id", "") == "range":
        yield from _of_range(node, which)
        return
    for rank, slip, iterated in iterations(node.iter):
        yield rank, phrase("in {loop} {what}", loop=which, what=phrase(slip)), ((node, "iter", iterated),)


def _of_range(node: ast.For, which: str) -> Iterator[Slip]:
    call = node.iter
    assert isinstance(call, ast.Call)
    zero, one = ast.Constant(0), ast.Constant(1)
    start, stop, *step = call.args if len(call.args) > 1 else [zero, call.args[0]]

    def ranged(first: ast.expr, last: ast.expr) -> Edits:
        return ((node, "iter", ast.Call(call.func, [first, last, *step], [])),)

    back, on = (ast.Add(), ast.Sub()) if step and _is_negative(step[0]) else (ast.Sub(), ast.Add())
    yield 1, phrase("{loop} ends one turn too early", loop=which), ranged(start, ast.BinOp(stop, back, one))
    yield 1, phrase("{loop} ends one turn too late", loop=which), ranged(start, ast.BinOp(stop, on, one))
    yield 1, phrase("{loop} begins one turn too late", loop=which), ranged(ast.BinOp(start, on, one), stop)
    if start is not zero:
        yield 1, phrase("{loop} begins one turn too early", loop=which), ranged(ast.BinOp(start, back, one), stop)
        if ast.dump(start) != ast.dump(zero):
            yield 2, phrase("{loop} begins at 0", loop=which), ranged(zero, stop)
    if not step:
        backwards = ast.Call(ast.Name("reversed", ast.Load()), [call], [])
        yield 2, phrase("{loop} runs backwards", loop=which), ((node, "iter", backwards),)
        words = phrase("{loop} makes no turn but the first", loop=which)
        yield 3, words, ranged(start, ast.BinOp(start, ast.Add(), one))


def _is_negative(step: ast.expr) -> bool:
    return isinstance(step, ast.UnaryOp) and isinstance(step.op, ast.USub)


def _of_order(body: list[ast.stmt], number: int, voice: Voice) -> Iterator[Slip]:
    """A line that stands in a loop, or behind it, and belongs to the other side; two lines the wrong way round."""
    node = body[number]
    if isinstance(node, (ast.For, ast.While)):
        yield from _of_borders(body, number, voice)
    elif number + 1 < len(body) and (checks := _refusals(node, body[number + 1])):
        about = voice.of(WITH, *(check.test for check in checks))
        words = phrase("two checks{about} are in the other order", about=about)
        yield 4, words, ((body, number, checks[1]), (body, number + 1, checks[0]))
    elif number + 1 < len(body) and isinstance(body[number + 1], (ast.Assign, ast.AugAssign, ast.Expr)):
        words = phrase("two lines{about} are in the other order", about=voice.of(WITH, node, body[number + 1]))
        yield 4, words, ((body, number, body[number + 1]), (body, number + 1, node))


def _of_borders(body: list[ast.stmt], number: int, voice: Voice) -> Iterator[Slip]:
    node = body[number]
    assert isinstance(node, (ast.For, ast.While))
    loop = voice.loop(node)
    inside = [statement for statement in node.body if not _is_turn(statement)]
    if inside and isinstance(inside[0], ast.Assign):
        rest = [statement for statement in node.body if statement is not inside[0]]
        words = phrase(SET_ONCE, what=_target(inside[0], voice), loop=loop)
        yield 1, words, ((node, "body", rest or [ast.Pass()]), (body, number, _block([inside[0], node])))
    if len(inside) > 1:
        rest = [statement for statement in node.body if statement is not inside[-1]]
        which = voice.of(THE_ONE_ABOUT, inside[-1])
        words = phrase(
            "the last line in {loop}{which} stands behind it, and is reached only once", loop=loop, which=which
        )
        yield 2, words, ((node, "body", rest), (body, number, _block([node, inside[-1]])))
    if number + 1 < len(body) and isinstance(body[number + 1], (ast.Assign, ast.AugAssign, ast.Expr, ast.Return)):
        about = voice.of(AND_IS_ABOUT, body[number + 1])
        words = phrase("the line behind {loop} stands in it{about}", loop=loop, about=about)
        yield 2, words, ((node, "body", [*node.body, body[number + 1]]), (body, number + 1, ast.Pass()))
    first = number
    while first and _begins(body[first - 1], alone=first == number):
        first -= 1
        what = [_target(each, voice) for each in body[first:number] if isinstance(each, ast.Assign)]
        words = phrase(SET_ANEW, what=what[0], loop=loop)
        if len(what) > 1:
            words = phrase(ALL_ANEW, one=what[0], other=what[-1], loop=loop)
        gone = tuple((body, index, ast.Pass()) for index in range(first, number))
        yield min(1 + len(what), 3), words, ((node, "body", [*body[first:number], *node.body]), *gone)


def is_missing_check(words: str) -> bool:
    """Whether the words of a slip are that nothing refuses a case."""
    return isinstance(words, Phrase) and words.template == NO_CHECK


def _begins(node: ast.stmt, alone: bool) -> bool:
    """Whether a statement gives something the value that a loop begins with; one of several a plain value."""
    if not isinstance(node, ast.Assign):
        return False
    is_empty = ast.unparse(node.value) in ("[]", "{}")
    return alone or isinstance(node.value, ast.Constant) or is_empty


def _refusals(*nodes: ast.stmt) -> list[ast.If]:
    """These statements, if each of them refuses a case."""
    checks = [node for node in nodes if isinstance(node, ast.If) and isinstance(node.body[-1], ast.Raise)]
    return checks if len(checks) == len(nodes) else []


def _is_turn(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and getattr(node.value.func, "id", "") == "_turn"
    )

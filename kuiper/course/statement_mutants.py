"""The slips with whole statements: one that is missing, stands at another place, or begins a loop at another number."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from kuiper.course.call_mutants import iterations

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kuiper.course.mutant_words import Voice

Edits = tuple[tuple[Any, Any, Any], ...]
"""Places (a node or list, and a field or index) with what stands there instead."""
Slip = tuple[int, str, Edits]


def slips(body: list[ast.stmt], number: int, loops: Sequence[ast.stmt], voice: Voice) -> Iterator[Slip]:
    """The slips with statement ``number`` of a body; ``loops`` are those around it, from the outside."""
    node = body[number]
    if isinstance(node, (ast.Assign, ast.AugAssign)):
        yield from _of_assignment(body, number, voice)
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        name = (
            node.value.func.attr if isinstance(node.value.func, ast.Attribute) else getattr(node.value.func, "id", "")
        )
        about = voice.of("of", node.value.func) or voice.of("with", node.value)
        yield 1, f"the call of `{name}` is left out{about if name not in about else ''}", ((body, number, ast.Pass()),)
    elif isinstance(node, ast.If):
        yield from _of_if(body, number, voice)
    elif isinstance(node, ast.For):
        yield from _of_for(body, number, voice)
    elif isinstance(node, (ast.Break, ast.Continue)):
        word, other = ("break", ast.Continue()) if isinstance(node, ast.Break) else ("continue", ast.Break())
        within = f" in {voice.loop(loops[-1])}" if loops and isinstance(loops[-1], (ast.For, ast.While)) else ""
        yield 2, f"a `{word}` is missing{within}", ((body, number, ast.Pass()),)
        yield 2, f"another word stands where `{word}` belongs{within}", ((body, number, other),)
    elif isinstance(node, ast.Raise) and len(body) > 1:
        yield 1, "an error is not raised" + voice.of("about", node.exc), ((body, number, ast.Pass()),)
    elif isinstance(node, ast.Return) and node.value is not None:
        parts = [] if isinstance(node.value, ast.Name) else list(ast.walk(node.value))
        for name in dict.fromkeys(part.id for part in parts if isinstance(part, ast.Name) and part.id in voice.known):
            yield 3, f"`{name}` is returned as it is", ((node, "value", ast.Name(name, ast.Load())),)
    yield from _of_order(body, number, voice)


def _target(node: ast.Assign | ast.AugAssign, voice: Voice) -> str:
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    names = voice.names(target)
    return f"`{names[0]}`" if names else "something" + voice.of("from", node.value)


def _of_assignment(body: list[ast.stmt], number: int, voice: Voice) -> Iterator[Slip]:
    node = body[number]
    assert isinstance(node, (ast.Assign, ast.AugAssign))
    what = _target(node, voice)
    yield (
        1,
        f"{what} is not {'set' if isinstance(node, ast.Assign) else 'changed'} where it should be",
        ((body, number, ast.Pass()),),
    )
    if isinstance(node, ast.AugAssign):
        anew = ast.Assign([node.target], node.value)
        yield (
            1,
            f"{what} is set anew each time: `=` stands where an operation with `=` belongs",
            ((body, number, anew),),
        )
        for one, other, words in ((ast.Add, ast.Sub, "less"), (ast.Sub, ast.Add, "more"), (ast.Mult, ast.Add, "a sum")):
            if isinstance(node.op, one):
                yield 2, f"{what} becomes {words} where it should not", ((node, "op", other()),)
    else:
        target = node.targets[0]
        if isinstance(target, (ast.Name, ast.Attribute, ast.Subscript)):
            sums = ast.AugAssign(target, ast.Add(), node.value)
            yield 3, f"something is added to {what}, which is to be set", ((body, number, sums),)


def _of_if(body: list[ast.stmt], number: int, voice: Voice) -> Iterator[Slip]:
    node = body[number]
    assert isinstance(node, ast.If)
    about = voice.of("about", node.test)
    if isinstance(node.body[-1], ast.Raise) and not node.orelse:
        yield 0, f"a check is missing: nothing refuses the case{about}", ((body, number, ast.Pass()),)
    elif node.orelse or len(node.body) > 1 or isinstance(node.body[0], (ast.If, ast.For, ast.Return, ast.Continue)):
        otherwise = node.orelse or [ast.Pass()]
        yield 2, f"the case{about} is not treated", ((body, number, _block(otherwise)),)
    yield 2, f"what belongs to the case{about} is always done", ((body, number, _block(node.body)),)
    yield 3, f"a condition{about} is turned round", ((node, "test", ast.UnaryOp(ast.Not(), node.test)),)
    if len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
        later = ast.If(node.orelse[0].test, node.orelse[0].body, [])
        both = [ast.If(node.test, node.body, []), ast.If(later.test, later.body, node.orelse[0].orelse)]
        yield 3, f"`if` stands where `elif` belongs{voice.of('about', later.test)}", ((body, number, _block(both)),)


def _block(body: Sequence[ast.stmt]) -> ast.If:
    return ast.If(ast.Constant(True), list(body), [])


def _of_for(body: list[ast.stmt], number: int, voice: Voice) -> Iterator[Slip]:
    node = body[number]
    assert isinstance(node, ast.For)
    which = voice.loop(node)
    which = f"{which}{voice.of('up to', node.iter)}" if which == "a loop" else which
    first = [*node.body, ast.Break()]
    yield 2, f"{which} makes only its first turn (a `return` or `break` too far inside?)", ((node, "body", first),)
    if isinstance(node.iter, ast.Call) and getattr(node.iter.func, "id", "") == "range":
        yield from _of_range(node, which)
        return
    for rank, words, iterated in iterations(node.iter):
        yield rank, f"in {which} {words}", ((node, "iter", iterated),)


def _of_range(node: ast.For, which: str) -> Iterator[Slip]:
    call = node.iter
    assert isinstance(call, ast.Call)
    zero, one = ast.Constant(0), ast.Constant(1)
    start, stop, *step = call.args if len(call.args) > 1 else [zero, call.args[0]]

    def ranged(first: ast.expr, last: ast.expr) -> Edits:
        return ((node, "iter", ast.Call(call.func, [first, last, *step], [])),)

    back, on = (ast.Add(), ast.Sub()) if step and _is_negative(step[0]) else (ast.Sub(), ast.Add())
    yield 1, f"{which} ends one turn too early", ranged(start, ast.BinOp(stop, back, one))
    yield 1, f"{which} ends one turn too late", ranged(start, ast.BinOp(stop, on, one))
    yield 1, f"{which} begins one turn too late", ranged(ast.BinOp(start, on, one), stop)
    if start is not zero:
        yield 1, f"{which} begins one turn too early", ranged(ast.BinOp(start, back, one), stop)
        if ast.dump(start) != ast.dump(zero):
            yield 2, f"{which} begins at 0", ranged(zero, stop)
    if not step:
        backwards = ast.Call(ast.Name("reversed", ast.Load()), [call], [])
        yield 2, f"{which} runs backwards", ((node, "iter", backwards),)
        yield 3, f"{which} makes no turn but the first", ranged(start, ast.BinOp(start, ast.Add(), one))


def _is_negative(step: ast.expr) -> bool:
    return isinstance(step, ast.UnaryOp) and isinstance(step.op, ast.USub)


def _of_order(body: list[ast.stmt], number: int, voice: Voice) -> Iterator[Slip]:
    """A line that stands in a loop, or behind it, and belongs to the other side; two lines the wrong way round."""
    node = body[number]
    if isinstance(node, (ast.For, ast.While)):
        inside = [statement for statement in node.body if not _is_turn(statement)]
        if inside and isinstance(inside[0], ast.Assign):
            rest = [statement for statement in node.body if statement is not inside[0]]
            words = f"{_target(inside[0], voice)} is set once, before {voice.loop(node)}, and not anew in each turn"
            yield 1, words, ((node, "body", rest or [ast.Pass()]), (body, number, _block([inside[0], node])))
        if len(inside) > 1:
            rest = [statement for statement in node.body if statement is not inside[-1]]
            words = f"the last line in {voice.loop(node)} stands behind it, and is reached only once"
            yield (
                2,
                words + voice.of("about", inside[-1]),
                ((node, "body", rest), (body, number, _block([node, inside[-1]]))),
            )
        if number + 1 < len(body) and isinstance(body[number + 1], (ast.Assign, ast.AugAssign, ast.Expr, ast.Return)):
            words = f"the line behind {voice.loop(node)} stands in it{voice.of('and is about', body[number + 1])}"
            yield 2, words, ((node, "body", [*node.body, body[number + 1]]), (body, number + 1, ast.Pass()))
        before = body[number - 1] if number else None
        if isinstance(before, ast.Assign):
            what = _target(before, voice)
            words = f"{what} is set anew in each turn of {voice.loop(node)}, and should be set before it"
            yield 2, words, ((node, "body", [before, *node.body]), (body, number - 1, ast.Pass()))
    elif number + 1 < len(body) and (checks := _refusals(node, body[number + 1])):
        about = voice.of("with", *(check.test for check in checks))
        words = f"two checks{about} are in the other order"
        yield 4, words, ((body, number, checks[1]), (body, number + 1, checks[0]))
    elif number + 1 < len(body) and isinstance(body[number + 1], (ast.Assign, ast.AugAssign, ast.Expr)):
        names = voice.of("with", node, body[number + 1])
        yield (
            4,
            f"two lines{names} are in the other order",
            ((body, number, body[number + 1]), (body, number + 1, node)),
        )


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

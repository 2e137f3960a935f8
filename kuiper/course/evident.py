"""Mistakes that an error and the student's own file show together: a missing ``self.``, ``x = x.append(...)``.

The sentences of ``error_causes.py`` go by the error alone. Here the file says which name, line or function it was.
"""

from __future__ import annotations

import ast
import builtins
import re
from difflib import get_close_matches
from itertools import permutations
from typing import TYPE_CHECKING

from kuiper.course.causes import raised_in
from kuiper.course.comparison import ANOTHER_KIND, difference
from kuiper.course.mutant_words import Voice
from kuiper.course.names import names_in
from kuiper.course.observation import Raised
from kuiper.course.phrases import code, phrase
from kuiper.course.repairs import MAX_CODE
from kuiper.course.student_tree import (
    around,
    attributes,
    class_of_fields,
    functions,
    is_lost,
    lacks_return,
    line_of_code,
    methods,
    module_names,
    none_used,
    own_names,
    parsed,
)
from kuiper.course.suspects import Suspect
from kuiper.course.testing import UNREFUSED, Mismatch
from kuiper.course.wire import type_name
from kuiper.language import noop

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kuiper.course.manifest import Exercise

PLACE = re.compile(r"(?:^|[/\\])(?P<file>[^/\\:]+):(?P<line>\d+)(?:: (?P<code>.*))?$", re.DOTALL)
UNKNOWN = re.compile(r"name '(?P<new>\w+)' is not defined|variable '(?P<early>\w+)'")
LACKING = re.compile(r"'(\w+)' object has no attribute '(\w+)'")
AS_DICT = " where dict is expected"
CLOSE, SHORTEST = 0.8, 3  # how like a misspelled name is, and how long
MOST_VALUES = 5  # of a tuple whose order is looked into


PRINTS = noop("{name} prints its result, and has no `return`")
RETURNS_NOTHING = noop("{name} has no `return`, so its result is None")


def evident_cause(exercise: Exercise, text: str, function: str, error: BaseException) -> str:
    """Completes "this is what you get when ..." for an error that the file's ``text`` explains; "" if it does not.

    ``function`` is the one that the failing test is about.
    """
    tree = parsed(exercise, text)
    if tree is None:
        return ""
    if isinstance(error, Mismatch) and not isinstance(error.got, Raised) and error.words not in UNREFUSED:
        return _of_none(tree, 0, "", function) if error.got is None else _of_kind(tree, error)
    raised = raised_in(error)
    if raised is None:
        return ""
    line, shown = _line(exercise, raised)
    if line < 0:
        return ""
    found = UNKNOWN.search(raised.message) if raised.type in ("NameError", "UnboundLocalError") else None
    if found:
        return _of_name(tree, line, found["new"] or found["early"], is_new=found["new"] is not None)
    found = LACKING.search(raised.message) if raised.type == "AttributeError" else None
    if found and found[1] != "NoneType":
        return _of_attribute(tree, found[1], found[2])
    if isinstance(error, Mismatch) and error.words in UNREFUSED:  # nothing has looked for the case
        return ""
    if raised.type in ("AttributeError", "TypeError") and "NoneType" in raised.message:
        return _of_none(tree, line, shown, function)
    return ""


def evident_if_unknown(exercise: Exercise, error: BaseException) -> str:
    """The same for what a known mistake explains better, where one fits: an empty list."""
    raised = raised_in(error)
    if raised is None:
        return ""
    is_end = raised.type == "IndexError" and re.fullmatch(r"(list|string|tuple) index out of range", raised.message)
    if not is_end or (isinstance(error, Mismatch) and error.words in UNREFUSED):
        return ""
    return _of_end(_line(exercise, raised)[1])


def _line(exercise: Exercise, raised: Raised) -> tuple[int, str]:
    """The line of the student's file that raised, and its number: 0 if it was none of a file, -1 if of another one."""
    place = PLACE.search(raised.place)
    if raised.place and (place is None or place["file"] != exercise.file):
        return -1, ""
    return (int(place["line"]), place["code"] or "") if place else (0, "")


def say_what_is_asked(exercise: Exercise, text: str, error: BaseException) -> None:
    """Let a mismatch name the class of the file that is asked for: tests get its objects as dicts."""
    tree = parsed(exercise, text) if isinstance(error, Mismatch) and error.words.endswith(AS_DICT) else None
    if isinstance(error, Mismatch) and tree is not None and (name := class_of_fields(tree, error.expected)):
        error.words = phrase(ANOTHER_KIND, got=type_name(error.got), expected=name)


def mended(exercise: Exercise, text: str, error: BaseException) -> list[Suspect]:
    """The file without a mistake that it may have, for each of these; tests say whether it is right then.

    A ``break`` is put into a loop whose ``else`` is always reached; values are returned in the order asked for.
    """
    tree = parsed(exercise, text)
    return [] if tree is None else [*_with_break(tree, Voice(frozenset(names_in(text)))), *_in_order(tree, error)]


def _in_order(tree: ast.Module, error: BaseException) -> Iterator[Suspect]:
    """The function that was called with its values in each order that fits."""
    got, expected = getattr(error, "got", None), getattr(error, "expected", None)
    if not isinstance(error, Mismatch) or type(got) is not tuple or type(expected) is not tuple:
        return
    inside = [node for function in functions(tree) if function.name == error.function for node in ast.walk(function)]
    returned = [node.value for node in inside if isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple)]
    if len(returned) != 1 or not 1 < len(got) == len(expected) == len(returned[0].elts) <= MOST_VALUES:
        return
    given = returned[0].elts
    for order in permutations(range(len(got))):
        if difference(tuple(got[i] for i in order), expected, error.tolerance):
            continue
        returned[0].elts = [given[i] for i in order]
        asked = ", ".join(map(ast.unparse, returned[0].elts))
        words = phrase("the values are returned in another order than asked for, which is {values}", values=code(asked))
        if len(asked) > MAX_CODE:
            words = phrase("the values are the right ones, but are returned in another order than asked for")
        yield Suspect(words, ast.unparse(tree), -returned[0].lineno, 0, is_right=True)
        returned[0].elts = given


def _with_break(tree: ast.Module, voice: Voice) -> Iterator[Suspect]:
    """The file with a ``break`` in one of the loops whose ``else`` is always reached."""
    loops = [node for node in ast.walk(tree) if isinstance(node, (ast.For, ast.While))]
    for loop in loops:
        inside = [each for part in loop.body for each in ast.walk(part)]
        if not loop.orelse or any(isinstance(each, (ast.Break, ast.Return, ast.Raise)) for each in inside):
            continue
        blocks = [each.body for each in loop.body if isinstance(each, ast.If)] or [loop.body]
        for block in blocks:
            block.append(ast.Break())
        words = phrase("a `break` is missing in {loop}, whose `else` is reached each time", loop=voice.loop(loop))
        yield Suspect(words, ast.unparse(tree), -loop.lineno, 0, is_right=True)
        for block in blocks:
            block.pop()


def _of_kind(tree: ast.Module, error: Mismatch) -> str:
    """Something else is returned where an object of one of the file's classes is asked for."""
    name = class_of_fields(tree, error.expected)
    if not name or type(error.got) not in (tuple, list):
        return ""
    words = noop("a {kind} is returned where a {name} is asked for: {name}(...) makes one")
    return phrase(words, kind=type_name(error.got), name=name)


def _of_name(tree: ast.Module, line: int, name: str, is_new: bool) -> str:
    """A name that has no value: it lacks its ``self.``, belongs to another object or function, or is misspelled."""
    owner, function = around(tree, line)
    if owner is not None and name in attributes(tree, owner):
        return phrase(
            "`self.` is missing in front of {name}: only {whole} is what the object has",
            name=code(name),
            whole=code(f"self.{name}"),
        )
    if function is None or not is_new:
        return ""
    known = own_names(function) | module_names(tree)
    near = _close(name, {*known, *(each for each in dir(builtins) if each.islower())})
    elsewhere = [other.name for other in functions(tree) if other is not function and name in own_names(other)]
    if near and not elsewhere:
        return phrase("{one} is written, which has no value: is {other} meant?", one=code(name), other=code(near))
    if elsewhere and not near:
        return phrase(
            "{name} is a variable of {function}, which no other function knows",
            name=code(name),
            function=code(elsewhere[0]),
        )
    return ""


def _of_attribute(tree: ast.Module, kind: str, name: str) -> str:
    """Something that an object of the file's class ``kind`` does not have; or what only such an object has."""
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    if kind in ("tuple", "dict", "list"):
        made = [each for each in classes if name in attributes(tree, classes[each])]
        words = noop("a {kind} is made where a {name} is asked for: {name}(...) makes one")
        return phrase(words, kind=kind, name=made[0]) if len(made) == 1 else ""
    if kind not in classes or name in (known := attributes(tree, classes[kind])):
        return ""
    for function in methods(classes[kind]):
        if is_lost(function, name):
            return phrase(
                "`self.` is missing in front of {name} where {function} sets it: without it, this is a variable that "
                "is gone when {function} ends",
                name=code(name),
                function=code(function.name),
            )
    near = _close(name, known)
    words = noop("a {kind} is asked for its {one}, which it has not: is {other} meant?")
    return phrase(words, kind=kind, one=code(name), other=code(near)) if near else ""


def _of_none(tree: ast.Module, line: int, shown: str, function: str) -> str:
    """The result of a method that changes its object is used; or nothing is returned at all."""
    failing, tested = around(tree, line)[1], function.rpartition(".")[2]
    own = {node.name for node in functions(tree)} | {"np"}
    for node in functions(tree):
        for words, call in none_used(node):
            is_read = any(re.search(rf"(?<![\w.]){re.escape(word)}(?!\w)", shown) for word in words)
            is_near = node is failing or words[0] == node.name or "." in words[0]
            if not {call.attr, getattr(call.value, "id", "")} & own and (
                is_read and is_near if shown else words[0] == node.name == tested
            ):
                return phrase(
                    "the result of {call} is used, which is None: it changes {name} itself, and stands in a line of "
                    "its own",
                    call=code(f"{ast.unparse(call)}(...)"),
                    name=code(ast.unparse(call.value)),
                )
    silent = [node for node in functions(tree) if lacks_return(node)]
    asked = [node for node in silent if node.name == tested] or silent
    if len(asked) != 1:
        return ""
    prints = any(isinstance(node, ast.Name) and node.id == "print" for node in ast.walk(asked[0]))
    return phrase(PRINTS if prints else RETURNS_NOTHING, name=code(asked[0].name))


def _of_end(shown: str) -> str:
    """The first or last element of what is empty, if no other element is asked for in this line."""
    line = line_of_code(shown)
    parts = [node for node in ast.walk(line) if isinstance(node, ast.Subscript)] if line else []
    asked = {ast.unparse(node): node for node in parts if not isinstance(node.slice, ast.Slice)}
    if len(asked) != 1:
        return ""
    whole, node = next(iter(asked.items()))
    if ast.unparse(node.slice) not in ("0", "-1"):
        return ""
    return phrase("{name} is empty, so that there is no {whole}", name=code(ast.unparse(node.value)), whole=code(whole))


def _close(name: str, known: set[str]) -> str:
    """The one name that another is likely to stand for; "" if there is none, or more than one."""
    near = get_close_matches(name, sorted(known - {name}), 2, CLOSE) if len(name) >= SHORTEST else []
    same = [other for other in known if other.lower() == name.lower() and other != name]
    return same[0] if len(same) == 1 else near[0] if len(near) == 1 else ""

"""One call on many variants of a solution, in the process that runs a student's code: what does each of them answer?

A variant is a known mistake, or a solution with one place changed. What a test has to do with it stays outside: this
returns what was seen, each different answer once. Loops count their turns, so that no variant can run without end.
"""

from __future__ import annotations
import __future__

import ast
import linecache
import sys
import time
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.course.importer import load
from kuiper.course.interpreted import constants, interpreted, namespace
from kuiper.course.mutants import mutants
from kuiper.course.observation import Observation, observe
from kuiper.course.repairs import repairs
from kuiper.course.wire import dumps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from kuiper.course.manifest import Exercise
    from kuiper.course.mutants import Mutant
    from kuiper.course.selection import Selection

FEWEST_TURNS, MORE_TURNS = 2000, 20  # that the loops of a variant may make, and how many times those of the solution
LARGEST = 200_000  # signs of an answer: a larger one is not sent
MAX_LINES = 50_000  # that are noted as they run: to note one takes longer than to run it


class EndlessLoop(Exception):
    """A variant's loops have made more turns than the solution's could need."""


class Turns:
    """Counts the turns of loops."""

    def __init__(self) -> None:
        self.made, self.most = 0, sys.maxsize

    def __call__(self) -> None:
        self.made += 1
        if self.made > self.most:
            raise EndlessLoop("its loops end too late, or never")


@dataclass
class Text:
    """A variant as a module's statements, each compiled by itself: a mutant changes only one of them."""

    tree: ast.Module
    file: str
    given: dict[str, Any]

    @classmethod
    def of(cls, source: str, file: str, is_cython: bool, given: dict[str, Any]) -> Text:
        """Raises SyntaxError if the source does not compile."""
        tree = interpreted(source) if is_cython else ast.parse(source)
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
        for node in ast.walk(tree):
            if isinstance(node, (ast.For, ast.While)):
                node.body.insert(0, ast.copy_location(ast.Expr(ast.Call(ast.Name("_turn", ast.Load()), [], [])), node))
        return cls(ast.fix_missing_locations(tree), file, given)

    def codes(self) -> list[CodeType]:
        """All statements."""
        return [self.code(number) for number in range(len(self.tree.body))]

    def code(self, number: int) -> CodeType:
        """One statement."""
        module = ast.Module([self.tree.body[number]], [])
        made: CodeType = compile(module, self.file, "exec", flags=__future__.annotations.compiler_flag)
        return made

    def module(self, codes: Sequence[CodeType | None], kept: dict[str, Any] | None = None) -> ModuleType:
        """The module that these statements make, beside names that another one has ``kept``."""
        module = ModuleType("kuiper_variant")
        module.__file__ = self.file
        sys.modules[module.__name__] = module  # dataclasses look their own module up
        module.__dict__.update(self.given, **kept or {})
        for code in codes:
            if code is not None:
                exec(code, module.__dict__)
        return module

    def lasting(self) -> dict[int, list[str]]:
        """The statements that no function's change can change, by their numbers, and the names that they bind.

        Of these are dataclasses and functions of other exercises, which take longer than all functions of the file.
        """
        found = {}
        for number, node in enumerate(self.tree.body):
            if isinstance(node, (ast.Import, ast.ImportFrom)) and not any(alias.name == "*" for alias in node.names):
                found[number] = [alias.asname or alias.name.partition(".")[0] for alias in node.names]
            elif isinstance(node, ast.ClassDef) and "dataclass" in map(_name, node.decorator_list):
                if not any(isinstance(each, (ast.FunctionDef, ast.Lambda)) for each in ast.walk(node)):
                    found[number] = [node.name]
            elif isinstance(node, ast.Assign) and "load_exercise" in map(_name, ast.walk(node.value)):
                found[number] = [each.id for each in ast.walk(node.targets[0]) if isinstance(each, ast.Name)]
        return found

    def heads(self, lines: set[int]) -> set[int]:
        """All lines of the statements of which one of these lines has run; of a block those of its head."""
        found: set[int] = set()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.stmt):
                parts = [part for part in ast.iter_child_nodes(node) if isinstance(part, (ast.expr, ast.withitem))]
                last = max([node.lineno, *(getattr(part, "end_lineno", 0) or 0 for part in parts)])
                of_it = range(node.lineno, last + 1)
                if not lines.isdisjoint(of_it):
                    found.update(of_it)
        return found


class Answers:
    """What the variants have answered: each different answer once, and which of them each variant gave."""

    def __init__(self) -> None:
        self.seen: list[Observation] = []
        self.numbers: dict[str, int] = {}

    def add(self, seen: Observation) -> int:
        """The number of an answer; -1 if it is too large to be sent."""
        raised = seen.raised and (seen.raised.type, seen.raised.message, seen.raised.is_on_purpose)
        key = dumps((seen.value, raised, seen.changed))
        if len(key) > LARGEST:
            return -1
        if key not in self.numbers:
            self.numbers[key] = len(self.seen)
            self.seen.append(seen)
        return self.numbers[key]


class Trial:
    """The call of a request, to be made on modules; ``finds`` gets the function to call of a module."""

    def __init__(self, request: dict[str, Any], file: str, finds: Callable[[ModuleType], Callable[..., Any]]) -> None:
        self.request, self.file, self.finds = request, file, finds
        self.turns, self.answers = Turns(), Answers()
        self.given: dict[str, Any] = {"_turn": self.turns}
        self.types: dict[str, set[str]] = {}  # of the names in functions that have run

    def text(self, source: str, number: int, is_cython: bool) -> Text | None:
        """A variant, or None if it does not compile."""
        try:
            return Text.of(source, str(Path("bug-bank", str(number), self.file)), is_cython, self.given)
        except SyntaxError:
            return None

    def answer(
        self, text: Text | None, codes: Sequence[CodeType | None] | None = None, kept: dict[str, Any] | None = None
    ) -> int:
        """The number of a variant's answer; -1 for none."""
        self.turns.made = 0
        try:
            if text is None:
                return -1
            module = text.module(text.codes() if codes is None else codes, kept)
            seen = observe(self.finds(module), self.request["args"], self.request["kwargs"])
        except Exception:  # then it is no module
            return -1
        if seen.raised:
            seen.raised = replace(seen.raised, trace="")
        return self.answers.add(seen)

    def lines_run(self, text: Text) -> set[int]:
        """The lines of a text that the call runs; none if they are too many to be noted."""
        lines: set[int] = set()
        left = [MAX_LINES]

        def note(frame: FrameType, event: str, _: Any) -> Any:
            if frame.f_code.co_filename != text.file:
                return None
            left[0] -= 1
            if left[0] < 0:
                sys.settrace(None)
            if event == "line":
                lines.add(frame.f_lineno)
            elif event == "return":
                for name, value in frame.f_locals.items():
                    self.types.setdefault(name, set()).add(type(value).__name__)
            return note

        before = sys.gettrace()
        sys.settrace(note)
        try:
            self.answer(text)
        finally:
            sys.settrace(before)
        return text.heads(lines) if left[0] >= 0 else set()

    def _changes_nothing(self, mutant: Mutant, lines: set[int]) -> bool:
        """Whether the line of a change does not run, or puts a list, say, in the place of a number."""
        if len(mutant.edits) == 1 and mutant.line not in lines:
            return True
        types = [self.types.get(name, {name}) for name in mutant.names]
        return bool(types) and types[0].isdisjoint(types[1])

    def of_mutants(self, text: Text, changed: Iterator[Mutant], seconds: float) -> Iterator[int]:
        """The answers of the mutants of a text, in their order, as long as there is time.

        A change of a line that the call does not run changes no answer: -1 stands for that, too.
        """
        end, codes, lasting = time.process_time() + seconds, text.codes(), text.lasting()
        try:
            module = text.module(codes)
        except Exception:  # then no change of a function makes it one
            return
        kept = {name: getattr(module, name) for names in lasting.values() for name in names}
        fresh = [None if number in lasting else code for number, code in enumerate(codes)]
        lines = self.lines_run(text)
        for mutant in changed:
            if time.process_time() > end:
                return
            if lines and self._changes_nothing(mutant, lines):
                yield -1
                continue
            with mutant.made():
                try:
                    own = text.code(mutant.statement)
                except (SyntaxError, ValueError):  # such as a `break` that stands in no loop
                    yield -1
                    continue
            variant = [*fresh[: mutant.statement], own, *fresh[mutant.statement + 1 :]]
            yield self.answer(text, variant, kept)


def _name(node: ast.AST) -> str:
    """``dataclass`` of ``@dataclass``, ``@dataclasses.dataclass`` and ``@dataclass(...)``."""
    named = node.func if isinstance(node, ast.Call) else node
    return named.attr if isinstance(named, ast.Attribute) else getattr(named, "id", "")


def trial(
    selection: Selection, exercise: Exercise, request: dict[str, Any], finds: Callable[[ModuleType], Callable[..., Any]]
) -> dict[str, Any]:
    """Make the call of a request on all variants that its ``trial`` names.

    ``texts`` are Python; ``solution`` may be Cython, and is changed at one place after the other, until ``seconds`` of
    CPU time have passed. So is ``own``, the student's file, if it is not empty.
    """
    asked = request["trial"]
    trying = Trial(request, exercise.file, finds)
    if exercise.is_cython:
        student = load(selection, exercise, selection.mode)
        trying.given |= namespace(constants(asked["solution"], student))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        solution = trying.text(asked["solution"], -1, exercise.is_cython)
        if solution is None:
            return {"seen": [], "texts": [-1] * len(asked["texts"]), "mutants": [], "repairs": []}
        trying.answer(solution)
        trying.turns.most = max(FEWEST_TURNS, MORE_TURNS * trying.turns.made)
        texts = [trying.answer(trying.text(source, i, False)) for i, source in enumerate(asked["texts"])]
        slips, mended, seconds = [], [], asked["seconds"]
        if asked["own"]:
            own = trying.text(asked["own"], -2, exercise.is_cython)
            if own:
                changed = repairs(own.tree, asked["own"], asked["function"], asked["solution"])
                mended = list(trying.of_mutants(own, changed, seconds))
        elif seconds:
            changed = mutants(solution.tree, asked["solution"], asked["known"], asked["function"])
            slips = list(trying.of_mutants(solution, changed, seconds))
    seen = [
        (each.value, each.raised and tuple(vars(each.raised).values()), each.changed) for each in trying.answers.seen
    ]
    return {"seen": seen, "texts": texts, "mutants": slips, "repairs": mended}

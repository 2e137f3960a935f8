"""Which tests belong to a mutant: those that call the function it is in, which a run of all of them has noted.

For a kernel, whose calls Python does not see, they are the tests named like it and those that import it, then those
that call a function which uses one of its names.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tests.mutants.sites import ROOT

if TYPE_CHECKING:
    from tests.mutants.sites import Mutant

ROOMS = ("tests/engine", "tests/layers", "tests/graph", "tests/expression")
"""The tests that are run to note what they call."""

MOST, SECONDS = 400, 60.0
"""Tests that are run for a mutant at most, and how long they may take together, as far as is known."""


class Noted(NamedTuple):
    """What a test calls: by file the names of functions."""

    seconds: float
    functions: dict[str, set[str]]


Calls = dict[str, Noted]


def read_calls(loaded: dict[str, dict[str, object]]) -> Calls:
    """What the recorder wrote."""
    return {
        test: Noted(float(one["seconds"]), {file: set(names) for file, names in one["functions"].items()})  # type: ignore
        for test, one in loaded.items()
    }


def guards_of(mutant: Mutant, text: str, calls: Calls) -> list[str]:
    """The tests to run, those first that are named like the file, then those of its room, the quick ones first."""
    stem, room = Path(mutant.file).stem, f"tests/{mutant.file.split('/')[1]}/"
    if mutant.file.endswith(".pyx"):
        module = mutant.file.removesuffix(".pyx").replace("/", ".")
        paths = [path for path in ROOT.glob("kuiper/**/*.py") if imports(path, module)]
        users = {path.relative_to(ROOT).as_posix(): users_of(module, path.read_text("utf-8")) for path in paths}
        direct = {test.partition("::")[0] for test in calls if imports(ROOT / test.partition("::")[0], module)}
        found = [
            test
            for test, noted in calls.items()
            if test.partition("::")[0] in direct
            or any(names & noted.functions.get(file, set()) for file, names in users.items())
        ]
    else:
        direct = set()
        name = function_around(ast.parse(text), mutant.line)
        found = [test for test, noted in calls.items() if calls_it(noted.functions.get(mutant.file, set()), name)]

    def order(test: str) -> tuple[bool, bool, float]:
        file = test.partition("::")[0]
        stranger = file not in direct and stem not in Path(file).stem
        return stranger, not file.startswith(room), calls[test].seconds

    chosen, spent = [], 0.0
    for test in sorted(found, key=order):
        spent += calls[test].seconds
        if len(chosen) == MOST or (chosen and spent > SECONDS):
            break
        chosen.append(test)
    return chosen


def calls_it(names: set[str], name: str | None) -> bool:
    """Whether a function is among those called; of what stands in no function, whether any is."""
    return bool(names) if name is None else name in names


def function_around(tree: ast.Module, line: int) -> str | None:
    """The name of the innermost function around a line; None for what stands in no function's body."""
    found = None
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef) or node.end_lineno is None:
            continue
        if node.body[0].lineno <= line <= node.end_lineno and (found is None or node.lineno >= found[0]):
            found = node.lineno, node.name
    return found[1] if found else None


def users_of(module: str, text: str) -> set[str]:
    """The functions of a file that use what it imports from a module; tables, whose names are capitals, do not count.

    >>> users_of("kernels.add", "from kernels.add import Add, TYPES\\ndef f(): return Add()\\ndef g(): return TYPES")
    {'f'}
    """
    tree = ast.parse(text)
    package, _, name = module.rpartition(".")
    used = {name}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module in (module, package):
            used |= {alias.asname or alias.name for alias in node.names if node.module == module or alias.name == name}
    used = {name for name in used if not name.isupper()}
    return {
        function.name
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        and any(isinstance(node, ast.Name) and node.id in used for node in ast.walk(function))
    }


def imports(path: Path, module: str) -> bool:
    """Whether a file imports a module: by its full name, or as a name from its package."""
    package, _, name = module.rpartition(".")
    by_name = rf"^\s*from {re.escape(package)} import (\([^)]*|.*)\b{name}\b"
    text = path.read_text(encoding="utf-8")
    return bool(re.search(rf"\b{re.escape(module)}\b", text) or re.search(by_name, text, re.MULTILINE))

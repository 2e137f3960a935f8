"""What a test runs beside a student's code says what it has seen; what that means is decided elsewhere."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DECIDING = {"all", "allclose", "any", "array_equal", "array_equiv", "bool", "isclose", "isinstance", "shares_memory"}


def probes(text: str) -> list[ast.FunctionDef]:
    """The functions of a test module that get ``impl`` and are no tests."""
    functions = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    handed = {name.id for node in ast.walk(ast.parse(text)) for name in first_arguments(node)}
    return [function for function in functions if function.name in handed]


def first_arguments(node: ast.AST) -> list[ast.Name]:
    is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "calling"
    return [node.args[0]] if is_call and node.args and isinstance(node.args[0], ast.Name) else []


def verdicts(function: ast.FunctionDef) -> list[str]:
    """What a probe decides in the values that it returns."""
    found = []
    for statement in ast.walk(function):
        if isinstance(statement, ast.Return) and statement.value is not None:
            for node in ast.walk(statement.value):
                if is_filter(node, statement.value):
                    continue
                if isinstance(node, ast.Compare):
                    found.append(ast.unparse(node))
                if isinstance(node, ast.Call):
                    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                    found += [ast.unparse(node)] if name in DECIDING else []
    assigned = [node for node in ast.walk(function) if isinstance(node, ast.Assign)]
    for node in assigned:
        for call in ast.walk(node.value):
            name = getattr(getattr(call, "func", None), "attr", "")
            found += [ast.unparse(call)] if name in DECIDING - {"all", "any"} else []
    return found


def is_filter(node: ast.AST, value: ast.expr) -> bool:
    """Whether it only chooses between things that are values themselves."""
    choices = [part.test for part in ast.walk(value) if isinstance(part, ast.IfExp)]
    choices += [test for part in ast.walk(value) if isinstance(part, ast.comprehension) for test in part.ifs]
    return any(node is inner for choice in choices for inner in ast.walk(choice))


MODULES = sorted(ROOT.glob("course*/test_*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_nothing_is_decided_beside_a_students_code(path: Path) -> None:
    found = {function.name: verdicts(function) for function in probes(path.read_text(encoding="utf-8"))}
    assert {name: words for name, words in found.items() if words} == {}


@pytest.mark.parametrize(
    "body",
    [
        "return np.allclose(impl.f(), 1)",
        "return impl.f() == 2",
        "return bool(impl.f())",
        "agree = np.allclose(impl.f(), 1)\n    return agree",
        "return [np.shares_memory(a, b) for a, b in impl.f()]",
        "return all(a is b for a, b in impl.f())",
    ],
)
def test_a_verdict_is_found(body: str) -> None:
    text = f"def probe(impl):\n    {body}\n\n\ndef test(impl):\n    calling(probe, impl).gives(True)\n"
    assert [verdicts(function) for function in probes(text)] != [[]]


def test_probes_are_found() -> None:
    assert sum(len(probes(path.read_text(encoding="utf-8"))) for path in MODULES) >= 60

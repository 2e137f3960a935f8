"""A student's file as a tree: its functions and classes, and what their names stand for."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from kuiper.course.interpreted import interpreted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kuiper.course.manifest import Exercise

IN_PLACE = {"append", "extend", "insert", "sort", "reverse", "clear", "update", "remove", "add", "discard", "fill"}
"""Methods of lists, sets, dictionaries and arrays that change them and return None."""


def parsed(exercise: Exercise, text: str) -> ast.Module | None:
    """A student's file as a tree; None where it cannot be read."""
    try:
        return interpreted(text) if exercise.is_cython else ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None


def line_of_code(shown: str) -> ast.AST | None:
    """A line of a file alone, such as the head of a loop; None if it is only a part of a statement."""
    line = re.sub(r"^elif\b", "if", shown.strip())
    for text in (line, f"{line} pass"):
        try:
            return ast.parse(text)
        except (SyntaxError, ValueError):
            continue
    return None


def none_used(function: ast.FunctionDef) -> Iterator[tuple[list[str], ast.Attribute]]:
    """The methods of IN_PLACE whose result is assigned, returned or gone through; and where this None shows up."""
    for node in ast.walk(function):
        if isinstance(node, ast.Return):
            shows, value = [function.name], node.value
        elif isinstance(node, ast.Assign):
            shows, value = [ast.unparse(node.targets[0])], node.value
        elif isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.NamedExpr)):
            shows, value = [ast.unparse(node.target)], node.value
        elif isinstance(node, ast.For):
            shows, value = [], node.iter
        else:
            continue
        for call in ast.walk(value) if value else ():
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in IN_PLACE:
                yield [*shows, ast.unparse(call.func)], call.func


def lacks_return(function: ast.FunctionDef) -> bool:
    """Whether a function that is to return something never does."""
    returns = function.returns
    is_asked = returns is not None and ast.unparse(returns) != "None"
    nodes = [node for part in function.body for node in ast.walk(part)]
    is_left = any(isinstance(node, ast.Raise) and "NotImplementedError" in ast.unparse(node) for node in nodes)
    gives = any(
        isinstance(node, (ast.Yield, ast.YieldFrom)) or (isinstance(node, ast.Return) and node.value) for node in nodes
    )
    return is_asked and not is_left and not gives


def function_named(tree: ast.Module, function: str) -> ast.FunctionDef | None:
    """The first function of a module with this name, or that method of a class."""
    name = function.rpartition(".")[2]
    return next((each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef) and each.name == name), None)


def functions(tree: ast.Module) -> list[ast.FunctionDef]:
    """The functions of a module, and the methods of its classes."""
    return [each for node in tree.body for each in ([node] if isinstance(node, ast.FunctionDef) else methods(node))]


def methods(node: ast.stmt) -> list[ast.FunctionDef]:
    return [each for each in node.body if isinstance(each, ast.FunctionDef)] if isinstance(node, ast.ClassDef) else []


def around(tree: ast.Module, line: int) -> tuple[ast.ClassDef | None, ast.FunctionDef | None]:
    """The class and the function that a line is in."""
    for node in tree.body:
        for each in [node] if isinstance(node, ast.FunctionDef) else methods(node):
            if each.lineno <= line <= (each.end_lineno or each.lineno):
                return node if isinstance(node, ast.ClassDef) else None, each
    return None, None


def attributes(tree: ast.Module, owner: ast.ClassDef) -> set[str]:
    """What objects of a class have: methods, fields, and what the methods set."""
    found = {node.name for node in methods(owner)}
    found |= {
        node.target.id for node in owner.body if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
    for node in ast.walk(owner):
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.ctx, ast.Store)
            and getattr(node.value, "id", "") == "self"
        ):
            found.add(node.attr)
    for base in owner.bases:
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and node is not owner and node.name == getattr(base, "id", ""):
                found |= attributes(tree, node)
    return found


def own_names(function: ast.FunctionDef) -> set[str]:
    """The parameters and variables of a function."""
    arguments = function.args
    found = {each.arg for each in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]}
    found |= {node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return {name for name in found if not name.startswith("_")}


def is_lost(method: ast.FunctionDef, name: str) -> bool:
    """Whether a method sets a variable of this name, and does nothing with it, or is ``__init__``."""
    targets = [target for node in ast.walk(method) if isinstance(node, ast.Assign) for target in node.targets]
    targets += [node.target for node in ast.walk(method) if isinstance(node, ast.AnnAssign)]
    parts = [part for target in targets for part in getattr(target, "elts", [target])]
    reads = [node for node in ast.walk(method) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
    is_set = any(isinstance(part, ast.Name) and part.id == name for part in parts)
    return is_set and (method.name == "__init__" or all(node.id != name for node in reads))


def module_names(tree: ast.Module) -> set[str]:
    """What all functions of a module know."""
    found: set[str] = set()
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found |= {each.asname or each.name for each in node.names}
        elif isinstance(node, ast.Assign):
            found |= {each.id for each in node.targets if isinstance(each, ast.Name)}
    return found


def class_of_fields(tree: ast.Module, value: object) -> str:
    """The class of a file that has the keys of a dict as its fields: tests get its objects so; "" if there is none."""
    if not isinstance(value, dict):
        return ""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            fields = [each.target for each in node.body if isinstance(each, ast.AnnAssign)]
            if [getattr(field, "id", "") for field in fields] == [*value]:
                return node.name
    return ""

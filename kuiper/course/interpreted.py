"""A solution in Cython as Python: known mistakes are asked what they answer, and none of them has to be compiled.

A compiler takes seconds for what a test calls once, with a handful of numbers. So the text of a .pyx is turned into
Python, line by line: what Cython adds to the language is a small part of it, and exercises use a small part of that.
Types of variables and parameters become conversions, ``c_runtime.py`` has what they are made of. What is not known here
is a ``SyntaxError``; a test asks it of every solution and of every known mistake.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any, TypeVar

from kuiper.course import c_runtime

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Node = TypeVar("Node", bound=ast.AST)

TYPE = r"(?:const\s+)?(?:unsigned\s+|signed\s+)?[A-Za-z_]\w*"
DECLARED = re.compile(rf"^(?P<indent>\s*)cdef\s+(?P<type>{TYPE})\s*(?P<sizes>(?:\[[^\]]*\])*)\s+(?P<rest>[A-Za-z_].*)$")
FUNCTION = re.compile(rf"^(?:def|cpdef|cdef)\s+(?:inline\s+)?(?:{TYPE}\s+)?(?P<name>[A-Za-z_]\w*)\s*\(")
RETURNS = re.compile(rf"^(?:cpdef|cdef)\s+(?:inline\s+)?(?P<type>{TYPE})\s+[A-Za-z_]\w*\s*\(")
PARAMETER = re.compile(
    rf"^(?P<type>{TYPE})\s*(?P<axes>\[[^\]]*\])?\s+(?P<name>[A-Za-z_]\w*)\s*(?P<default>=.*)?$", re.DOTALL
)
CAST = re.compile(r"<\s*((?:un)?signed char|char|short|int|long|float|double|Py_ssize_t|bint)\s*>")
UNARY_AND = re.compile(r"(?<=[(,=])(\s*)&\s*(?=[A-Za-z_])")
WHOLE = {"int", "Py_ssize_t", "long", "short", "char", "signed char", "unsigned char"}
DIVISION = "_divide"
MADE = "_"  # what the names begin with that this file puts into a text


def interpreted(text: str) -> ast.Module:
    """The Python that does what the .pyx does; its lines have the numbers of the original.

    Raises
    ------
    SyntaxError
        If the text has something of Cython that is not known here.
    """
    lines = _without_headers(text.splitlines())
    tree = ast.parse("\n".join(_line(line) for line in _joined(lines)))
    for function in (node for node in tree.body if isinstance(node, ast.FunctionDef)):
        _Typed(function).settle()
    return tree


def namespace(constants: Mapping[str, int]) -> dict[str, Any]:
    """What the Python needs beside its own text; ``constants`` are those of the machine, such as LANES."""
    lanes = constants.get("LANES", 1)
    given: dict[str, Any] = {
        "_view": c_runtime.view, "_whole": c_runtime.as_whole, DIVISION: c_runtime.divide,
        "_address": c_runtime.address, "_array": lambda kind, *sizes: c_runtime.local(kind, lanes, *sizes),
        "_old": c_runtime.OLD, "_old_size": c_runtime.OLD_SIZE,
        "_as": {name.replace(" ", "_"): cast for name, cast in c_runtime.CASTS.items()},
        **{f"_{name}": conversion for name, conversion in c_runtime.CONVERSIONS.items()},
    }  # fmt: skip
    return {**given, **c_runtime.functions(lanes), **constants}


def constants(text: str, module: object) -> dict[str, int]:
    """The numbers that the C compiler knows and the text does not, as the student's own compiled module has them.

    >>> from types import SimpleNamespace
    >>> found = constants("STEP_SIZE = STEP  # enum { STEP = SUMS * LANES }", SimpleNamespace(STEP_SIZE=64))
    >>> found["STEP"], found["SUMS"] * found["LANES"]
    (64, 64)
    """
    from kuiper.machine.build import LANES  # of the level that kuiper has chosen when it was imported

    found = {"LANES": LANES}
    for line in text.splitlines():
        shown = re.match(r"([A-Z_]+) = ([A-Z]+(?:, [A-Z]+)*)\b", line)
        if shown and hasattr(module, shown[1]):
            value = getattr(module, shown[1])
            found |= dict(zip(shown[2].split(", "), value if isinstance(value, tuple) else (value,), strict=True))
    for product, factor in re.findall(r"\b([A-Z]+) = ([A-Z]+) \* LANES\b", text):
        if product in found:
            found[factor] = found[product] // LANES
    return found


def _without_headers(lines: list[str]) -> list[str]:
    """Empty lines for cimports and for what is handed to the C compiler; the constants of an enum remain."""
    out, block, is_enum = [], "", False
    for line in lines:
        if block and line.strip() and not line.startswith(" "):
            block = ""
        if not block and line.startswith(("cdef extern", "cdef enum", "enum")):
            block, is_enum = "header", line.startswith("cdef enum")
            out.append("")
        elif block:
            assigned = re.match(r"\s*(\w+ = \d+)\b", line) if is_enum else None
            out.append(assigned[1] if assigned else "")
        else:
            out.append("" if re.match(r"(?:from\s+\S+\s+)?cimport\b", line) else line)
    return out


def _joined(lines: list[str]) -> Iterator[str]:
    """The heads of functions on one line, and as many empty ones behind it as the original has."""
    waiting, head = 0, ""
    for line in lines:
        if head:
            head, waiting = f"{head} {line.strip()}", waiting + 1
        elif FUNCTION.match(line):
            head = line
        else:
            yield line
            continue
        if re.search(r"\)[^()]*:\s*$", head):
            yield _head(head)
            yield from [""] * waiting
            waiting, head = 0, ""


def _head(line: str) -> str:
    """The head of a function with the types of its parameters as annotations."""
    name = FUNCTION.match(line)
    assert name is not None
    inside = line[name.end() : line.rindex(")")].strip().rstrip(",")
    parts = [_parameter(part.strip()) for part in _split(inside)]
    returned = RETURNS.match(line)
    arrow = f" -> {returned['type']!r}" if returned else ""
    return f"def {name['name']}({', '.join(parts)}){arrow}:"


def _split(text: str) -> list[str]:
    """What stands between commas that are in no brackets."""
    parts, depth = [""], 0
    for sign in text:
        depth += (sign in "([{") - (sign in ")]}")
        if sign == "," and not depth:
            parts.append("")
        else:
            parts[-1] += sign
    return [part for part in parts if part.strip()]


def _parameter(text: str) -> str:
    found = PARAMETER.match(text)
    if found is None:
        return text
    return f"{found['name']}: {found['type'] + (found['axes'] or '')!r}{found['default'] or ''}"


def _line(line: str) -> str:
    found = DECLARED.match(line)
    if found:
        line = _declaration(found)
    line = _with_casts(line)
    line = UNARY_AND.sub(r"\1_address @ ", line)
    return re.sub(r"^(\s*)with (?:no)?gil:", r"\1if True:", line)


def _with_casts(line: str) -> str:
    """``<double> x[i] * 2`` as ``_as['double'](x[i]) * 2``: from the last cast of a line to the first."""
    for cast in reversed(list(CAST.finditer(line))):
        start = cast.end() + len(line[cast.end() :]) - len(line[cast.end() :].lstrip())
        end = start + (line[start : start + 1] == "-")
        while end < len(line) and (line[end].isalnum() or line[end] in "_.(["):
            if line[end] in "([":
                end += _closing(line[end:])
            end += 1
        line = f"{line[: cast.start()]}_as[{cast[1].replace(' ', '_')!r}]({line[start:end]}){line[end:]}"
    return line


def _closing(text: str) -> int:
    """Where the bracket closes that a text begins with."""
    depth = 0
    for place, sign in enumerate(text):
        depth += (sign in "([{") - (sign in ")]}")
        if not depth:
            return place
    raise SyntaxError(f"a bracket is not closed: {text}")


def _declaration(found: re.Match[str]) -> str:
    """``cdef float total = 0, best`` as ``total: 'float' = 0; best: 'float' = ...``, what was there before."""
    kind, out = found["type"].removeprefix("const ").strip(), []
    sizes = re.findall(r"\[([^\]]*)\]", found["sizes"])
    is_view = any(":" in size for size in sizes)
    for part in _split(found["rest"].partition("#")[0]):
        name, _, value = (piece.strip() for piece in part.partition("="))
        own = re.match(r"(\w+)\s*((?:\[[^\]]*\])+)$", name)
        lengths = re.findall(r"\[([^\]]*)\]", own[2]) if own else sizes
        name = own[1] if own else name
        if is_view:
            out.append(f"{name}: {kind + found['sizes']!r} = {value or None}")
        elif lengths:
            out.append(f"{name}: {kind + '[]'!r} = _array({kind!r}, {', '.join(lengths)})")
        else:
            out.append(f"{name}: {kind!r} = {value or f'_old.get({kind!r}, _old_size)'}")
    return found["indent"] + "; ".join(out)


def conversion(annotation: str, value: ast.expr) -> ast.expr:
    """The value as a variable of this type holds it."""
    kind = annotation.removeprefix("const ").strip()
    if ":" in kind:
        base, _, axes = kind.partition("[")
        is_const = annotation.startswith("const ")
        words = (ast.Constant(base.strip()), ast.Constant(axes.count(",") + 1), ast.Constant(is_const))
        return _called("_view", value, *words)
    if kind in WHOLE:
        return _called("_whole", value)
    return _called(f"_{kind}", value) if kind in c_runtime.CONVERSIONS else value


def _called(name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), list(arguments), [])


class _Typed(ast.NodeTransformer):
    """Puts conversions into a function: of its parameters, and of all that is stored in variables with a type."""

    def __init__(self, function: ast.FunctionDef) -> None:
        self.function = function
        self.types: dict[str, str] = {}
        for argument in function.args.args:
            if isinstance(argument.annotation, ast.Constant):
                self.types[argument.arg] = str(argument.annotation.value)
        self.returned = str(function.returns.value) if isinstance(function.returns, ast.Constant) else ""

    def settle(self) -> None:
        """Change the function."""
        parameters = list(self.types)
        for node in ast.walk(self.function):
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                self.types[node.target.id] = str(getattr(node.annotation, "value", ""))
        body = [self.visit(statement) for statement in self.function.body]
        names = ((name, ast.Name(name, ast.Load())) for name in parameters)
        first = [
            ast.Assign([ast.Name(name, ast.Store())], conversion(self.types[name], value)) for name, value in names
        ]
        start = 1 if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant) else 0
        self.function.body = [*body[:start], *(_placed(node, self.function) for node in first), *body[start:]]
        ast.fix_missing_locations(self.function)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        value = self.visit(node.value) if node.value else ast.Constant(None)
        kept = isinstance(value, ast.Call) and ast.unparse(value).startswith(MADE)
        target, kind = node.target, str(getattr(node.annotation, "value", ""))
        return _placed(ast.Assign([target], value if kept else conversion(kind, value)), node)

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self.generic_visit(node)
        for target in node.targets:
            if isinstance(target, ast.Name) and target.id in self.types:
                node.value = _placed(conversion(self.types[target.id], node.value), node)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.target, ast.Name) and self.types.get(node.target.id, "") in c_runtime.CONVERSIONS:
            node.value = _placed(conversion(self.types[node.target.id], node.value), node)
        return node

    def visit_Return(self, node: ast.Return) -> ast.AST:
        self.generic_visit(node)
        if node.value is not None and self.returned:
            node.value = _placed(conversion(self.returned, node.value), node)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        left = node.left
        if isinstance(node.op, ast.Div):
            return _placed(_called(DIVISION, node.left, node.right), node)
        if isinstance(node.op, ast.MatMult) and isinstance(left, ast.Name) and left.id == "_address":
            if not isinstance(node.right, ast.Subscript):
                raise SyntaxError(f"the address of {ast.unparse(node.right)}, which is no element")
            return _placed(_called("_address", node.right.value, node.right.slice), node)
        return node


def _placed(node: Node, like: ast.AST) -> Node:
    return ast.fix_missing_locations(ast.copy_location(node, like))

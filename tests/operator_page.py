"""docs/reference/operators.md: every operator type, in the words of its layer, with the parameters that it reads.

python -m tests.operator_page       writes the page

What an operator computes is the docstring of its layer. Parameters, their types and defaults, weights and inputs are
those that the stored graphs and the layers have (tests/operator_usage.py); of operators in no stored graph, those that
the code of the layer names.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import kuiper
from kuiper.layers import Layer, registry
from tests.operator_coverage import Coverage, summary
from tests.operator_families import FAMILIES, FUNCTIONS, HEAD, TAIL, Family
from tests.operator_usage import Usage, usage_of_stored_graphs

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = Path(kuiper.__file__).parents[1] / "docs" / "reference" / "operators.md"
DOORS = ("pnnx.Input", "pnnx.Output")
"""Types that the graph itself takes care of: they have no layer, but a row."""

_KINDS = {
    "an integer": "int",
    "a number": "float",
    "True or False": "bool",
    "a word": "str",
    "integers": "ints",
    "numbers": "floats",
    "one or two integers": "pair",
}
_READERS = {f"{kind}_param": kind for kind in _KINDS.values()}


class Row(NamedTuple):
    """The operator types that one layer runs, and what the page says of them."""

    types: list[str]
    computes: str
    parameters: list[str]
    only: list[str]


def page(usage: Usage) -> str:
    """The whole page."""
    parts = [HEAD]
    for family in FAMILIES:
        lines = [f"## {family.title}", "", *([family.words, ""] if family.words else [])]
        lines += ["| operator | what it computes | parameters | only |", "|---|---|---|---|"]
        parts.append("\n".join([*lines, *map(_line, rows(family, usage)), ""]))
    return "\n".join([*parts, TAIL, summary(Coverage()), ""])


def rows(family: Family, usage: Usage) -> Iterator[Row]:
    """The rows of a family, in the order of its modules and of the layers in them."""
    if family is FAMILIES[0]:
        yield Row([*DOORS], FUNCTIONS["doors"], [], [])
    for module in family.modules:
        for factory, types in factories(module).items():
            yield from [_row(factory, types, usage)] if inspect.isclass(factory) else _rows_of_function(types, usage)


def factories(module: str) -> dict[Any, list[str]]:
    """What makes layers in a module, with the operator types for which it does."""
    found: dict[Any, list[str]] = {}
    for name, factory in registry._factories.items():
        if factory.__module__ == module:
            found.setdefault(factory, []).append(name)
    return found


def described(cls: type) -> str:
    """The description of a class, without its source and what numpydoc puts in sections.

    >>> from kuiper.layers.operators.relu import ReLU
    >>> described(ReLU)
    '`max(x, 0)`; integers stay whole.'
    """
    doc = re.split(r"\n[A-Z][a-z]+\n---", inspect.cleandoc(cls.__doc__ or ""))[0]
    paragraphs = [part.split("Source:")[0] for part in doc.replace("::\n", ":\n").split("\n\n")]
    formulas = [re.sub(r"^ +(.*?)(  .*)?$", r"`\1`;", part, flags=re.MULTILINE) for part in paragraphs]
    return re.sub(r"\s+", " ", " ".join(formulas).replace("``", "`")).strip()


def limits(cls: type) -> list[str]:
    """What a layer refuses all else but, as its errors say it.

    >>> from kuiper.layers.operators.gelu import GELU
    >>> limits(GELU)
    ['approximate=none or tanh']
    """
    found = []
    for call, module in _calls(cls, {"unsupported"}):
        try:
            found.append(str(eval(ast.unparse(call.args[0]), dict(vars(sys.modules[module])))))
        except NameError:  # it depends on what the layer was given
            continue
    return list(dict.fromkeys(found))


def _row(cls: type, types: list[str], usage: Usage) -> Row:
    parameters = _parameters(types, usage) or _parameters_in_code(cls)
    read = {key for name in types for key in usage.reads[name]}
    notes = {
        "inputs": {key for name in types for key in usage.operands[name]} - read - {"input", "tensor", "self"},
        "weights": {re.sub(r"\d+", "N", key) for name in types for key in usage.weights[name]},
    }
    notes["others"] = {key for name in types for key in usage.params[name]} - read - notes["inputs"]
    if cls.__name__ == "Expression":  # it keeps the names of the inputs of what it replaced
        notes["inputs"] = set()
    parameters += [f"{note} {', '.join(f'`{key}`' for key in sorted(keys))}" for note, keys in notes.items() if keys]
    return Row(types, described(cls), parameters, limits(cls))


def _rows_of_function(types: list[str], usage: Usage) -> Iterator[Row]:
    """Functions that make layers: a row for each set of parameters."""
    by_parameters: dict[tuple[str, ...], list[str]] = {}
    for name in types:
        spellings = [other for other in types if re.split(r"\.|::", other)[-1] == re.split(r"\.|::", name)[-1]]
        by_parameters.setdefault(tuple(_parameters(spellings, usage)), []).append(name)
    for parameters, names in by_parameters.items():
        yield Row(names, FUNCTIONS[registry._factories[names[0]].__module__.split(".")[-1]], [*parameters], [])


def _parameters(types: list[str], usage: Usage) -> list[str]:
    """``key: type = default`` of what a layer reads, required ones first; ``...`` where it depends on the rest."""
    required, optional = [], []
    keys = dict.fromkeys(key for name, key in [*usage.defaults, *usage.kinds] if name in types)
    for key in keys:
        places = [(name, key) for name in types if key in usage.reads[name]]
        kind = next((_KINDS[usage.kinds[place]] for place in places if place in usage.kinds), "")
        defaults = list(dict.fromkeys(_shown(value) for place in places for value in usage.defaults[place]))
        text = f"{key}: {kind}" if kind else key
        if defaults:
            optional.append(f"`{text} = {defaults[0] if len(defaults) == 1 else '...'}`")
        else:
            required.append(f"`{text}`")
    return required + optional


def _parameters_in_code(cls: type) -> list[str]:
    """The same of what the code of a layer names."""
    found: dict[str, str] = {}
    for call, _ in _calls(cls, {*_READERS}):
        key, default = call.args[0], call.args[1:]
        if isinstance(key, ast.Constant) and isinstance(call.func, ast.Attribute):
            text = " = ".join([f"{key.value!s}: {_READERS[call.func.attr]}", *map(_shown_code, default)])
            found.setdefault(str(key.value), f"`{text}`")
    return list(found.values())


def _calls(cls: type, names: set[str]) -> Iterator[tuple[ast.Call, str]]:
    """The calls of methods with such names in a layer, its bases, and what these give their operator to.

    With each, the module where it stands.
    """
    sources: list[Any] = [each for each in cls.__mro__ if each.__module__.startswith("kuiper.") and each is not Layer]
    for source in sources:  # which grows
        for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(source)))):
            if not isinstance(node, ast.Call):
                continue
            if isinstance(node.func, ast.Attribute) and node.func.attr in names:
                yield node, source.__module__
            elif any(ast.unparse(argument) in ("op", "self.op") for argument in node.args):
                reader = _named(ast.unparse(node.func), source.__module__)
                if reader is not None and reader not in sources:
                    sources.append(reader)


def _named(text: str, module: str) -> Any:
    """The function or class of kuiper that a text names in a module; None if it is none."""
    found: Any = sys.modules[module]
    for word in text.split("."):
        found = getattr(found, word, None)
    ours = str(getattr(found, "__module__", "")).startswith("kuiper.layers")
    return found if ours and (inspect.isroutine(found) or inspect.isclass(found)) else None


def _shown(value: Any) -> str:
    """A default; equal numbers for all axes are written as one, and no numbers as None."""
    if isinstance(value, tuple) and len(set(value)) < 2:
        value = value[0] if value else None
    return value if isinstance(value, str) else f"{value:g}" if isinstance(value, float) else repr(value)


def _shown_code(node: ast.expr) -> str:
    try:
        return _shown(ast.literal_eval(node))
    except ValueError:
        return "..."


def _line(row: Row) -> str:
    cells = [" ".join(f"`{name}`" for name in row.types), row.computes, ", ".join(row.parameters), "; ".join(row.only)]
    return re.sub(r"\|  (?=\|)", "| ", f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")


def main() -> None:
    """Write the page."""
    with tempfile.TemporaryDirectory() as folder:
        PAGE.write_text(page(usage_of_stored_graphs(Path(folder))), encoding="utf-8")
    print(f"wrote {PAGE}")


if __name__ == "__main__":
    main()

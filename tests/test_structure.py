"""How the modules of kuiper hang together: no circles, and no import of a package from above.

What counts is every ``import`` in a file, wherever it stands: at its top, in a function, or for type checkers only. A
package whose name alone is imported counts as its ``__init__``.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(__file__).parents[1]
GENERATED = ("kuiper/course/material/", "kuiper/_build_config.py")  # what a build or a wheel puts beside the sources

Graph = dict[str, set[str]]
"""For each module, or each part of a package, those that it imports."""

PACKAGES = {
    "base": {"machine"},
    "simd": set(),
    "machine": {"base", "simd"},
    "tensor": {"base", "simd"},
    "graph": {"base", "tensor"},
    "layers": {"base", "simd", "machine", "tensor", "graph"},
    "expression": {"base", "simd", "tensor", "graph", "layers"},
    "engine": {"base", "simd", "machine", "tensor", "graph", "layers", "expression"},
    "onnx": {"base", "graph", "layers", "expression"},
    "explore": {"base", "machine", "tensor", "graph", "layers", "expression", "engine"},
    "kuiper": {"base", "machine", "tensor", "graph", "layers", "expression", "engine", "explore", "onnx"},
    "models": {"base", "machine", "tensor", "graph", "layers", "expression", "kuiper", "onnx"},
    "serving": {"base", "graph", "onnx", "kuiper", "models"},
    "course": {"base", "machine", "tensor", "graph", "layers", "expression", "explore", "kuiper", "models"},
    "cli": {
        "base",
        "machine",
        "tensor",
        "graph",
        "layers",
        "expression",
        "engine",
        "onnx",
        "explore",
        "kuiper",
        "models",
        "serving",
        "course",
    },
    "tab": {"base", "machine", "kuiper", "course", "cli"},
    "program": {"cli"},
}
"""What each package may import. ``base`` are the modules beside the folders, ``kuiper`` is the package itself, with
``kuiper.load``, and ``program`` is ``python -m kuiper``."""


def sources() -> dict[str, list[Path]]:
    """The files of each module of kuiper; a compiled one may have a .pyx and a .pxd."""
    found: dict[str, list[Path]] = {}
    for suffix in (".py", ".pyx", ".pxd"):
        for path in sorted((ROOT / "kuiper").rglob(f"*{suffix}")):
            file = path.relative_to(ROOT)
            if not file.as_posix().startswith(GENERATED):
                parts = file.with_suffix("").parts
                found.setdefault(".".join(parts[:-1] if parts[-1] == "__init__" else parts), []).append(path)
    return found


def statements(path: Path) -> str:
    """A file's text as Python; of Cython the imports only, which Python can read when they say ``import``."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return text
    found = re.findall(r"^[ \t]*from (kuiper[\w.]*) c?import (\([^)]*\)|[^(\n]*)$", text, re.MULTILINE)
    return "\n".join(f"from {module} import {names}" for module, names in found)


def imported(text: str, modules: Iterable[str]) -> Iterator[str]:
    """The modules that a text imports, each by its full name."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name in modules)
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, "imports are absolute"
            for name in node.names:
                submodule = f"{node.module}.{name.name}"
                yield from [each for each in (submodule, node.module) if each in modules][:1]


def module_graph() -> Graph:
    modules = sources()
    graph: Graph = {}
    for name, paths in modules.items():
        graph[name] = {other for path in paths for other in imported(statements(path), modules)} - {name}
    return graph


def parts_graph(graph: Graph, package: str) -> Graph:
    """How the parts of a package import each other: its modules, and each folder in it as one."""
    parts: Graph = {}
    within = f"{package}."
    for module, others in graph.items():
        if module.startswith(within):
            part = module.removeprefix(within).partition(".")[0]
            targets = (other.removeprefix(within).partition(".")[0] for other in others if other.startswith(within))
            parts.setdefault(part, set()).update(target for target in targets if target != part)
    return parts


def circles(graph: Graph) -> list[list[str]]:
    """The strongly connected components of more than one module, in each of which every module leads to all others."""
    graph = pruned(graph)
    reach = {name: reachable(graph, name) for name in graph}
    components = {frozenset(other for other in reach[name] if name in reach[other]) for name in graph}
    return sorted(sorted(component) for component in components if len(component) > 1)


def pruned(graph: Graph) -> Graph:
    """The graph without modules that cannot be in a circle: those at its ends, taken off until there are none."""
    while True:
        used = set().union(*graph.values())
        kept = {name: others & graph.keys() for name, others in graph.items() if others & graph.keys() and name in used}
        if kept == graph:
            return graph
        graph = kept


def reachable(graph: Graph, start: str) -> set[str]:
    """What a module imports, and what that imports, and so on."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        for other in graph[waiting.pop()] - found:
            found.add(other)
            waiting.append(other)
    return found


def package_of(module: str) -> str:
    first, _, rest = module.removeprefix("kuiper").removeprefix(".").partition(".")
    if not first:
        return "kuiper"
    if first == "__main__":
        return "program"
    return first if rest or first in PACKAGES else "base"


@pytest.fixture(scope="module")
def graph() -> Graph:
    return module_graph()


def test_circles_are_found_and_named() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set(), "e": {"f"}, "f": {"e"}}
    assert circles(graph) == [["b", "c"], ["e", "f"]]


def test_imports_are_found_wherever_they_stand() -> None:
    text = (
        "import a.b\nfrom a import c, name\nif TYPE_CHECKING:\n    from a.d import T\n"
        "def f():\n    from a.e import g\n    import elsewhere\n"
    )
    assert sorted(imported(text, {"a", "a.b", "a.c", "a.d", "a.e"})) == ["a", "a.b", "a.c", "a.d", "a.e"]


def test_parts_are_modules_and_whole_folders() -> None:
    graph = {"p.m": {"p.folder.x"}, "p.folder.x": {"p.folder.y"}, "p.folder.y": {"p.m", "q"}, "q": set()}
    assert parts_graph(graph, "p") == {"m": {"folder"}, "folder": {"m"}}
    assert circles(parts_graph(graph, "p")) == [["folder", "m"]]


def test_the_graph_has_what_the_sources_import(graph: Graph) -> None:
    assert "kuiper.graph.runtime_operator" in graph["kuiper.layers.layer"]  # for type checkers only
    assert "kuiper.engine.step" in graph["kuiper.engine.kernels.softmax"]  # a cimport


def test_no_modules_import_each_other_in_a_circle(graph: Graph) -> None:
    assert circles(graph) == []


def test_no_folders_import_each_other_in_a_circle(graph: Graph) -> None:
    packages = [name for name, paths in sources().items() if paths[0].name == "__init__.py"]
    found = {package: circles(parts_graph(graph, package)) for package in packages}
    assert {package: knots for package, knots in found.items() if knots} == {}


def test_the_machine_imports_nothing_but_the_errors_and_a_header(graph: Graph) -> None:
    """It is asked before there is anything else: the level of all compiled modules depends on it."""
    outside = {other for module, others in graph.items() if package_of(module) == "machine" for other in others}
    assert {other for other in outside if package_of(other) != "machine"} == {"kuiper.errors", "kuiper.simd.vector"}


def test_every_floor_is_listed(graph: Graph) -> None:
    assert {package_of(module) for module in graph} == set(PACKAGES)


def test_floors_import_only_what_is_below_them(graph: Graph) -> None:
    wrong = [
        f"{module} imports {other}"
        for module, others in sorted(graph.items())
        for other in sorted(others)
        if package_of(other) not in {package_of(module), *PACKAGES[package_of(module)]}
    ]
    assert wrong == []

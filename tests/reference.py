"""What the reference lists: the functions, classes and methods that docs/site/reference names, as Sphinx finds them."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import textwrap
from dataclasses import dataclass
from functools import cached_property, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PAGES = sorted((Path(__file__).parents[1] / "docs" / "site" / "reference").glob("*.md"))
DIRECTIVE = re.compile(
    r"^\.\. (autofunction|autoclass|automodule|currentmodule):: (\S+)\n((?:   :.*\n)*)", re.MULTILINE
)
SECTION = re.compile(r"^(\w+)\n-{4,}$", re.MULTILINE)


@dataclass(frozen=True)
class Entry:
    """A function or method of the reference: its name there, and what is called."""

    name: str
    function: Callable[..., Any]
    is_method: bool = False

    @cached_property
    def parameters(self) -> list[str]:
        """The names of its parameters, without the first one of a method, which the call does not name."""
        return list(inspect.signature(self.function).parameters)[self.is_method :]

    @cached_property
    def text(self) -> str:
        """Its docstring; that of a class belongs to its ``__init__``."""
        return inspect.getdoc(self.function) or ""

    @cached_property
    def sections(self) -> list[str]:
        """The headings in its docstring, such as Parameters."""
        return SECTION.findall(self.text)

    @cached_property
    def explained(self) -> list[str]:
        """The names in its section of parameters."""
        found = re.search(r"^Parameters\n-{4,}\n(.*?)(?=^\w+\n-{4,}$|\Z)", self.text, re.MULTILINE | re.DOTALL)
        return re.findall(r"^(\w+) : ", found[1], re.MULTILINE) if found else []

    @property
    def has_example(self) -> bool:
        """Whether its docstring has a doctest."""
        return ">>> " in self.text

    @property
    def returns(self) -> bool:
        """Whether the annotation promises anything but None."""
        if inspect.isclass(self.function):
            return False
        return inspect.signature(self.function).return_annotation not in (None, "None", inspect.Signature.empty)

    @property
    def raises(self) -> bool:
        """Whether there is a ``raise`` in its own body, or in the ``__init__`` of a class."""
        code = self.function.__init__ if inspect.isclass(self.function) else self.function
        try:
            tree = ast.parse(textwrap.dedent(inspect.getsource(code)))
        except (OSError, TypeError):  # compiled, or made by dataclass
            return False
        raised = [ast.unparse(node.exc) for node in ast.walk(tree) if isinstance(node, ast.Raise) and node.exc]
        return any(text != "NotImplementedError" for text in raised)  # that one is for subclasses to replace


def entries() -> list[Entry]:
    """All of the reference, each once."""
    found: dict[str, Entry] = {}
    for page in PAGES:
        module = ""
        for kind, name, options in DIRECTIVE.findall(page.read_text(encoding="utf-8") + "\n"):
            if kind in ("automodule", "currentmodule"):
                module = name
                if kind == "automodule" and ":members:" in options:
                    found |= {entry.name: entry for entry in _of_module(name, options)}
            else:
                thing, full = _find(name, module)
                found |= {entry.name: entry for entry in _of(full, thing)}
    return list(found.values())


def _find(name: str, module: str) -> tuple[Any, str]:
    if "." not in name:
        return getattr(importlib.import_module(module), name), f"{module}.{name}"
    parts = name.split(".")
    for end in range(len(parts) - 1, 0, -1):
        try:
            return reduce(getattr, parts[end:], importlib.import_module(".".join(parts[:end]))), name
        except ModuleNotFoundError:
            continue
    raise LookupError(name)


def _of_module(name: str, options: str) -> Iterator[Entry]:
    module = importlib.import_module(name)
    chosen = re.search(r":members: (.+)", options)
    names = chosen[1].split(", ") if chosen else getattr(module, "__all__", None)
    for key in names or vars(module):
        thing = getattr(module, key)
        own = getattr(thing, "__module__", None) == name
        if not key.startswith("_") and (names or own) and inspect.getdoc(thing):
            yield from _of(f"{name}.{key}", thing)


def _of(name: str, thing: Any) -> Iterator[Entry]:
    if inspect.isclass(thing):
        if not issubclass(thing, BaseException):
            yield Entry(name, thing)
            for key in dir(thing):
                static = inspect.getattr_static(thing, key)
                method = getattr(static, "__func__", static)
                if not getattr(method, "__module__", None) or not method.__module__.startswith("kuiper."):
                    continue
                if inspect.isfunction(method) and (key == "__call__" or not key.startswith("_")) and method.__doc__:
                    yield Entry(f"{name}.{key}", method, not isinstance(static, staticmethod))
    elif callable(thing):
        yield Entry(name, thing)

"""All known mistakes of a .pyx exercise as one module: a compiler takes as long for one of them as for twenty.

Most of a mistake's file is the solution. So the functions that a mistake changes, and those that call them, stand in a
common text under names of their own, ``tile__3``, and all else stands there once. The module of a mistake is then a few
lines of Python that give its functions their usual names.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

FUNCTION = re.compile(r"^(?:def|cpdef|cdef)\s[^\n(=:]*?(\w+)\s*\(", re.MULTILINE)


def split(text: str) -> tuple[str, dict[str, str]]:
    """What stands outside of the functions, and the text of each.

    >>> outside, functions = split("COUNT = 2\\n\\ndef f(x):\\n    return x\\n\\ncdef g(y):\\n    return f(y)\\n")
    >>> outside, list(functions)
    ('COUNT = 2\\n\\n', ['f', 'g'])
    """
    outside: list[str] = []
    functions: dict[str, str] = {}
    name = ""
    for line in text.splitlines(keepends=True):
        found = FUNCTION.match(line)
        if found:
            name = found[1]
            functions[name] = ""
        elif name and line.strip() and not line[0].isspace() and not line.startswith((")", "#")):
            name = ""
        if name:
            functions[name] += line
        else:
            outside.append(line)
    return "".join(outside), functions


def changed_functions(solution: str, variant: str) -> frozenset[str] | None:
    """The functions that a variant has otherwise than the solution; None if something outside of them differs, too."""
    (outside, functions), (other_outside, others) = split(solution), split(variant)
    if outside != other_outside or functions.keys() != others.keys():
        return None
    return frozenset(name for name, text in functions.items() if others[name] != text)


@cache
def common_text(solution: str, variants: tuple[str, ...]) -> tuple[str, list[dict[str, str]]]:
    """One text that has all variants; and for each, what those of its functions are called there that are its own.

    All must be such that only functions differ from the solution.

    >>> text, names = common_text("def f(x):\\n    return x\\n", ("def f(x):\\n    return 2 * x\\n",))
    >>> print(text)
    def f(x):
        return x
    <BLANKLINE>
    def f__0(x):
        return 2 * x
    <BLANKLINE>
    >>> names
    [{'f': 'f__0'}]
    """
    outside, functions = split(solution)
    parts, found = [outside, *functions.values()], []
    for number, text in enumerate(variants):
        others = split(text)[1]
        own = {name for name, body in functions.items() if others[name] != body}
        before: set[str] = set()
        while own != before:  # what calls one of them must call this variant's
            before = set(own)
            own |= {name for name, body in others.items() if any(_mentions(body, each) for each in before)}
        names = {name: f"{name}__{number}" for name in functions if name in own}
        parts += [_renamed(others[name], names) for name in names]
        found.append(names)
    return "\n".join(part.rstrip("\n") + "\n" for part in parts if part.strip()), found


MODULE = """\
from pathlib import Path

from kuiper.course.builder import load_pyx

_all = load_pyx(Path({common!r}), Path({build!r}), bare=True)
_own = {names!r}
globals().update({{name: value for name, value in vars(_all).items() if "__" not in name}})
globals().update({{name: getattr(_all, own) for name, own in _own.items() if hasattr(_all, own)}})
"""


def module_text(names: Mapping[str, str], common: Path, build: Path) -> str:
    """The Python file that stands for one variant: what the common module has, with the variant's functions."""
    return MODULE.format(common=str(common), build=str(build), names=dict(names))


def _mentions(text: str, name: str) -> bool:
    return re.search(rf"(?<![\w.]){name}\b", text) is not None


def _renamed(text: str, names: Mapping[str, str]) -> str:
    pattern = re.compile(rf"(?<![\w.])(?:{'|'.join(names)})\b")
    return pattern.sub(lambda found: names[found[0]], text)

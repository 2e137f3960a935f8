"""What a human should look at in submitted code: what it imports, and by which ways it could reach more than it shows.

No proof of anything. It goes by the syntax and not by words, in comments for instance, and by what an exercise's own
reference does not do as well. The texts are hostile, so they are read in a process of its own: this file, started by
its path with a list of files, which needs nothing but the standard library.
"""

from __future__ import annotations

import ast
import io
import json
import re
import subprocess
import sys
import tokenize
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

SECONDS = 30.0
MOST = 20
UNREADABLE = "could not be read"
HARMLESS = {
    "__future__", "abc", "array", "bisect", "collections", "contextlib", "copy", "cmath", "cython",
    "dataclasses", "decimal", "enum", "fractions", "functools", "heapq", "itertools", "libc", "math", "numbers",
    "numpy", "operator", "re", "statistics", "string", "struct", "textwrap", "typing", "unicodedata",
    "kuiper.course.load_exercise",
}  # fmt: skip
BUILTINS = {
    "__import__", "breakpoint", "compile", "delattr", "eval", "exec", "globals", "input", "locals", "open",
    "setattr", "vars", "__builtins__", "__file__", "__loader__", "__spec__",
}  # fmt: skip
FRAMES = {"ag_frame", "cr_frame", "f_back", "f_builtins", "f_code", "f_globals", "f_locals", "gi_frame", "tb_frame"}
DOORS = {"ctypeslib", "fromfile", "genfromtxt", "load", "loadtxt", "memmap", "DataSource", "tofile"}  # of NumPy
ORDINARY = re.compile(
    r"__(init|new|call|name|doc|all|eq|ne|lt|le|gt|ge|hash|repr|str|len|iter|next|getitem|setitem|contains|enter|exit|"
    r"post_init|add|radd|sub|rsub|mul|rmul|truediv|rtruediv|neg|abs|bool|int|float|version|class|slots)__"
)
CYTHON_IMPORT = re.compile(r"^(?:from\s+([\w.]+)\s+)?(c?import)\s+(.+)$")


def suspicious_code(files: Sequence[tuple[Path, Path | None]]) -> list[list[str]]:
    """For each pair of a submitted file and its reference, what the first does and the second does not."""
    names = [str(path) if path else "" for pair in files for path in pair]
    try:
        words = [sys.executable, "-I", "-S", __file__, *names]
        done = subprocess.run(words, capture_output=True, timeout=SECONDS, check=True)
        found = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError):
        return [[UNREADABLE]] if len(files) == 1 else [suspicious_code([pair])[0] for pair in files]
    pairs = zip(found[::2], found[1::2], strict=True)
    return [list(dict.fromkeys(word for word in own if word not in known))[:MOST] for own, known in pairs]


def in_file(path: Path) -> list[str]:
    """What there is to say of one file."""
    source = path.read_bytes()
    try:
        if path.suffix == ".pyx":
            return list(_in_cython(source))
        return list(_in_python(ast.parse(source)))
    except (SyntaxError, ValueError):  # then it will not run either
        return []


def _in_python(tree: ast.Module) -> Iterator[str]:
    modules: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            prefix = "." * node.level + f"{node.module or ''}." if isinstance(node, ast.ImportFrom) else ""
            for alias in node.names:
                whole = isinstance(node, ast.Import) and not alias.asname
                modules[alias.asname or alias.name.split(".")[0]] = (
                    alias.name.split(".")[0] if whole else prefix + alias.name
                )
                yield from _imported(prefix + alias.name)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield from _named(node.id)
        elif isinstance(node, ast.Attribute):
            yield from _attribute(node, modules)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "getattr":
            if len(node.args) < 2 or not isinstance(node.args[1], ast.Constant):
                yield "uses getattr with a name that is computed"
            else:
                yield from _named(str(node.args[1].value))


def _attribute(node: ast.Attribute, modules: dict[str, str]) -> Iterator[str]:
    names = [node.attr]
    inner = node.value
    while isinstance(inner, ast.Attribute):
        names.append(inner.attr)
        inner = inner.value
    yield from _named(node.attr)
    if isinstance(inner, ast.Name) and inner.id in modules:
        dotted = ".".join([modules[inner.id], *reversed(names)])
        if dotted.startswith("kuiper."):
            yield f"uses {dotted}"
        if node.attr in DOORS and modules[inner.id].startswith("numpy"):
            yield f"uses {dotted}"
        if isinstance(node.ctx, (ast.Store, ast.Del)):
            yield f"changes {dotted}"


def _in_cython(source: bytes) -> Iterator[str]:
    """Cython's own syntax has the tokens of Python's, if not its grammar."""
    line: list[str] = []
    try:
        for token in tokenize.tokenize(io.BytesIO(source).readline):
            if token.type in (tokenize.NEWLINE, tokenize.ENDMARKER):
                yield from _cython_line(line)
                line = []
            elif token.type == tokenize.COMMENT and re.match(r"#\s*(distutils|cython)\s*:", token.string):
                yield f"has the directive {token.string[1:].strip()}"
            elif token.type in (tokenize.NAME, tokenize.OP, tokenize.NUMBER):
                line.append(token.string)
            elif token.type == tokenize.STRING:
                line.append("''")
    except (tokenize.TokenError, SyntaxError):
        yield UNREADABLE


def _cython_line(line: list[str]) -> Iterator[str]:
    if line[:1] == ["include"] or line[:2] == ["cdef", "extern"]:
        yield "has " + " ".join(line[:4])
    words = re.sub(r"\s*\.\s*", ".", " ".join(line))
    found = CYTHON_IMPORT.match(words)
    if found:
        prefix = f"{found[1]}." if found[1] else ""
        for part in found[3].strip("() ").split(","):
            yield from _imported(prefix + part.split(" as ")[0].replace(" ", ""))
        return
    for number, word in enumerate(line):
        yield from _named(word)
        if word == "getattr" and line[number + 1 : number + 2] == ["("]:
            yield "uses getattr"
    for dotted in re.findall(r"kuiper(?:\.\w+)+", "".join(line)):
        yield f"uses {dotted}"


def _imported(name: str) -> Iterator[str]:
    parts = name.split(".")
    is_harmless = any(".".join(parts[:length]) in HARMLESS for length in range(1, len(parts) + 1))
    if not is_harmless or DOORS.intersection(parts[1:]):
        yield f"imports {name}"


def _named(name: str) -> Iterator[str]:
    is_special = name.startswith("__") and name.endswith("__") and not ORDINARY.fullmatch(name)
    if name in BUILTINS or name in FRAMES or is_special:
        yield f"uses {name}"


def _read(names: Iterable[str]) -> list[list[str]]:
    return [[words[:200] for words in in_file(Path(name))][:10_000] if name else [] for name in names]


if __name__ == "__main__":
    print(json.dumps(_read(sys.argv[1:])))

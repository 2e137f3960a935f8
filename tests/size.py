"""How much code there is: statements by package, now and at another commit.

    python -m tests.size                 what is checked out
    python -m tests.size 89ac05f         beside that commit, with the change in percent

A statement counts once, however many lines it takes, so that longer lines win nothing. Docstrings, comments and blank
lines do not count. Of Cython and C, which Python cannot parse, logical lines count: a line without its comment that
does not go on inside brackets.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import subprocess
import tarfile
from collections import Counter
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parents[1]
CODE = (".py", ".pyx", ".pxd", ".h", ".js")
C_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
CYTHON_TEXT = re.compile(r'"""(?:[^\\]|\\.)*?"""|#[^\n]*', re.DOTALL)


def statements(name: str, text: str) -> int:
    """How many statements a file has.

    >>> statements("a.py", 'x = 1  # one\\n\\ndef f():\\n    "doc"\\n    return (1 +\\n            2)\\n')
    3
    >>> statements("a.h", "/* two */ enum { A,\\n B };\\nint x;\\n")
    2
    """
    if name.endswith(".py"):
        return sum(isinstance(node, ast.stmt) and not _is_text(node) for node in ast.walk(ast.parse(text)))
    return _logical_lines((CYTHON_TEXT if name.endswith((".pyx", ".pxd")) else C_COMMENT).sub("", text))


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _logical_lines(text: str) -> int:
    count, open_brackets = 0, 0
    for line in text.splitlines():
        if open_brackets <= 0 and line.strip(" \t};"):
            count += 1
        inside = line.count("(") + line.count("[") - line.count(")") - line.count("]")
        enum = line.count("{") - line.count("}") if "enum" in line or open_brackets else 0
        open_brackets += inside + enum
    return count


def package(name: str) -> str | None:
    """The package that a file counts for; None if it is no code of ours.

    >>> package("kuiper/engine/runner.py"), package("tests/graph/test_pass.py"), package("README.md")
    ('kuiper/engine', 'tests', None)
    """
    path = PurePosixPath(name)
    if path.suffix not in CODE:
        return None
    return "/".join(path.parts[:2]) if path.parts[0] == "kuiper" and len(path.parts) > 2 else path.parts[0]


def sizes(commit: str | None) -> Counter[str]:
    """Statements by package."""
    found: Counter[str] = Counter()
    for name, text in _files(commit):
        if part := package(name):
            found[part] += statements(name, text)
    return found


def _files(commit: str | None) -> list[tuple[str, str]]:
    if commit is None:
        listed = _git("ls-files", "-z").decode().split("\0")
        return [(name, (ROOT / name).read_text(encoding="utf-8")) for name in listed if package(name or "none")]
    with tarfile.open(fileobj=io.BytesIO(_git("archive", commit))) as archive:
        members = [member for member in archive if member.isfile() and package(member.name)]
        return [(member.name, archive.extractfile(member).read().decode()) for member in members]  # type: ignore[union-attr]


def _git(*words: str) -> bytes:
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True).stdout


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.size", description="count statements by package")
    parser.add_argument("commit", nargs="?", help="another commit to compare with")
    commit = parser.parse_args().commit
    now, before = sizes(None), sizes(commit) if commit else None
    for part in sorted(now | (before or {})):
        line = f"{part:<22}{now[part]:>8,}"
        if before is not None:
            change = f"{now[part] / before[part] - 1:+.1%}" if before[part] else "new"
            line += f"{before[part]:>9,}{change:>9}"
        print(line)


if __name__ == "__main__":
    main()

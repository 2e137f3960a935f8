"""What a compiler says, cut down to what a student needs: the place, the message, the line, the caret."""

from __future__ import annotations

import re
from pathlib import Path

from kuiper.course.phrases import recognised, said
from kuiper.language import noop

MAX_LINES = 10
MAX_ERRORS = 2
CYTHON = re.compile(r"^(?P<file>.+?\.p[yx][xd]?):(?P<line>\d+):(?P<column>\d+): (?P<message>(?!.*\bwarning\b).+)$")
C = re.compile(r"^.*?(?:error|fatal error)[ :].*$", re.MULTILINE)
REFUSED = noop("{file}: the C compiler refuses it")
MORE = noop("(and {count} more, often only echoes of the first)")


def compiler_words(text: str) -> list[str]:
    """The lines of what ``translate`` has made, in the student's language; what a compiler says stays as it is."""
    return [said(recognised(line, (REFUSED, MORE))) for line in text.splitlines()]


def translate(output: str, source: Path) -> str:
    """At most ten lines: the first two errors of Cython, or what the C compiler complains of.

    >>> text = "im2col.pyx:2:4: Expected an identifier or literal"
    >>> print(translate(text, Path("nowhere/im2col.pyx")))
    nowhere/im2col.pyx:2:5: Expected an identifier or literal
    """
    errors = [match for line in output.splitlines() if (match := CYTHON.match(line))]
    if not errors:
        complaints = C.findall(output) or output.strip().splitlines()[-3:]
        return "\n".join([REFUSED.format(file=shown(source)), *complaints[:4]])
    code = source.read_text(encoding="utf-8").splitlines() if source.is_file() else []
    lines: list[str] = []
    for error in errors[:MAX_ERRORS]:
        number, column = int(error["line"]), int(error["column"])
        if code and number > len(code):  # something is open until the end of the file
            number, column = len(code), len(code[-1])
        lines.append(f"{shown(source)}:{number}:{column + 1}: {error['message']}")
        if 0 < number <= len(code):
            text = code[number - 1]
            lines += [f"    {text.strip()}", "    " + " " * (column - len(text) + len(text.lstrip())) + "^"]
    if len(errors) > MAX_ERRORS:
        lines.append(MORE.format(count=len(errors) - MAX_ERRORS))
    return "\n".join(lines[:MAX_LINES])


def shown(path: Path) -> str:
    """A path as the student may click it: from the working directory where that is shorter."""
    try:
        return path.resolve().relative_to(Path.cwd().resolve()).as_posix()
    except ValueError:
        return str(path) if path.is_absolute() else path.name

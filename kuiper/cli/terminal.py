"""The one way to the terminal: whatever is printed, no name from a file can move its cursor, colour it or fake a line.

``say`` and the console keep the ends of lines that a command writes itself; a name that stands in a line goes through
``kuiper.printable.printable`` first, which keeps none.
"""

from __future__ import annotations

import json
import shutil
import sys
from typing import TYPE_CHECKING, Any

from rich.console import Console

from kuiper.language import columns, wrapped
from kuiper.printable import printable

if TYPE_CHECKING:
    from rich.text import Text


def say(text: object = "", *, error: bool = False, end: str = "\n") -> None:
    """Print to stdout, or to stderr, at once."""
    print(printable(str(text), keep="\n"), file=sys.stderr if error else sys.stdout, end=end, flush=True)


def say_failure(text: str) -> None:
    """One line to stderr; on a terminal it is folded at words, as a terminal breaks lines anywhere."""
    width = shutil.get_terminal_size().columns
    say("\n".join(wrapped(text, width)) if sys.stderr.isatty() and columns(text) > width else text, error=True)


def say_json(value: object, indent: int | None = None) -> None:
    """Print as JSON: all that is not ASCII, and the control character that ``json`` lets through, is escaped."""
    print(json.dumps(value, indent=indent).replace("\x7f", "\\u007f"), flush=True)


def confirmed(question: str) -> bool:
    """Whether the user says yes; silence and the end of input are a no."""
    say(f"{question} [y/N] ", end="")
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def read_line(question: str) -> str:
    """What the user types behind ``question``, without spaces around it; empty at the end of input."""
    say(question, end="")
    line = sys.stdin.readline()
    if not line:
        say()  # the end of input has moved no cursor
    return line.strip()


def fitted(text: str, width: int) -> str:
    """A text for a terminal of so many columns: long lines in Chinese are broken, which rich does at spaces only.

    >>> print(fitted("  卷积和池化", 8))
      卷积和
      池化
    """
    lines = []
    for line in text.splitlines():
        indent = line[: len(line) - len(line.lstrip())]
        is_long = not line.isascii() and columns(line) > width
        lines += wrapped(line, width, indent, indent) if is_long else [line]
    return "\n".join(lines)


_AS_IT_IS = {"markup": False, "emoji": False, "highlight": False}


class PlainConsole(Console):
    """A console of rich that shows every text as it is: no markup such as [red], no :emoji:, no colours for numbers."""

    def render_str(self, text: str, **options: Any) -> Text:
        """As rich's own, for a text in which nothing has a meaning."""
        return super().render_str(printable(text, keep="\n"), **{**options, **_AS_IT_IS})


def open_console(*, error: bool = False, soft_wrap: bool = False) -> PlainConsole:
    """The console for tables, bars and colours, on stdout or stderr."""
    return PlainConsole(stderr=error, soft_wrap=soft_wrap, markup=False, emoji=False, highlight=False)

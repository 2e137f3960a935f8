"""The parser of the command line: argparse, which says its own sentences in the reader's language, too."""

from __future__ import annotations

import argparse
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

from kuiper.language import ENGLISH, columns, language, noop, translate, wrapped
from kuiper.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

OWN_WORDS = (
    noop("usage: "),
    noop("positional arguments"),
    noop("options"),
    noop("%(heading)s:"),
    noop("show this help message and exit"),
    noop("show program's version number and exit"),
    noop("%(prog)s: error: %(message)s\n"),
    noop("argument %(argument_name)s: %(message)s"),
    noop("unknown parser %(parser_name)r (choices: %(choices)s)"),
    noop("unrecognized arguments: %s"),
    noop("not allowed with argument %s"),
    noop("ignored explicit argument %r"),
    noop("the following arguments are required: %s"),
    noop("one of the arguments %s is required"),
    noop("expected one argument"),
    noop("expected at most one argument"),
    noop("expected at least one argument"),
    noop("expected %s argument"),
    noop("expected %s arguments"),
    noop("ambiguous option: %(option)s could match %(matches)s"),
    noop("invalid %(type)s value: %(value)r"),
    noop("invalid choice: %(value)r (choose from %(choices)s)"),
    noop("invalid choice: %(value)r, maybe you meant %(closest)r? (choose from %(choices)s)"),
)
"""What argparse says to users, letter for letter as the Pythons from 3.10 on have it: messages of ours."""


@contextmanager
def speaking_parser() -> Iterator[None]:
    """Within this block argparse looks its words up where all others are; in English it is left alone.

    It has them from gettext's one domain of the process, which is not ours.
    """
    if language() == ENGLISH:
        yield
        return
    names: dict[str, Any] = {"_": translate, "ngettext": lambda one, many, n: translate(one if n == 1 else many)}
    before = {name: getattr(argparse, name) for name in names}
    vars(argparse).update(names)
    try:
        yield
    finally:
        vars(argparse).update(before)


class Formatter(argparse.HelpFormatter):
    """Breaks lines of Chinese, which has no spaces and takes two columns for a letter."""

    def _split_lines(self, text: str, width: int) -> list[str]:
        return super()._split_lines(text, width) if text.isascii() else wrapped(text, width)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        is_plain = text.isascii()
        return super()._fill_text(text, width, indent) if is_plain else "\n".join(wrapped(text, width, indent, indent))

    def _format_usage(self, *words: Any) -> str:
        head = translate("usage: ")
        more = columns(head) - len(head)  # argparse counts letters
        self._width -= more
        first, *rest = super()._format_usage(*words).split("\n")
        self._width += more
        return "\n".join([first, *(" " * more + line if line else line for line in rest)])


class Parser(argparse.ArgumentParser):
    """The parser of the command line, whose words may be names of files that somebody else chose."""

    def __init__(self, *words: Any, **options: Any) -> None:
        super().__init__(*words, **{"formatter_class": Formatter, **options})

    def error(self, message: str) -> NoReturn:
        super().error(printable(message))

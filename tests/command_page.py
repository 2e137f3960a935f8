"""docs/use/commands.md: every command of the program with its arguments, written from the parsers themselves.

python -m tests.command_page        writes the page
"""

from __future__ import annotations

import argparse
import re
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from kuiper.cli import COMMANDS, build_parser
from kuiper.language import ENGLISH, speaking

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = Path(__file__).parents[1] / "docs" / "use" / "commands.md"
FIRST_OF_THE_COURSE = "progress"
HEAD = """\
# Commands

The program `kuiper` with all its commands, made from their parsers by `python -m tests.command_page`.
`kuiper COMMAND --help` prints the same in a terminal, and `kuiper` alone lists the commands. `kuiper --version` prints
the version.

Exit codes are 0 for done, 1 for failed, 2 for wrong usage and 130 for interrupted. A failure is one line on stderr
(but Python's ImportError where `KUIPER_ARCH` asks for a level that this copy or CPU does not have).
Where several values are allowed, the usage shows `...`.
"""


def page() -> str:
    """The whole page."""
    parts = [HEAD]
    for name in COMMANDS:
        if name == next(iter(COMMANDS)):
            parts.append("## Models and pictures\n")
        elif name == FIRST_OF_THE_COURSE:
            parts.append("## The course\n")
        parts.append(section(name))
    return "\n".join(parts)


def section(name: str) -> str:
    """One command: what it does, how it is called, and a table of its arguments; then those of its own commands."""
    parser = parser_of(name)
    parts = [described(f"### kuiper {name}", str(parser.description), f"kuiper {name}", parser)]
    for inner in parser._actions:
        if isinstance(inner, argparse._SubParsersAction):
            summaries = {choice.dest: str(choice.help) for choice in inner._choices_actions}
            for word, below in inner.choices.items():
                summary = f"{summaries[word][0].upper()}{summaries[word][1:]}."
                parts.append(described(f"#### kuiper {name} {word}", summary, f"kuiper {name} {word}", below))
    return "\n".join(parts)


def described(heading: str, summary: str, words: str, parser: argparse.ArgumentParser) -> str:
    """A heading, a sentence, the usage, and a table of the arguments."""
    actions = list(shown(parser))
    usage = " ".join([words, *usages(parser, sorted(actions, key=_is_option)), *own_commands(parser)])
    lines = [heading, "", summary, "", "```", wrapped(usage), "```", ""]
    rows = [f"| {_names(action)} | {_meaning(action)} |" for action in actions]
    return "\n".join([*lines, "| argument | meaning |", "|---|---|", *rows, ""] if rows else lines)


def parser_of(name: str) -> argparse.ArgumentParser:
    """The parser of one command."""
    with speaking(ENGLISH):
        parser = build_parser(name)
    (choices,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    found: argparse.ArgumentParser = choices.choices[name]
    return found


def shown(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """The arguments that --help shows, without --help itself and without a command's own commands."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction) or action.help == argparse.SUPPRESS:
            continue
        if not isinstance(action, argparse._HelpAction):
            yield action


def usages(parser: argparse.ArgumentParser, actions: list[argparse.Action]) -> list[str]:
    """How each argument is written; those of which only one may be given are one: ``[--a | --b]``."""
    groups = [[each for each in actions if each in group._group_actions] for group in parser._mutually_exclusive_groups]
    found = []
    for action in actions:
        group = next((group for group in groups if action in group), [action])
        if action is group[0]:
            found.append(" | ".join(map(_usage, group)).replace("] | [", " | "))
    return found


def own_commands(parser: argparse.ArgumentParser) -> list[str]:
    """``ACTION ...`` for a command that has commands of its own."""
    inner = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    return [f"{action.metavar or action.dest.upper()} ..." for action in inner]


def wrapped(usage: str) -> str:
    """The usage in lines of at most 100 characters; an argument stays in one line."""
    lines = textwrap.wrap(re.sub(r" (?=[^][]*\])", "\0", usage), 100, subsequent_indent="    ", break_on_hyphens=False)
    return "\n".join(lines).replace("\0", " ")


def _is_option(action: argparse.Action) -> bool:
    return bool(action.option_strings)


def _value(action: argparse.Action) -> str:
    """What stands for the value in a usage; nothing for a switch."""
    if action.nargs == 0:
        return ""
    word = action.metavar or ("{" + ",".join(map(str, action.choices)) + "}" if action.choices else action.dest.upper())
    words = [str(word)] if not isinstance(word, tuple) else [str(each) for each in word]
    if isinstance(action.nargs, int) and len(words) == 1:
        words *= action.nargs
    return " ".join(words) + (" ..." if action.nargs in ("+", "*") else "")


def _usage(action: argparse.Action) -> str:
    value = _value(action)
    if not action.option_strings:
        return f"[{value}]" if action.nargs in ("?", "*") else value
    text = f"{action.option_strings[0]} {value}".strip()
    return text if action.required else f"[{text}]"


def _names(action: argparse.Action) -> str:
    value = _value(action).removesuffix(" ...")
    names = [f"{option} {value}".strip() for option in action.option_strings] or [value]
    return _cell(", ".join(f"`{name}`" for name in names))


def _meaning(action: argparse.Action) -> str:
    values = {**vars(action), "prog": "kuiper", "choices": ", ".join(map(str, action.choices or ()))}
    return _cell(str(action.help or "") % values)


def _cell(text: str) -> str:
    """Text for a cell of a table; what stands in angle brackets would be taken for a tag."""
    return text.replace("|", "\\|").replace("<", "&lt;")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE}")

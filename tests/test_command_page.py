"""docs/use/commands.md is what the parsers say today."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kuiper.cli import COMMANDS
from tests.command_page import PAGE, page, parser_of, shown

if TYPE_CHECKING:
    import argparse


def test_page_is_what_the_parsers_say() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python -m tests.command_page"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_argument_has_a_help_text(name: str) -> None:
    parser: argparse.ArgumentParser = parser_of(name)
    assert [action.dest for action in shown(parser) if not action.help] == []

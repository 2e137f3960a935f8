"""Draw a model as an SVG picture or as Mermaid text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kuiper.cli.model_arguments import add_model_arguments, open_graph
from kuiper.cli.terminal import say
from kuiper.printable import printable

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model_arguments(parser)
    parser.add_argument("--random-weights", action="store_true", help="draw without a .bin")
    parser.add_argument("-o", "--output", type=Path, required=True, help="a name that ends in .svg or .mmd")


def execute(arguments: argparse.Namespace) -> int:
    open_graph(arguments).draw().save(arguments.output)
    say(f"wrote {printable(str(arguments.output))}")
    return 0

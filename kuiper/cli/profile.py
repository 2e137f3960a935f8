"""Time each operator of a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kuiper.cli.model_arguments import add_model_arguments, add_timing_arguments, make_inputs, open_model
from kuiper.cli.terminal import say
from kuiper.printable import printable

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model_arguments(parser)
    add_timing_arguments(parser)
    parser.add_argument("--runs", type=int, default=10, help="timed runs after one to warm up (default: %(default)s)")
    parser.add_argument("--trace", type=Path, metavar="OUT.json", help="also write a trace for ui.perfetto.dev")


def execute(arguments: argparse.Namespace) -> int:
    model = open_model(arguments)
    profile = model.profile(*make_inputs(model, arguments), runs=arguments.runs)
    say(profile)
    if arguments.trace is not None:
        profile.save_trace(arguments.trace)
        say(f"wrote {printable(str(arguments.trace))}")
    return 0

"""Print how the engine runs a model: algorithm, bytes moved and time of each step, and the machine that it is for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.cli.model_arguments import add_model_arguments, add_timing_arguments, make_inputs, open_model
from kuiper.cli.terminal import say

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model_arguments(parser, optimize_only=True)
    add_timing_arguments(parser)
    parser.add_argument("--runs", type=int, default=10, help="timed runs after one to warm up (default: %(default)s)")


def execute(arguments: argparse.Namespace) -> int:
    model = open_model(arguments)
    say(model.plan(*make_inputs(model, arguments), runs=arguments.runs))
    return 0

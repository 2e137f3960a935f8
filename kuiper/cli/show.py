"""Print a model's operators with shapes, parameters and FLOPs, and all operators that kuiper lacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.cli.model_arguments import add_model_arguments, add_timing_arguments, make_inputs, open_graph
from kuiper.cli.terminal import say
from kuiper.graph.summary import Summary
from kuiper.layers import registry
from kuiper.printable import printable

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model_arguments(parser)
    add_timing_arguments(parser)


def execute(arguments: argparse.Namespace) -> int:
    graph = open_graph(arguments)
    missing = graph.unsupported(registry)
    if missing:
        say(graph.summary())
        types = ", ".join(f"{type_name} ({len(names)}: {names[0]})" for type_name, names in missing.items())
        say(printable(f"{graph.name}: expected operators that kuiper knows, got also {types}"), error=True)
        return 1
    graph.build(registry, optimize=not arguments.no_optimize)
    say(Summary.of(graph, make_inputs(graph, arguments)) if arguments.shape else graph.summary())
    return 0

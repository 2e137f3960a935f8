"""Print a model's operators with shapes, parameters and FLOPs, and all operators that kuiper lacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.cli.model_arguments import add_model_arguments, add_timing_arguments, make_inputs, open_graph
from kuiper.cli.terminal import say
from kuiper.graph.summary import Summary, format_shape
from kuiper.layers import registry
from kuiper.onnx.builder import OUTPUT
from kuiper.printable import printable

if TYPE_CHECKING:
    import argparse

    from kuiper.graph import RuntimeGraph


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model_arguments(parser)
    add_timing_arguments(parser)


def signature(graph: RuntimeGraph) -> str:
    """The inputs and outputs of a graph, a line each: name, element type, sizes ("?" or a name: open)."""
    rows = [("input", op.name, op.outputs[0]) for op in graph.input_operators]
    rows += [("output", op.name.removesuffix(OUTPUT), op.inputs[0]) for op in graph.output_operators]
    wide = max((len(printable(name)) for _, name, _ in rows), default=0)
    lines = []
    for role, name, operand in rows:
        kind = operand.type.name.lower() if operand.type else "?"
        lines.append(f"{role:6}  {printable(name):{wide}}  {kind:4} {printable(format_shape(operand.shape))}")
    return "\n".join(lines)


def execute(arguments: argparse.Namespace) -> int:
    graph = open_graph(arguments)
    missing = graph.unsupported(registry)
    if missing:
        say(graph.summary())
        types = ", ".join(f"{type_name} ({len(names)}: {names[0]})" for type_name, names in missing.items())
        say(printable(f"{graph.name}: expected operators that kuiper knows, got also {types}"), error=True)
        return 1
    say(signature(graph))
    graph.build(registry, optimize=not arguments.no_optimize)
    say(Summary.of(graph, make_inputs(graph, arguments)) if arguments.shape else graph.summary())
    return 0

"""Time a model as a whole: load, then many runs on made-up inputs; or a server of text, as its readers see it."""

from __future__ import annotations

import statistics
from time import perf_counter
from typing import TYPE_CHECKING

import kuiper
from kuiper.cli import bench_server
from kuiper.cli.bench_server import add_server_arguments
from kuiper.cli.model_arguments import add_model_arguments, add_timing_arguments, make_inputs, open_model
from kuiper.cli.terminal import say, say_json
from kuiper.errors import ParameterError
from kuiper.graph.report import format_flops
from kuiper.graph.summary import Summary
from kuiper.machine.stopwatch import seconds_of
from kuiper.printable import printable

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model_arguments(parser, is_optional=True)
    add_timing_arguments(parser)
    parser.add_argument("--runs", type=int, default=30, help="timed runs after the warm-up (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    add_server_arguments(parser)


def execute(arguments: argparse.Namespace) -> int:
    if arguments.serve is not None:
        return bench_server.execute(arguments)
    if arguments.model is None:
        raise ParameterError("MODEL", "a .param or an .onnx file, or --serve URL", "none")
    started = perf_counter()
    model = open_model(arguments)
    load_seconds = perf_counter() - started
    inputs = make_inputs(model, arguments)
    flops = Summary.of(model, inputs).flops  # also the first warm-up run
    model(*inputs)
    times = [seconds_of(lambda: model(*inputs)) for _ in range(max(arguments.runs, 1))]
    median = statistics.median(times)
    figures = {
        "model": model.name,
        "inputs": [list(array.shape) for array in inputs],
        "threads": kuiper.get_num_threads(),
        "runs": len(times),
        "load_ms": load_seconds * 1e3,
        "min_ms": min(times) * 1e3,
        "median_ms": median * 1e3,
        "max_ms": max(times) * 1e3,
        "gflops_per_second": flops / median / 1e9,
    }
    if arguments.json:
        say_json(figures, indent=2)
    else:
        shapes = ", ".join(str(array.shape) for array in inputs)
        say(f"{printable(model.name)}  input {shapes}  {figures['threads']} threads")
        say(f"load {figures['load_ms']:.1f} ms")
        say(
            f"run  min {figures['min_ms']:.2f}  median {figures['median_ms']:.2f}  max {figures['max_ms']:.2f} ms"
            f"  ({len(times)} runs, {format_flops(flops)}FLOPs, {figures['gflops_per_second']:.1f} GFLOP/s)"
        )
    return 0

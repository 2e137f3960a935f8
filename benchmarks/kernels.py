"""Time single layers of well-known networks through kuiper: GFLOP/s, share of the machine's peak, GB/s.

The times are those of ``model.plan()``, without the steps that bring arrays into the engine's layout and out of it.
Weights and inputs stay in the caches from run to run: in a network, where other layers come between, it takes longer.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import kuiper
from benchmarks.costs import Cost, costs_of
from benchmarks.errors import BenchmarkError
from benchmarks.layers import LAYERS, NAME, Layer
from benchmarks.limits import peak_gflops
from benchmarks.steps import Step, steps_of
from benchmarks.tables import count
from kuiper.graph import pnnx
from kuiper.graph.report import Column, Report

if TYPE_CHECKING:
    import argparse

COLUMNS = (
    Column("network"),
    Column("layer"),
    Column("input"),
    Column("algorithm"),
    Column("MFLOP", numeric=True),
    Column("µs", numeric=True),
    Column("GFLOP/s", numeric=True),
    Column("of peak", numeric=True),
    Column("GB/s", numeric=True),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--only", default="", metavar="TEXT", help="layers with this text in network or layer")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="default: %(default)s")
    parser.add_argument("--runs", type=int, default=50, metavar="N", help="default: %(default)s")


def execute(arguments: argparse.Namespace) -> int:
    chosen = [layer for layer in LAYERS if arguments.only in f"{layer.network} {layer.label}"]
    if not chosen:
        raise BenchmarkError("--only", "a text in the name of a layer", repr(arguments.only))
    kuiper.set_num_threads(arguments.threads)
    peak = peak_gflops(arguments.threads)
    timed = [(layer, *time_layer(layer, arguments.runs)) for layer in chosen]
    peak = max(peak, peak_gflops(arguments.threads))  # other work on the machine can only lower it
    rows = [row(*layer_step_cost, peak) for layer_step_cost in timed]
    title = f"Layers with {count(arguments.threads, 'thread')}: median of {count(arguments.runs, 'run')}"
    footer = f"FMA peak {peak:.0f} GFLOP/s. GB/s counts input, weights and output once."
    print(Report(title, COLUMNS, rows, footer))
    return 0


def time_layer(layer: Layer, runs: int) -> tuple[Step, Cost]:
    """How the engine runs the layer and for how long, and what it has to do."""
    with tempfile.TemporaryDirectory() as folder:
        param = Path(folder, "layer.pnnx.param")
        pnnx.save(layer.graph(), param)
        model = kuiper.load(param)
    return steps_of(model, runs)[NAME], costs_of(model)[NAME]


def row(layer: Layer, step: Step, cost: Cost, peak: float) -> tuple[str, ...]:
    """The cells of a layer."""
    gflops = cost.flops / step.microseconds / 1e3
    return (
        layer.network,
        layer.label,
        "x".join(map(str, layer.input)),
        step.algorithm,
        f"{cost.flops / 1e6:.1f}",
        f"{step.microseconds:.0f}",
        f"{gflops:.1f}",
        f"{gflops / peak:.0%}",
        f"{cost.bytes / step.microseconds / 1e3:.1f}",
    )

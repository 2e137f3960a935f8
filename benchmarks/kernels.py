"""Time single layers of well-known networks through kuiper: GFLOP/s, GB/s, and the share of what this build can reach.

A layer can be limited by multiply-adds, or by the bandwidth of the cache in which its numbers have room: that limit is
named which would take longer. Both are measured with the vectors of this build, which may be less than the machine has.
The times are those of ``model.plan()``, without the steps that bring arrays into the engine's layout and out of it.
Weights and inputs stay in the caches from run to run: in a network, where other layers come between, it takes longer.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import kuiper
from benchmarks.costs import Cost, costs_of
from benchmarks.errors import BenchmarkError
from benchmarks.layers import LAYERS, NAME, Layer
from benchmarks.limits import Level, levels, peak_gflops
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
    Column("GB/s", numeric=True),
    Column("of limit", numeric=True),
    Column("limit"),
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
    limits = Limits(peak_gflops(arguments.threads, of_build=True), levels(arguments.threads))
    timed = [(layer, *time_layer(layer, arguments.runs)) for layer in chosen]
    # other work on the machine can only lower a peak
    limits = replace(limits, peak=max(limits.peak, peak_gflops(arguments.threads, of_build=True)))
    rows = [row(*layer_step_cost, limits) for layer_step_cost in timed]
    title = f"Layers with {count(arguments.threads, 'thread')}: median of {count(arguments.runs, 'run')}"
    bandwidths = ", ".join(f"{level.name} {level.read:.0f} ({level.copy:.0f})" for level in limits.levels)
    machine = peak_gflops(arguments.threads)
    footer = (
        f"FMA peak {limits.peak:.0f} GFLOP/s of this build, {machine:.0f} of the machine. "
        f"GB/s read (copied): {bandwidths}. GB/s of a layer counts input, weights and output once."
    )
    print(Report(title, COLUMNS, rows, footer))
    return 0


@dataclass(frozen=True)
class Limits:
    """What this build can do at best: GFLOP/s, and the caches and the memory, the smallest first."""

    peak: float
    levels: list[Level]

    def of(self, cost: Cost) -> tuple[float, str]:
        """Seconds that the layer takes at least, and what keeps it from being faster.

        >>> limits = Limits(100.0, [Level("L2", 1e6, 50.0, 40.0), Level("memory", float("inf"), 20.0, 10.0)])
        >>> limits.of(Cost("", flops=1000, read=40000, written=40000))
        (2e-06, 'L2')
        >>> limits.of(Cost("", flops=10**6, read=40000, written=40000))
        (1e-05, 'FMA')
        """
        level = next(level for level in self.levels if cost.bytes <= level.size)
        return max((cost.flops / self.peak / 1e9, "FMA"), (level.seconds(cost.read, cost.written), level.name))


def time_layer(layer: Layer, runs: int) -> tuple[Step, Cost]:
    """How the engine runs the layer and for how long, and what it has to do."""
    with tempfile.TemporaryDirectory() as folder:
        param = Path(folder, "layer.pnnx.param")
        pnnx.save(layer.graph(), param)
        model = kuiper.load(param)
    return steps_of(model, runs)[NAME], costs_of(model)[NAME]


def row(layer: Layer, step: Step, cost: Cost, limits: Limits) -> tuple[str, ...]:
    """The cells of a layer."""
    gflops = cost.flops / step.microseconds / 1e3
    seconds, limit = limits.of(cost)
    return (
        layer.network,
        layer.label,
        " and ".join(["x".join(map(str, layer.input))] * layer.operands),
        step.algorithm,
        f"{cost.flops / 1e6:.1f}",
        f"{step.microseconds:.0f}",
        f"{gflops:.1f}",
        f"{cost.bytes / step.microseconds / 1e3:.1f}",
        f"{seconds / step.microseconds * 1e6:.0%}",
        limit,
    )

"""Draw the operators of a model under the machine's roofline.

    GFLOP/s ^          ______________ FMA peak        The roof over an operator that does I operations for each byte it
            |         /     o                         must move is min(peak, bandwidth * I): left of the ridge it waits
            |   L2   / /  o                           for memory, right of it for arithmetic. How far a point lies
            |       / / o    memory                   below its roof is what a better kernel could win.
            +---------------------> operations / byte

Source: S. Williams, A. Waterman, D. Patterson, "Roofline: an insightful visual performance model", CACM 2009.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import kuiper
from benchmarks import limits
from benchmarks.costs import Cost, costs_of
from benchmarks.models import prepare
from benchmarks.places import CACHE
from benchmarks.steps import steps_of
from benchmarks.tables import count
from kuiper.machine import this_machine
from kuiper.models.zoo.export import ARCHITECTURES

if TYPE_CHECKING:
    import argparse

    from benchmarks.model_files import ModelFiles

INK = "#808890"  # readable on white and on black, as are the colours of the points
COLOURS = ("#3d8fd9", "#e0822f", "#33a06f", "#c765c0", "#d9534f", "#a08a2c", "#2fa7b5", "#8b7be0")
MAX_POINT = 400.0  # square points of ink for the operator that takes longest


@dataclass(frozen=True)
class Roofs:
    """What the machine can do with this many threads: GFLOP/s and GB/s."""

    threads: int
    peak: float
    cache: float
    memory: float


@dataclass(frozen=True)
class Point:
    """One operator in one model."""

    cost: Cost
    microseconds: float

    @property
    def gflops(self) -> float:
        return self.cost.flops / self.microseconds / 1e3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--model", default="resnet18", choices=ARCHITECTURES, metavar="MODEL", help=", ".join(ARCHITECTURES)
    )
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="default: %(default)s")
    parser.add_argument("--runs", type=int, default=30, metavar="N", help="default: %(default)s")
    parser.add_argument(
        "--cache", type=Path, default=CACHE, metavar="DIR", help="exported models (default: %(default)s)"
    )
    parser.add_argument(
        "-o", "--out", type=Path, default=Path("roofline.png"), metavar="PICTURE", help=".png, .svg or .pdf"
    )


def execute(arguments: argparse.Namespace) -> int:
    kuiper.set_num_threads(arguments.threads)
    points = points_of(prepare(arguments.model, 1, arguments.cache), arguments.runs)
    roofs = Roofs(
        arguments.threads,
        limits.peak_gflops(arguments.threads),
        limits.cache_read_gb_per_second(arguments.threads),
        limits.memory_read_gb_per_second(arguments.threads),
    )
    draw(arguments.model, points, roofs, arguments.out)
    print(f"wrote {arguments.out}")
    return 0


def points_of(files: ModelFiles, runs: int) -> list[Point]:
    """The operators that compute something, as the engine runs them: fused where it fuses."""
    model = kuiper.load(files.param)
    costs = costs_of(model)
    timed = [(costs[name], step.microseconds) for name, step in steps_of(model, runs).items() if name in costs]
    return [Point(cost, microseconds) for cost, microseconds in timed if cost.flops]


def draw(title: str, points: list[Point], roofs: Roofs, path: Path) -> None:
    """Write the picture; its background is transparent, its ink readable on light and dark pages."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    style = dict.fromkeys(("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), INK)
    with pyplot.rc_context({**style, "svg.fonttype": "none"}):
        figure, axes = pyplot.subplots(figsize=(9, 5.5), layout="constrained")
        axes.set(xscale="log", yscale="log", xlabel="operations per byte", ylabel="GFLOP/s")
        draw_roofs(axes, roofs, [point.cost.intensity for point in points])
        draw_points(axes, points)
        axes.set_title(
            f"{title}, {count(roofs.threads, 'thread')}, {this_machine().name}; areas are times", fontsize=10
        )
        figure.savefig(path, dpi=150, transparent=True)
        pyplot.close(figure)


def draw_roofs(axes: Any, roofs: Roofs, intensities: list[float]) -> None:
    """The peak, and a slope for each place that bytes come from, from left of all points to right of them."""
    left = min(intensities, default=1.0) / 2
    right = max(2 * roofs.peak / roofs.memory, *intensities, 1.0) * 2
    axes.plot([roofs.peak / roofs.cache, right], [roofs.peak] * 2, color=INK)
    label = f"FMA peak {roofs.peak:.0f} GFLOP/s"
    axes.text(right, roofs.peak * 1.05, label, color=INK, fontsize=9, ha="right", va="bottom")
    for name, bandwidth, line in (("L2 cache", roofs.cache, "--"), ("memory", roofs.memory, "-")):
        axes.plot([left, roofs.peak / bandwidth], [left * bandwidth, roofs.peak], line, color=INK)
        middle = math.sqrt(left * roofs.peak / bandwidth)  # of the slope, on a logarithmic axis
        label = f"{name} {bandwidth:.0f} GB/s "
        axes.text(middle, middle * bandwidth, label, color=INK, fontsize=9, ha="right", va="bottom")


def draw_points(axes: Any, points: list[Point]) -> None:
    """A colour for each kind of operator; areas in proportion to time."""
    longest = max((point.microseconds for point in points), default=1.0)
    kinds = dict.fromkeys(point.cost.kind for point in points)
    for kind, colour in zip(kinds, COLOURS * len(kinds), strict=False):
        own = [point for point in points if point.cost.kind == kind]
        axes.scatter(
            [point.cost.intensity for point in own],
            [point.gflops for point in own],
            [max(MAX_POINT * point.microseconds / longest, 12) for point in own],
            color=colour,
            alpha=0.7,
            linewidths=0,
            label=kind,
            zorder=3,
        )
    legend = axes.legend(loc="lower right", frameon=False)
    for handle in legend.legend_handles:
        handle.set_sizes([60])

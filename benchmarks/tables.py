"""Results as tables, the same for the terminal and for docs/evidence/performance.md."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Any

from benchmarks.machine import vectors_of
from benchmarks.peers import OURS
from kuiper.graph.report import Column, Report

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.results import Measurement, Results
    from benchmarks.serve_results import ServeResults
    from benchmarks.text_results import TextResults


def all_tables(results: Results) -> list[Report]:
    """A table of latencies for each batch and number of threads; load time and memory once, for the first of these.

    Peers that are kept to fewer vector instructions are compared in speed alone: their copies are nobody's to load.
    """
    tables = [latency(results, *setting) for setting in results.settings]
    if results.settings and not results.limits:
        tables += [start(results, *results.settings[0]), memory(results, *results.settings[0])]
    return tables


def latency(results: Results, batch: int, threads: int) -> Report:
    """Median milliseconds of every peer, ours over the fastest other, and how much of the peak both reach."""
    rows = []
    for name, group in results.groups(batch, threads).items():
        ours, fastest, ratio = group.by_peer.get(OURS), group.fastest, group.ratio
        rows.append(
            [
                name,
                f"{group.facts.flops * batch / 1e9:.2f}",
                *(milliseconds(group.by_peer.get(peer)) for peer in results.peers),
                fastest.peer if fastest else "-",
                f"{ratio:.2f}" if ratio else "-",
                f"{group.share_of_peak(ours):.0%}" if ours else "-",
                f"{group.share_of_peak(fastest):.0%}" if fastest else "-",
            ]
        )
    columns = [
        Column("model"),
        Column("GFLOP", numeric=True),
        *(Column(peer, numeric=True) for peer in results.peers),
        Column("fastest peer"),
        Column("ours / fastest", numeric=True),
        Column("of peak", numeric=True),
        Column("fastest's", numeric=True),
    ]
    return Report(f"Median latency in ms, {setting(batch, threads)}", columns, rows, summary(results, batch, threads))


def summary(results: Results, batch: int, threads: int) -> str:
    """The geometric mean of the ratios, the peak, and how much the times scattered."""
    sentences = []
    means = results.mean_ratios(batch, threads)
    if means:
        of_kinds = ", ".join(f"{kind} {mean:.2f}" for kind, mean in means.items())
        sentences.append(f"Geometric mean of ours / fastest: {of_kinds}.")
    sentences.append(f"FMA peak of {count(threads, 'thread')}: {results.peak_gflops[threads]:.0f} GFLOP/s.")
    spreads = [entry.spread for group in results.groups(batch, threads).values() for entry in group.by_peer.values()]
    if spreads:
        sentences.append(f"The middle half of a peer's times typically spans {median(spreads):.0%} of their median.")
    return " ".join(sentences)


def start(results: Results, batch: int, threads: int) -> Report:
    """What passes between the files and the first answer."""

    def cell(entry: Measurement) -> str:
        return f"{entry.load_ms:.0f} + {entry.first_ms:.1f}"

    title = f"Load + first inference in ms, {setting(batch, threads)}"
    return by_model_and_peer(results, batch, threads, title, cell, "Files were in the page cache.")


def memory(results: Results, batch: int, threads: int) -> Report:
    """The most memory resident, and how much of it came after the runtime was imported."""

    def cell(entry: Measurement) -> str:
        return f"{entry.peak_mb:.0f} ({entry.peak_mb - entry.import_mb:.0f})"

    title = f"Peak resident memory in MB, {setting(batch, threads)}"
    footer = "In parentheses: beyond what the process took when Python and the runtime were imported."
    return by_model_and_peer(results, batch, threads, title, cell, footer)


def by_model_and_peer(
    results: Results, batch: int, threads: int, title: str, cell: Callable[[Measurement], str], footer: str
) -> Report:
    """A row for each model, a column for each peer."""
    rows = [
        [name, *(cell(group.by_peer[peer]) if peer in group.by_peer else "-" for peer in results.peers)]
        for name, group in results.groups(batch, threads).items()
    ]
    columns = [Column("model"), *(Column(peer, numeric=True) for peer in results.peers)]
    return Report(title, columns, rows, footer)


def title(results: Results | TextResults | ServeResults) -> str:
    """The machine and the build: ``A CPU, 2 cores; kuiper built for AVX2``."""
    machine = results.machine
    return f"{cpu_of(machine)}, {count(machine['cores'], 'core')}; kuiper built for {vectors_of(results.build)}"


def cpu_of(machine: dict[str, Any]) -> str:
    """The CPU's name, with the numbers of its model where they are known: ``A CPU (family 25, model 17)``."""
    return f"{machine['cpu']} ({machine['model']})" if machine.get("model") else str(machine["cpu"])


def limits(results: Results) -> list[str]:
    """A sentence on the peers where kuiper does not use all that the CPU has; none where all are free."""
    if not results.limits:
        return []
    by_limit: dict[str, list[str]] = {}
    for peer, limit in results.limits.items():
        by_limit.setdefault(limit, []).append(peer)
    what = "; ".join(f"{', '.join(peers)}: {limit}" for limit, peers in by_limit.items())
    return [f"The CPU has more than {vectors_of(results.build)}. {what}"]


def exclusions(results: Results) -> list[str]:
    """A line for each peer that was left out somewhere, and each reason: of which models, in which settings."""
    found: dict[tuple[str, str], dict[str, list[str]]] = {}
    for entry in results.excluded:
        models = found.setdefault((entry.peer, entry.reason), {})
        models.setdefault(entry.model, []).append(setting(entry.batch, entry.threads))
    lines = []
    for (peer, reason), models in found.items():
        where = "; ".join(f"{model}, {' and '.join(settings)}" for model, settings in models.items())
        lines.append(f"{peer} is left out for {where}: {reason}")
    return lines


def milliseconds(measurement: Measurement | None) -> str:
    """The median with three digits or more, "-" for a peer that was left out."""
    if measurement is None:
        return "-"
    return f"{measurement.median_ms:.{2 if measurement.median_ms < 10 else 1}f}"


def setting(batch: int, threads: int) -> str:
    """``1 thread, batch 8``."""
    return f"{count(threads, 'thread')}, batch {batch}"


def count(number: int, noun: str) -> str:
    """``1 thread``, ``2 threads``."""
    return f"{number} {noun}{'s' if number != 1 else ''}"

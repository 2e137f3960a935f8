"""What a run of ``python -m benchmarks serve`` found, as data and as JSON, and its tables."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from benchmarks.results_file import results_in, write_results
from benchmarks.serve_peers import PEERS
from benchmarks.tables import count
from benchmarks.text_files import GREEDY
from benchmarks.text_peers import OURS
from benchmarks.text_results import TextExclusion
from benchmarks.text_tables import weights_of
from kuiper.graph.report import Column, Report

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FORMAT = 1
"""Counts up when a field changes its meaning."""


@dataclass(frozen=True)
class ServeMeasurement:
    """One peer with weights of some bits and so many readers.

    ``first_ms`` and ``each_ms`` are the times to the first token and between two of an answer: the median, 95 % and
    99 %. ``steps`` counts those that gave so many tokens, ``found`` tokens of prompts that were not computed again.
    """

    bits: int
    readers: int
    peer: str
    seconds: float
    read: int
    written: int
    first_ms: tuple[float, float, float]
    each_ms: tuple[float, float, float]
    writing_per_second: float | None
    reading_per_second: float
    found: int | None
    busy_seconds: float
    steps: list[tuple[int, int]]
    load_ms: float
    peak_mb: float
    agreeing: int

    @property
    def written_per_second(self) -> float:
        """Tokens of answers, in all the time that the requests took."""
        return self.written / self.seconds


@dataclass
class ServeResults:
    """Everything that the JSON file holds."""

    date: str
    quick: bool
    machine: dict[str, Any]
    build: dict[str, Any]
    versions: dict[str, str]
    threads: int
    measurements: list[ServeMeasurement] = field(default_factory=list)
    excluded: list[TextExclusion] = field(default_factory=list)
    is_avx2: ClassVar[bool] = False  # nothing keeps these peers to it

    def of(self, bits: int, readers: int) -> dict[str, ServeMeasurement]:
        """By peer."""
        return {entry.peer: entry for entry in self.measurements if (entry.bits, entry.readers) == (bits, readers)}

    @property
    def cells(self) -> list[tuple[int, int]]:
        """(bits, readers) in the order of the tables."""
        return sorted({(entry.bits, entry.readers) for entry in self.measurements}, key=lambda s: (-s[0], s[1]))

    def save(self, path: Path) -> None:
        """Write the JSON file, a line for each measurement."""
        write_results(path, {"format": FORMAT, **asdict(self)})

    @classmethod
    def read(cls, path: Path) -> ServeResults:
        """The results in a JSON file.

        Raises
        ------
        BenchmarkError
            If the file is not one that ``save`` wrote.
        """
        with results_in(path, FORMAT, "the JSON of a benchmark of serving") as content:
            content["measurements"] = [_measurement(entry) for entry in content["measurements"]]
            content["excluded"] = [TextExclusion(**entry) for entry in content["excluded"]]
            return cls(**content)


def _measurement(entry: dict[str, Any]) -> ServeMeasurement:
    for key in ("first_ms", "each_ms"):
        entry[key] = tuple(entry[key])
    return ServeMeasurement(**{**entry, "steps": [(tokens, number) for tokens, number in entry["steps"]]})


def serve_tables(results: ServeResults) -> list[Report]:
    """What readers get, what they wait for, what a runtime can do at best, and what it needs beside time."""
    if not results.cells:
        return []
    return [
        rates(results, "Tokens written per second", lambda entry: entry.written_per_second, "All of a load's time."),
        waits(results, "Time to the first token in ms", lambda entry: entry.first_ms, "From a request to that token."),
        waits(results, "Time per token in ms", lambda entry: entry.each_ms, "Between two tokens of an answer."),
        rates(
            results,
            "Tokens written per second, nothing else",
            lambda entry: entry.writing_per_second,
            "All readers write, behind prompts that were read before.",
        ),
        ratios(results),
        others(results),
    ]


def rates(results: ServeResults, title: str, value: Callable[[ServeMeasurement], float | None], footer: str) -> Report:
    """Every peer's tokens per second, and ours over those of the fastest other."""
    rows = []
    for bits, readers in results.cells:
        found = {peer: value(entry) for peer, entry in results.of(bits, readers).items()}
        known = {peer: rate for peer, rate in found.items() if rate is not None}
        best = max((peer for peer in known if peer != OURS), key=lambda peer: known[peer], default=None)
        rows.append([
            weights_of(bits),
            str(readers),
            *(f"{known[peer]:.0f}" if peer in known else "-" for peer in PEERS),
            best or "-",
            f"{known[OURS] / known[best]:.2f}" if best and OURS in known else "-",
        ])  # fmt: skip
    return Report(
        f"{title}, {count(results.threads, 'thread')}", columns("fastest peer", "ours / fastest"), rows, footer
    )


def waits(
    results: ServeResults, title: str, value: Callable[[ServeMeasurement], tuple[float, float, float]], footer: str
) -> Report:
    """Every peer's median, 95 % and 99 %, and our median over that of the fastest other: below 1, kuiper is ahead."""
    rows = []
    for bits, readers in results.cells:
        found = {peer: value(entry) for peer, entry in results.of(bits, readers).items()}
        best = min((peer for peer in found if peer != OURS), key=lambda peer: found[peer][0], default=None)
        ratio = (
            "-"
            if best is None or OURS not in found
            else [f"{a / b:.2f}" for a, b in zip(found[OURS], found[best], strict=True)]
        )
        rows.append([
            weights_of(bits),
            str(readers),
            *(" / ".join(map(digits, found[peer])) if peer in found else "-" for peer in PEERS),
            best or "-",
            " / ".join(ratio),
        ])  # fmt: skip
    title = f"{title}: median / 95 % / 99 %, {count(results.threads, 'thread')}"
    return Report(title, columns("shortest median", "ours / that peer's"), rows, footer + " Below 1, kuiper is ahead.")


def digits(milliseconds: float) -> str:
    """Three of them, or more.

    >>> digits(3.14159), digits(31.4159), digits(3141.59)
    ('3.14', '31.4', '3142')
    """
    return f"{milliseconds:.{max(0, 2 - int(np.log10(max(milliseconds, 1))))}f}"


def columns(*last: str) -> list[Column]:
    """Weights, readers, the peers, and two more."""
    peers = (Column(peer, numeric=True) for peer in PEERS)
    return [Column("weights"), Column("readers", numeric=True), *peers, Column(last[0]), Column(last[1], numeric=True)]


def ratios(results: ServeResults) -> Report:
    """What many readers gain over one, what they pay, and whether a mixed load keeps the rates of its parts."""
    rows = []
    for bits, readers in results.cells:
        many, one = (results.of(bits, number).get(OURS) for number in (readers, 1))
        if many is None:
            continue
        allowed = allowed_seconds(results, many)
        rows.append([
            weights_of(bits),
            str(readers),
            "-" if not one else ratio_of(many.writing_per_second, one.writing_per_second),
            "-" if not one else ratio_of(many.each_ms[1], one.each_ms[1]),
            "-" if not one else ratio_of(many.each_ms[1], one.each_ms[0]),
            "-" if allowed is None else f"{allowed / many.busy_seconds:.0%}",
        ])  # fmt: skip
    headings = (
        "weights",
        "readers",
        "writing alone",
        "95 % of time per token",
        "over one's median",
        "of what rates allow",
    )
    footer = (
        "kuiper's many readers over its one. *of what rates allow*: the time that the load's steps would take at the "
        "rates of writing alone, with as many tokens in a step, and of reading alone, over the time that they took."
    )
    return Report("Many readers beside one", [Column(h, numeric=h != "weights") for h in headings], rows, footer)


def ratio_of(one: float | None, other: float | None) -> str:
    """Two digits behind the point, if both are known.

    >>> ratio_of(3.0, 2.0), ratio_of(None, 2.0)
    ('1.50', '-')
    """
    return f"{one / other:.2f}" if one is not None and other else "-"


def allowed_seconds(results: ServeResults, entry: ServeMeasurement) -> float | None:
    """What a load would take by the measured rates: a step of n tokens what one of n readers who only write takes,
    between the measured numbers in proportion; prompts what they take alone, but for what was found in memory."""
    written = {
        readers: found[OURS].writing_per_second
        for bits, readers in results.cells
        if bits == entry.bits and OURS in (found := results.of(bits, readers))
    }
    seconds = {readers: readers / rate for readers, rate in written.items() if rate}
    if not seconds or entry.found is None or max(seconds) < entry.readers:
        return None
    numbers = sorted(seconds)
    writing = sum(
        steps * float(np.interp(tokens, numbers, [seconds[n] for n in numbers]))
        for tokens, steps in entry.steps
        if tokens
    )
    return writing + (entry.read - entry.found) / entry.reading_per_second


def others(results: ServeResults) -> Report:
    """What each peer needs beside time, and how close its answers are, with the most readers."""
    rows = []
    for bits in dict.fromkeys(bits for bits, _ in results.cells):
        readers = max(number for known, number in results.cells if known == bits)
        for peer, entry in results.of(bits, readers).items():
            figures = [entry.reading_per_second, entry.peak_mb]
            rows.append([
                weights_of(bits), str(readers), peer, *(f"{figure:.0f}" for figure in figures),
                f"{entry.load_ms / 1e3:.1f}", f"{entry.agreeing} of {GREEDY}",
            ])  # fmt: skip
    headings = (
        "weights",
        "readers",
        "peer",
        "tokens read per second, nothing else",
        "peak memory, MB",
        "load, s",
        "greedy tokens",
    )
    table = [Column(heading, numeric=heading not in ("weights", "peer")) for heading in headings]
    footer = "*greedy tokens*: how many of the first are those that torch writes with float32 weights."
    return Report("Reading alone, loading, memory and answers", table, rows, footer)

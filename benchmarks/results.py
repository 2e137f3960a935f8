"""What a run found, as data and as JSON, and what follows from it: ratios, means, shares of the peak."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from statistics import geometric_mean
from typing import TYPE_CHECKING, Any

from benchmarks.networks import TRANSFORMERS
from benchmarks.peers import OURS, PEERS
from benchmarks.results_file import results_in, write_results

if TYPE_CHECKING:
    from pathlib import Path

FORMAT = 1
"""Counts up when a field changes its meaning."""


@dataclass(frozen=True)
class ModelFacts:
    """What tables say about a model: the shape of one image (1, c, h, w) or text (1, tokens), and what it costs.

    ``flops`` counts a multiply-add as two and a convolution as done directly, whatever algorithm a peer uses.
    """

    input: tuple[int, ...]
    flops: int
    parameters: int


@dataclass(frozen=True)
class Measurement:
    """One peer on one model: times in milliseconds for the whole batch, memory in MB of 10^6 bytes.

    ``spread`` is the width of the middle half of the times over their median; ``import_mb`` is what was resident before
    the model was loaded; ``difference`` is max|output - torch's| / max|torch's|.
    """

    model: str
    batch: int
    threads: int
    peer: str
    median_ms: float
    min_ms: float
    spread: float
    runs: int
    load_ms: float
    first_ms: float
    peak_mb: float
    import_mb: float
    difference: float


@dataclass(frozen=True)
class Exclusion:
    """A peer that is left out for a model, and why."""

    model: str
    batch: int
    threads: int
    peer: str
    reason: str


@dataclass(frozen=True)
class Group:
    """All peers on one model: what a row of a table is made from."""

    facts: ModelFacts
    batch: int
    peak_gflops: float
    by_peer: dict[str, Measurement]

    @property
    def fastest(self) -> Measurement | None:
        """The fastest of the others, by the median."""
        others = [measurement for peer, measurement in self.by_peer.items() if peer != OURS]
        return min(others, key=lambda measurement: measurement.median_ms, default=None)

    @property
    def ratio(self) -> float | None:
        """Our median over that of the fastest other: below 1 we are ahead."""
        ours, fastest = self.by_peer.get(OURS), self.fastest
        return ours.median_ms / fastest.median_ms if ours and fastest else None

    def gflops(self, measurement: Measurement) -> float:
        """GFLOP/s, with a convolution counted as done directly."""
        return self.facts.flops * self.batch / measurement.median_ms / 1e6

    def share_of_peak(self, measurement: Measurement) -> float:
        """GFLOP/s over the peak of as many threads. Winograd's convolution can pass 1: it needs fewer operations."""
        return self.gflops(measurement) / self.peak_gflops


@dataclass
class Results:
    """Everything that the JSON file holds.

    ``peak_gflops`` is by number of threads. ``limits`` says of each peer what kept it to the vector instructions that
    kuiper was built for, where the CPU has more; it is empty where all were free to use what the CPU has.
    """

    date: str
    quick: bool
    machine: dict[str, Any]
    build: dict[str, Any]
    versions: dict[str, str]
    peak_gflops: dict[int, float]
    limits: dict[str, str] = field(default_factory=dict)
    models: dict[str, ModelFacts] = field(default_factory=dict)
    measurements: list[Measurement] = field(default_factory=list)
    excluded: list[Exclusion] = field(default_factory=list)

    @property
    def entries(self) -> list[Measurement | Exclusion]:
        """What was measured and what was left out."""
        return [*self.measurements, *self.excluded]

    @property
    def peers(self) -> list[str]:
        """The peers that were asked, in the order of tables."""
        asked = {entry.peer for entry in self.entries}
        return [peer for peer in PEERS if peer in asked]

    @property
    def settings(self) -> list[tuple[int, int]]:
        """(batch, threads) of each table."""
        return sorted({(entry.batch, entry.threads) for entry in self.entries})

    def groups(self, batch: int, threads: int) -> dict[str, Group]:
        """By model, in the order in which they were measured."""
        found: dict[str, Group] = {}
        for entry in self.measurements:
            if (entry.batch, entry.threads) == (batch, threads):
                peak = self.peak_gflops[threads]
                group = found.setdefault(entry.model, Group(self.models[entry.model], batch, peak, {}))
                group.by_peer[entry.peer] = entry
        return found

    def mean_ratios(self, batch: int, threads: int) -> dict[str, float]:
        """The geometric mean of the models' ratios for each kind of network that was measured."""
        kinds: dict[str, list[float]] = {}
        for name, group in self.groups(batch, threads).items():
            if group.ratio:
                kinds.setdefault("transformers" if name in TRANSFORMERS else "convolutional networks", []).append(
                    group.ratio
                )
        return {kind: geometric_mean(ratios) for kind, ratios in kinds.items()}

    def save(self, path: Path) -> None:
        """Write the JSON file; one measurement a line, so that a difference between two files can be read."""
        write_results(path, {"format": FORMAT, **asdict(self)})

    @classmethod
    def read(cls, path: Path) -> Results:
        """The results in a JSON file.

        Raises
        ------
        BenchmarkError
            If the file is not one that ``save`` wrote.
        """
        with results_in(path, FORMAT, "the JSON of a benchmark run") as content:
            content["peak_gflops"] = {int(threads): peak for threads, peak in content["peak_gflops"].items()}
            content["models"] = {
                name: ModelFacts(tuple(facts.pop("input")), **facts) for name, facts in content["models"].items()
            }
            content["measurements"] = [Measurement(**entry) for entry in content["measurements"]]
            content["excluded"] = [Exclusion(**entry) for entry in content["excluded"]]
            return cls(**content)

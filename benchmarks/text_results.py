"""What a run of ``python -m benchmarks text`` found, as data and as JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from benchmarks.results_file import results_in, write_results
from benchmarks.text_files import PROMPT
from benchmarks.text_quality import TextQuality

if TYPE_CHECKING:
    from pathlib import Path

FORMAT = 3
"""Counts up when a field changes its meaning."""


@dataclass(frozen=True)
class TextMeasurement:
    """One peer with weights of some bits: milliseconds of a step and of a prompt, medians and the shortest.

    ``difference`` is that of the scores to those of torch's float32 weights, as lengths of vectors, if both are known;
    ``agreeing`` how many of the first GREEDY tokens are torch's.
    """

    bits: int
    threads: int
    peer: str
    step_ms: float
    step_min_ms: float
    prompt_ms: float
    prompt_min_ms: float
    load_ms: float
    first_ms: float
    peak_mb: float
    difference: float | None
    agreeing: int

    @property
    def steps_per_second(self) -> float:
        """Tokens written each second."""
        return 1e3 / self.step_ms

    @property
    def prompt_per_second(self) -> float:
        """Tokens of a prompt read each second."""
        return PROMPT * 1e3 / self.prompt_ms


@dataclass(frozen=True)
class TextLimits:
    """What the machine could do at best while the peers of one setting took turns: medians over the turns."""

    bits: int
    threads: int
    read_gb_per_second: float
    peak_gflops: float


@dataclass(frozen=True)
class TextExclusion:
    """A peer that is left out for weights of some bits, 0 for all of them, and why."""

    bits: int
    peer: str
    reason: str


@dataclass
class TextResults:
    """Everything that the JSON file holds.

    ``weight_bytes`` is by bits, what kuiper reads for each token; ``prompt_flops`` of a prompt.
    """

    date: str
    quick: bool
    machine: dict[str, Any]
    build: dict[str, Any]
    versions: dict[str, str]
    weight_bytes: dict[int, int]
    prompt_flops: int
    limits: list[TextLimits] = field(default_factory=list)
    measurements: list[TextMeasurement] = field(default_factory=list)
    excluded: list[TextExclusion] = field(default_factory=list)
    quality: list[TextQuality] = field(default_factory=list)
    is_avx2: bool = False
    """Whether the peers were kept to AVX2."""

    def of(self, bits: int, threads: int) -> dict[str, TextMeasurement]:
        """By peer."""
        return {entry.peer: entry for entry in self.measurements if (entry.bits, entry.threads) == (bits, threads)}

    def limits_of(self, bits: int, threads: int) -> TextLimits:
        """Those of a setting that was measured."""
        return next(entry for entry in self.limits if (entry.bits, entry.threads) == (bits, threads))

    @property
    def settings(self) -> list[tuple[int, int]]:
        """(threads, bits) in the order of the tables."""
        return sorted({(entry.threads, entry.bits) for entry in self.measurements}, key=lambda s: (s[0], -s[1]))

    def save(self, path: Path) -> None:
        """Write the JSON file, a line for each measurement."""
        write_results(path, {"format": FORMAT, **asdict(self)})

    @classmethod
    def read(cls, path: Path) -> TextResults:
        """The results in a JSON file.

        Raises
        ------
        BenchmarkError
            If the file is not one that ``save`` wrote.
        """
        with results_in(path, FORMAT, "the JSON of a benchmark of text") as content:
            content["weight_bytes"] = {int(bits): size for bits, size in content["weight_bytes"].items()}
            content["limits"] = [TextLimits(**entry) for entry in content["limits"]]
            content["measurements"] = [TextMeasurement(**entry) for entry in content["measurements"]]
            content["excluded"] = [TextExclusion(**entry) for entry in content["excluded"]]
            content["quality"] = [TextQuality(**entry) for entry in content["quality"]]
            return cls(**content)

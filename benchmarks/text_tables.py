"""The tables and sentences of ``python -m benchmarks text``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.machine import has_more_than, vectors_of
from benchmarks.tables import count
from benchmarks.text_files import CONTEXT, GREEDY, PROMPT, STEPS
from benchmarks.text_peers import OUR_OWN, OUR_ROWS, OURS, PEERS, SCALES
from benchmarks.text_quality import FORMS
from kuiper.graph.report import Column, Report
from kuiper.language import _

if TYPE_CHECKING:
    from benchmarks.serve_results import ServeResults
    from benchmarks.text_results import TextResults


def text_tables(results: TextResults) -> list[Report]:
    """Two tables for each number of threads, of steps and of prompts; quality, memory and agreement once."""
    threads = dict.fromkeys(threads for threads, _ in results.settings)
    return [
        *(table(results, number, steps) for number in threads for steps in (True, False)),
        *([quality(results, max(threads))] if threads and results.quality else []),
        *([others(results, max(threads))] if threads else []),
    ]


@dataclass(frozen=True)
class Rates:
    """Tokens per second of every peer in one setting, and the fastest of the others if there are any."""

    by_peer: dict[str, float]
    fastest: str | None

    @classmethod
    def of(cls, results: TextResults, bits: int, threads: int, steps: bool) -> Rates:
        """Those of steps, or of prompts."""
        entries = results.of(bits, threads)
        by_peer = {
            peer: entry.steps_per_second if steps else entry.prompt_per_second for peer, entry in entries.items()
        }
        peers = (peer for peer in by_peer if peer not in OUR_OWN)
        return cls(by_peer, max(peers, key=lambda peer: by_peer[peer], default=None))

    def cell(self, peer: str) -> str:
        """The rate of a peer, "-" if it was left out."""
        return f"{self.by_peer[peer]:.0f}" if peer in self.by_peer else "-"

    @property
    def ratio(self) -> str:
        """Ours over the fastest other's."""
        if self.fastest is None or OURS not in self.by_peer:
            return "-"
        return f"{self.by_peer[OURS] / self.by_peer[self.fastest]:.2f}"


def table(results: TextResults, threads: int, steps: bool) -> Report:
    """Tokens per second of every peer, ours over those of the fastest other, and our share of the machine's limit."""
    rows = []
    for bits in [bits for number, bits in results.settings if number == threads]:
        rates = Rates.of(results, bits, threads, steps)
        limits, tokens, work = results.limits_of(bits, threads), 1, results.weight_bytes[bits]
        limit = limits.read_gb_per_second
        if not steps:
            limit, tokens, work = limits.peak_gflops, PROMPT, results.prompt_flops
        rows.append([
            weights_of(bits),
            *(rates.cell(peer) for peer in PEERS),
            rates.fastest or "-",
            rates.ratio,
            f"{limit:.0f}",
            f"{rates.by_peer[OURS] / tokens * work / 1e9 / limit:.0%}" if OURS in rates.by_peer else "-",
        ])  # fmt: skip
    columns = [
        Column("weights"),
        *(Column(peer, numeric=True) for peer in PEERS),
        Column("fastest peer"),
        Column("ours / fastest", numeric=True),
        Column("memory, GB/s" if steps else "peak, GFLOP/s", numeric=True),
        Column("of bandwidth" if steps else "of peak", numeric=True),
    ]
    what, footer = "Tokens written", f"Steps {CONTEXT + 1} to {CONTEXT + STEPS}."
    if not steps:
        what, footer = f"Tokens of a prompt of {PROMPT} read", "All of it in one call."
    return Report(f"{what} per second, {count(threads, 'thread')}", columns, rows, footer)


def legend() -> str:
    """What the columns of these tables are, and what the peers' weights are."""
    return (
        "*memory* is what a loop that only reads gets from it, and *of bandwidth* the share of that which kuiper's "
        "weights take; *peak* is that of multiply-adds in float32, which products of bytes can pass. All are measured "
        f"in turns; medians. {scales()} llama.cpp and onnxruntime-genai round activations to 8 bits inside these "
        "products, and openvino may; kuiper does not."
    )


def scales() -> str:
    """How many weights share a scale."""
    sentence = _("8 bits have a scale for 32 numbers, but for a row in {peers}; 4 bits have one for 32 numbers.")
    return sentence.format(peers=", ".join(SCALES))


def quality(results: TextResults, threads: int) -> Report:
    """What each form of kuiper's weights costs in quality, beside the speed that it has."""
    rows = []
    for entry in results.quality:
        bits, group = FORMS[entry.form]
        found = results.of(bits, threads).get(OURS if bits != 8 or group else OUR_ROWS)
        rows.append([
            entry.model,
            entry.form,
            "-" if entry.perplexity is None else f"{entry.perplexity:.3f}",
            f"{entry.divergence:.1e}",
            f"{entry.tokens} tokens, {entry.text}",
            *(("-", "-") if found is None else (f"{found.steps_per_second:.0f}", f"{found.prompt_per_second:.0f}")),
        ])  # fmt: skip
    columns = [
        Column("model"),
        Column("kuiper's weights"),
        Column("perplexity", numeric=True),
        Column("divergence, nats", numeric=True),
        Column("of"),
        Column("tokens written per second", numeric=True),
        Column("read", numeric=True),
    ]
    footer = (
        "*divergence* is the mean Kullback-Leibler divergence from the same model with float32 weights. Speeds are "
        f"those of the decoder with random weights, {count(threads, 'thread')}. The bundled model is stored in 8 bits "
        "with a scale for each row: these count as its float32, and this form loses nothing of them."
    )
    return Report("Quality beside speed", columns, rows, footer)


def others(results: TextResults, threads: int) -> Report:
    """What each peer needs beside time, and how close its answers are."""
    rows = [
        [
            weights_with_scales(bits, entry.peer),
            entry.peer,
            f"{entry.load_ms / 1e3:.1f} + {entry.first_ms / 1e3:.1f}",
            f"{entry.peak_mb:.0f}",
            "-" if entry.difference is None else f"{entry.difference:.1e}",
            f"{entry.agreeing} of {GREEDY}",
        ]
        for number, bits in results.settings
        if number == threads
        for entry in results.of(bits, threads).values()
    ]
    columns = [
        Column("weights"),
        Column("peer"),
        Column("load + first prompt, s", numeric=True),
        Column("peak memory, MB", numeric=True),
        Column("difference", numeric=True),
        Column("greedy tokens", numeric=True),
    ]
    footer = (
        "*difference* is |scores - torch's| / |torch's| behind the prompt, and *greedy tokens* how many of the first "
        "are those of torch, always with float32 weights. Random weights are harder to quantise than trained ones."
    )
    return Report(f"Loading, memory and answers, {count(threads, 'thread')}", columns, rows, footer)


def weights_of(bits: int) -> str:
    """``float32``, ``8 bits``, ``4 bits``."""
    return "float32" if bits == 32 else f"{bits} bits"


def weights_with_scales(bits: int, peer: str) -> str:
    """The same, and how many numbers share a scale.

    >>> weights_with_scales(8, "openvino"), weights_with_scales(4, "openvino"), weights_with_scales(32, "torch")
    ('8 bits, a scale for a row', '4 bits, a scale for 32 numbers', 'float32')
    """
    scale = SCALES.get(peer, "32 numbers") if bits == 8 else "32 numbers"
    return weights_of(bits) if bits == 32 else f"{weights_of(bits)}, a scale for {'a ' * (scale == 'row')}{scale}"


def text_exclusions(results: TextResults | ServeResults) -> list[str]:
    """A line for each peer that was left out somewhere."""
    found: dict[tuple[str, str], list[str]] = {}
    for entry in results.excluded:
        found.setdefault((entry.peer, entry.reason), []).append(weights_of(entry.bits) if entry.bits else "all weights")
    return [f"{peer} is left out for {' and '.join(forms)}: {reason}" for (peer, reason), forms in found.items()]


def text_limits(results: TextResults | ServeResults) -> list[str]:
    """A sentence if the peers were kept to AVX2, or may use more of the CPU than kuiper does."""
    if results.is_avx2:
        return [_("All peers were kept to AVX2, as `python -m benchmarks` keeps them")]
    if not has_more_than(results.build):
        return []
    sentence = _("The peers use all that the CPU has, kuiper was built for {vectors}")
    return [sentence.format(vectors=vectors_of(results.build))]

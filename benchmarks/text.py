"""Time how fast a decoder of SmolLM2-135M's sizes reads and writes text, beside other runtimes.

Writing one text is bound by memory: each token takes all weights once. Reading a prompt is bound by arithmetic. Both
limits are measured, too. Every peer has a process of its own, and they take turns; one that is not installed, or has no
weights of this many bits, is left out with a line that says so. Every result is also written as JSON.
"""

from __future__ import annotations

import importlib.util
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

import kuiper
from benchmarks import limits, machine
from benchmarks.avx2_packages import COPIES, add_isa, keeps_to_avx2, narrowed
from benchmarks.errors import BenchmarkError
from benchmarks.places import CACHE
from benchmarks.run import say
from benchmarks.session import Worker
from benchmarks.tables import count
from benchmarks.text_files import BITS, PROMPT, SMOLLM2_135M, TextFiles, prepare
from benchmarks.text_peers import OUR_OWN, OURS, PEERS
from benchmarks.text_quality import qualities
from benchmarks.text_results import TextExclusion, TextLimits, TextMeasurement, TextResults
from benchmarks.text_tables import legend, text_exclusions, text_limits, text_tables, weights_of
from kuiper.graph import pnnx
from kuiper.machine import this_machine

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Mapping

ROUNDS, TURNS = 2, 3
TOLERANCES = {32: 3e-3, 8: 0.15, 4: 0.9}
"""A peer whose scores differ by more from torch's computes something else; llama.cpp keeps keys in float16."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    some_threads = [threads for threads in (1, 2) if threads <= this_machine().cores]
    parser.add_argument("--peers", nargs="+", default=list(PEERS), choices=PEERS, metavar="PEER", help=", ".join(PEERS))
    parser.add_argument("--bits", nargs="+", type=int, default=list(BITS), choices=BITS, help="default: 32 8 4")
    parser.add_argument("--threads", nargs="+", type=int, default=some_threads, metavar="N", help="default: 1 2")
    add_isa(parser)
    parser.add_argument("--quick", action="store_true", help="one turn: to see that all works, not how fast")
    parser.add_argument(
        "--cache", type=Path, default=CACHE, metavar="DIR", help="written decoders (default: %(default)s)"
    )
    parser.add_argument("--trained", type=Path, metavar="MODEL", help="a trained language model, for its quality, too")
    parser.add_argument("--text", type=Path, metavar="FILE", help="the text that it predicts")
    parser.add_argument(
        "-o", "--out", type=Path, default=CACHE / "text.json", metavar="FILE", help="default: %(default)s"
    )


def execute(arguments: argparse.Namespace, config: Mapping[str, Any] = SMOLLM2_135M) -> int:
    cores = this_machine().cores
    if not all(1 <= threads <= cores for threads in arguments.threads):
        raise BenchmarkError("--threads", f"1 to {cores}, the cores of this machine", arguments.threads)
    limits.refuse_debug_build()
    say("writing the decoder, if the cache lacks it")
    files = prepare(arguments.cache, config)
    results = new_results(arguments, files)
    if results.is_avx2:
        copy_packages(arguments)
    say("quality of 8 and 4 bits: perplexity and divergence from float32")
    results.quality = qualities(files, arguments.trained, arguments.text)
    try:
        for threads in arguments.threads:
            for bits in arguments.bits:
                measure_setting(results, files, bits, threads, arguments)
    finally:  # after Ctrl-C, too: what is finished is written, and shown
        if results.measurements:
            notes = [legend(), *text_limits(results), *text_exclusions(results), f"wrote {arguments.out}"]
            print("\n\n".join([*map(str, text_tables(results)), *notes]))
    return 0


def new_results(arguments: argparse.Namespace, files: TextFiles) -> TextResults:
    """Results without measurements: the machine, the build, the versions, and what a step and a prompt cost."""
    build = machine.build()
    weights = {bits: weight_bytes(files, bits) for bits in BITS}
    packages = (package for peer in arguments.peers for package in PEERS[peer].packages)
    return TextResults(
        date=datetime.now(timezone.utc).date().isoformat(),
        quick=arguments.quick,
        machine=machine.describe(),
        build=build,
        versions=versions_of(packages),
        weight_bytes=weights,
        prompt_flops=prompt_flops(files),
        is_avx2=keeps_to_avx2(arguments.isa, build),
    )


def copy_packages(arguments: argparse.Namespace) -> None:
    """The copies of runtimes that are kept to AVX2 by what they are told: before anything takes time.

    Raises
    ------
    BenchmarkError
        If they cannot be made here.
    """
    for peer in dict.fromkeys(arguments.peers):
        asking = PEERS[peer].asking
        if asking and all(map(importlib.util.find_spec, asking)):
            say(f"{peer}: copies that are told that the CPU has AVX2 alone, if the cache lacks them")
            narrowed(asking, arguments.cache / COPIES)


def versions_of(packages: Iterable[str]) -> dict[str, str]:
    """Of those that are installed, in this order."""
    return {name: version_of(name) for name in dict.fromkeys(packages) if importlib.util.find_spec(name)}


def version_of(package: str) -> str:
    """Of a package that may have another name where it is installed from.

    >>> version_of("kuiper") == kuiper.__version__
    True
    """
    try:
        return kuiper.__version__ if package == OURS else version(package)
    except PackageNotFoundError:
        return version(package.replace("_", "-") + "-python")


def weight_bytes(files: TextFiles, bits: int) -> int:
    """What a step of one token reads of kuiper's weights: all of them, with their scales; the table of tokens once."""
    return sum(
        attr.data.nbytes
        for op in pnnx.load(files.param(bits)).operators
        for attr in op.attrs.values()
        if attr.data is not None
    )


def prompt_flops(files: TextFiles) -> int:
    """Two operations for each weight of a matrix and each token; the last product is made for the last token only."""
    matrices = {
        name: attr.shape
        for op in pnnx.load(files.param(32)).operators
        for name, attr in ((op.name, attr) for attr in op.attrs.values())
        if len(attr.shape) == 2
    }
    table = max(rows * columns for rows, columns in matrices.values())
    return 2 * PROMPT * (sum(rows * columns for rows, columns in matrices.values()) - table) + 2 * table


@dataclass
class Samples:
    """What one peer's processes reported; ``loads`` has an entry for each process, ``reason`` why it is left out."""

    reason: str
    loads: list[dict[str, Any]] = field(default_factory=list)
    steps: list[float] = field(default_factory=list)
    prompts: list[float] = field(default_factory=list)


@dataclass
class LimitSamples:
    """What the machine could do at best in each turn: other work on it slows its limits as it slows a peer."""

    reads: list[float] = field(default_factory=list)
    peaks: list[float] = field(default_factory=list)

    def measure(self, threads: int) -> None:
        self.reads.append(limits.memory_read_gb_per_second(threads))
        self.peaks.append(limits.peak_gflops(threads))


def measure_setting(
    results: TextResults, files: TextFiles, bits: int, threads: int, arguments: argparse.Namespace
) -> None:
    """All peers with weights of this many bits; written to the file as soon as they are done."""
    avx2 = arguments.cache / COPIES if results.is_avx2 else None
    samples = {peer: Samples(reason_to_leave_out(peer, bits, avx2)) for peer in arguments.peers}
    best = LimitSamples()
    for _ in range(1 if arguments.quick else ROUNDS):
        measure_round(samples, best, files, Setting(bits, threads, avx2), 1 if arguments.quick else TURNS)
    results.limits.append(TextLimits(bits, threads, round(median(best.reads), 1), round(median(best.peaks), 1)))
    known = {(entry.bits, entry.peer) for entry in results.excluded}
    for peer, own in samples.items():
        if not own.reason:
            results.measurements.append(measurement(bits, threads, peer, own))
        elif (bits, peer) not in known:
            results.excluded.append(TextExclusion(bits, peer, own.reason))
    results.save(arguments.out)
    rates = ", ".join(
        f"{entry.peer} {entry.steps_per_second:.0f} and {entry.prompt_per_second:.0f}"
        for entry in results.of(bits, threads).values()
    )
    say(f"{weights_of(bits)}, {count(threads, 'thread')}: tokens written and read per second: {rates}")


class Setting(NamedTuple):
    """The weights' bits, the threads, and, if peers are kept to AVX2, the folder of their copies."""

    bits: int
    threads: int
    avx2: Path | None


def worker(peer: str, files: TextFiles, setting: Setting) -> Worker:
    """The process of a peer, not yet started."""
    request = {
        "peer": peer, "folder": str(files.folder.resolve()), "bits": setting.bits, "threads": setting.threads
    }  # fmt: skip
    if setting.avx2 is None:
        return Worker(peer, "benchmarks.text_worker", request, {})
    if PEERS[peer].asking:
        request["copy"] = str(narrowed(PEERS[peer].asking, setting.avx2).resolve())
    return Worker(peer, "benchmarks.text_worker", request, PEERS[peer].avx2_environment)


def measure_round(
    samples: dict[str, Samples], best: LimitSamples, files: TextFiles, setting: Setting, turns: int
) -> None:
    """A process for each peer that is still in, and turns in which one after the other writes and reads."""
    with ExitStack() as stack:
        running = []
        for peer, own in samples.items():
            if own.reason:
                continue
            process = stack.enter_context(worker(peer, files, setting))
            try:
                own.loads.append(process.ask(process.first_request))
            except BenchmarkError as error:
                own.reason = str(error)
                continue
            difference = own.loads[-1]["difference"]
            if difference is not None and difference > TOLERANCES[setting.bits]:
                own.reason = f"its scores differ from torch's by {difference:.1e}"
                continue
            running.append(process)
        for turn in range(turns):
            for process in (*running[turn:], *running[:turn]):
                own = samples[process.peer]
                own.steps += process.ask({"steps": True})
                own.prompts += process.ask({"steps": False})
            best.measure(setting.threads)


def reason_to_leave_out(peer: str, bits: int, avx2: Path | None = None) -> str:
    """Why a peer cannot have weights of this many bits here, or cannot be kept to AVX2; nothing if it can."""
    missing = [package for package in PEERS[peer].packages if importlib.util.find_spec(package) is None]
    if missing:
        return f"no module {', '.join(missing)}"
    if bits not in PEERS[peer].bits:
        return "it has no such weights for a decoder"
    if avx2 is not None and peer not in OUR_OWN and not (PEERS[peer].asking or PEERS[peer].avx2_environment):
        return "it was built for this CPU, and nothing keeps it to AVX2"
    return ""


def measurement(bits: int, threads: int, peer: str, samples: Samples) -> TextMeasurement:
    """Medians over all steps and prompts, and over the processes for what each reports once."""

    def typical(key: str) -> float:
        return round(float(median(load[key] for load in samples.loads)), 1)

    differences = [load["difference"] for load in samples.loads]
    return TextMeasurement(
        bits=bits,
        threads=threads,
        peer=peer,
        step_ms=round(median(samples.steps), 4),
        step_min_ms=round(min(samples.steps), 4),
        prompt_ms=round(median(samples.prompts), 3),
        prompt_min_ms=round(min(samples.prompts), 3),
        load_ms=typical("load_ms"),
        first_ms=typical("first_ms"),
        peak_mb=typical("peak_mb"),
        difference=None if None in differences else float(f"{max(differences):.2e}"),
        agreeing=int(min(load["agreeing"] for load in samples.loads)),
    )

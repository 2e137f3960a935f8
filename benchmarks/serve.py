"""Time how a decoder of SmolLM2-135M's sizes serves many readers at once, beside other runtimes.

Readers send requests at random times: prompts of 32 to 512 tokens, of which every second begins as the others do, and
answers of 16 to 256. How many tokens come in a second, how long a reader waits for the first, and how long for each of
the others? Every peer has a process of its own, and they take turns. All get the same requests; every result is also
written as JSON. One cell alone: --bits 32 --readers 16 --peers kuiper openvino-genai; --keep adds to what a file has.
"""

from __future__ import annotations

import importlib.util
from datetime import datetime, timezone
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from benchmarks import limits, machine
from benchmarks.errors import BenchmarkError
from benchmarks.places import CACHE
from benchmarks.run import say
from benchmarks.serve_peers import PEERS
from benchmarks.serve_results import ServeMeasurement, ServeResults, serve_tables
from benchmarks.session import Worker
from benchmarks.tables import count
from benchmarks.text import versions_of
from benchmarks.text_files import BITS, SMOLLM2_135M, TextFiles, prepare
from benchmarks.text_results import TextExclusion
from benchmarks.text_tables import text_exclusions, text_limits, weights_of
from kuiper.machine import this_machine
from kuiper.serving.load import CallSizes

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

READERS = (1, 4, 16, 64)
PAUSE = 0.1
"""Seconds between an answer and the reader's next request, on average."""
SIZES = CallSizes()
QUICK_SIZES = CallSizes((8, 32), (4, 8), 16)
WRITING = (128, 48)
"""Of writing alone: tokens that have been read before, and tokens that each reader writes behind them."""
READING = (256, 4)
"""Of reading alone: tokens of a prompt, and how many prompts."""


def calls_of(readers: int) -> int:
    """How many requests a cell has."""
    return 8 + 2 * readers


def add_arguments(parser: argparse.ArgumentParser) -> None:
    cores = this_machine().cores
    parser.add_argument("--peers", nargs="+", default=list(PEERS), choices=PEERS, metavar="PEER", help=", ".join(PEERS))
    parser.add_argument("--bits", nargs="+", type=int, default=list(BITS), choices=BITS, help="default: 32 8 4")
    parser.add_argument(
        "--readers", nargs="+", type=int, default=list(READERS), metavar="N", help="at once; default: 1 4 16 64"
    )
    parser.add_argument("--threads", type=int, default=cores, metavar="N", help="default: all cores, here %(default)s")
    parser.add_argument("--rounds", type=int, default=1, metavar="N", help="of new processes (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help="a few short requests: to see that all works")
    parser.add_argument("--keep", action="store_true", help="keep the cells that FILE has, and measure the others")
    parser.add_argument(
        "--cache", type=Path, default=CACHE, metavar="DIR", help="written decoders (default: %(default)s)"
    )
    parser.add_argument(
        "-o", "--out", type=Path, default=CACHE / "serve.json", metavar="FILE", help="default: %(default)s"
    )


def execute(arguments: argparse.Namespace, config: Mapping[str, Any] = SMOLLM2_135M) -> int:
    cores = this_machine().cores
    if not 1 <= arguments.threads <= cores:
        raise BenchmarkError("--threads", f"1 to {cores}, the cores of this machine", arguments.threads)
    if min(arguments.readers) < 1 or arguments.rounds < 1:
        raise BenchmarkError("--readers and --rounds", "numbers of at least 1", [arguments.readers, arguments.rounds])
    limits.refuse_debug_build()
    say("writing the decoder, if the cache lacks it")
    files = prepare(arguments.cache, config)
    results = begun_results(arguments)
    try:
        for bits in arguments.bits:
            for readers in arguments.readers:
                measure_cell(results, files, bits, readers, arguments)
    finally:  # after Ctrl-C, too: what is finished is written, and shown
        if results.measurements:
            notes = [*text_limits(results), *text_exclusions(results), f"wrote {arguments.out}"]
            print("\n\n".join([*map(str, serve_tables(results)), *notes]))
    return 0


def begun_results(arguments: argparse.Namespace) -> ServeResults:
    """Those of the file, if they are to be kept, else results without measurements: the machine, build and versions.

    Raises
    ------
    BenchmarkError
        If those of the file are of another machine or number of threads, or some are quick and some are not.
    """
    versions = versions_of(package for peer in arguments.peers for package in PEERS[peer].packages)
    today = datetime.now(timezone.utc).date().isoformat()
    fresh = ServeResults(today, arguments.quick, machine.describe(), machine.build(), versions, arguments.threads)
    if not (arguments.keep and arguments.out.exists()):
        return fresh
    kept = ServeResults.read(arguments.out)
    if (kept.machine, kept.threads, kept.quick) != (fresh.machine, fresh.threads, fresh.quick):
        expected = "results of this machine, with as many threads, all quick or none"
        raise BenchmarkError(str(arguments.out), expected, "others", hint="leave out --keep")
    kept.date, kept.build = fresh.date, fresh.build
    kept.versions.update(versions)
    return kept


def measure_cell(
    results: ServeResults, files: TextFiles, bits: int, readers: int, arguments: argparse.Namespace
) -> None:
    """All peers with so many readers; written to the file as soon as they are done."""
    left_out = {entry.peer for entry in results.excluded if entry.bits == bits}
    reasons = {peer: reason_to_leave_out(peer, bits) for peer in arguments.peers}
    wanted = [peer for peer in arguments.peers if peer not in results.of(bits, readers) and peer not in left_out]
    found: dict[str, list[dict[str, Any]]] = {}
    for turn in range(arguments.rounds):
        for peer in (*wanted[turn % len(wanted) :], *wanted[: turn % len(wanted)]) if wanted else ():
            if reasons[peer]:
                continue
            try:
                found.setdefault(peer, []).append(take_turn(peer, files, bits, readers, arguments))
            except BenchmarkError as error:
                reasons[peer] = str(error)
            if not reasons[peer] and bits == 32 and found[peer][-1]["agreeing"] == 0:
                reasons[peer] = "it does not write what torch does"
    for peer in wanted:
        if reasons[peer]:
            results.excluded.append(TextExclusion(bits, peer, reasons[peer]))
        else:
            results.measurements.append(measurement(bits, readers, peer, found[peer]))
    results.save(arguments.out)
    rates = ", ".join(f"{peer} {entry.written_per_second:.0f}" for peer, entry in results.of(bits, readers).items())
    say(f"{weights_of(bits)}, {count(readers, 'reader')}: tokens written per second: {rates}")


def reason_to_leave_out(peer: str, bits: int) -> str:
    """Why a peer cannot have weights of this many bits here; nothing if it can."""
    missing = [package for package in PEERS[peer].packages if importlib.util.find_spec(package) is None]
    if missing:
        return f"no module {', '.join(missing)}"
    return "" if bits in PEERS[peer].bits else "it has no such weights for a decoder"


def take_turn(peer: str, files: TextFiles, bits: int, readers: int, arguments: argparse.Namespace) -> dict[str, Any]:
    """What one process of a peer does: load, warm up, write alone, read alone, and serve the requests."""
    sizes = QUICK_SIZES if arguments.quick else SIZES
    requests = readers + 1 if arguments.quick else calls_of(readers)
    calls = {"count": requests, "pause": PAUSE, "seed": readers, "prompts": sizes.prompts, "answers": sizes.answers}
    request = {
        "peer": peer, "folder": str(files.folder.resolve()), "bits": bits, "threads": arguments.threads,
        "readers": readers,
    }  # fmt: skip
    with Worker(peer, "benchmarks.serve_worker", request, {}) as worker:
        begun: dict[str, Any] = worker.ask(request)
        writing = worker.ask({"writing": (16, 8) if arguments.quick else WRITING})["per_second"]
        reading = worker.ask({"reading": (32, 2) if arguments.quick else READING})["per_second"]
        served = worker.ask({"calls": {**calls, "shared": sizes.shared}})
    return {**begun, **served, "writing": writing, "reading": reading}


def measurement(bits: int, readers: int, peer: str, turns: list[dict[str, Any]]) -> ServeMeasurement:
    """Medians over the turns; steps are those of the last one."""

    def typical(key: str, digits: int) -> float:
        return round(float(median(turn[key] for turn in turns)), digits)

    def each(key: str) -> tuple[float, float, float]:
        first, second, third = (round(float(median(turn[key][i] for turn in turns)), 3) for i in range(3))
        return first, second, third

    writing = [turn["writing"] for turn in turns if turn["writing"] is not None]
    last = turns[-1]
    return ServeMeasurement(
        bits=bits,
        readers=readers,
        peer=peer,
        seconds=typical("seconds", 4),
        read=last["read"],
        written=last["written"],
        first_ms=each("first"),
        each_ms=each("each"),
        writing_per_second=round(median(writing), 2) if writing else None,
        reading_per_second=typical("reading", 2),
        found=last["found"],
        busy_seconds=round(last["busy"], 4),
        steps=[(tokens, number) for tokens, number in last["steps"]],
        load_ms=typical("load_ms", 1),
        peak_mb=typical("peak_mb", 1),
        agreeing=int(min(turn["agreeing"] for turn in turns)),
    )

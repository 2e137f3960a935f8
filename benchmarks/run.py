"""Time all peers on the models and print how kuiper compares; every result is also written as JSON."""

from __future__ import annotations

import importlib.util
import sys
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import kuiper
from benchmarks import limits, machine
from benchmarks.avx2_packages import COPIES, add_isa, keeps_to_avx2, narrowed
from benchmarks.errors import INSTALL, BenchmarkError
from benchmarks.models import NEEDED, facts_of, prepare
from benchmarks.networks import MODELS, NETWORKS
from benchmarks.peers import OURS, PEERS
from benchmarks.places import CACHE
from benchmarks.results import Results
from benchmarks.session import Effort, measure
from benchmarks.tables import all_tables, exclusions, milliseconds, setting, title
from benchmarks.tables import limits as limits_of_peers
from kuiper.machine import this_machine

if TYPE_CHECKING:
    import argparse

ROUNDS, TURNS, SECONDS = 3, 3, 0.2
QUICK = Effort(rounds=1, turns=1, runs=3, seconds=0.0)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    some_threads = [threads for threads in (1, 2) if threads <= this_machine().cores]
    parser.add_argument(
        "--models", nargs="+", default=MODELS, choices=NETWORKS, metavar="MODEL", help=", ".join(NETWORKS)
    )
    parser.add_argument("--peers", nargs="+", default=list(PEERS), choices=PEERS, metavar="PEER", help=", ".join(PEERS))
    parser.add_argument("--threads", nargs="+", type=int, default=some_threads, metavar="N", help="default: 1 2")
    parser.add_argument("--batch", nargs="+", type=int, default=[1], metavar="N", help="how many at once (default: 1)")
    add_isa(parser)
    parser.add_argument("--runs", type=int, default=30, help="timed runs of each peer, at least (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help="three runs: to see that all works, not how fast")
    parser.add_argument(
        "--cache", type=Path, default=CACHE, metavar="DIR", help="exported models (default: %(default)s)"
    )
    parser.add_argument(
        "-o", "--out", type=Path, default=CACHE / "latest.json", metavar="FILE", help="default: %(default)s"
    )


def execute(arguments: argparse.Namespace) -> int:
    check(arguments)
    results = new_results(arguments)
    if results.limits:
        copy_packages(arguments)
    try:
        for name in arguments.models:
            for batch in arguments.batch:
                measure_model(results, name, batch, arguments)
    finally:  # after Ctrl-C, too: what is finished is written, and shown
        if results.settings:
            notes = [*limits_of_peers(results), *exclusions(results), f"wrote {arguments.out}"]
            print("\n\n".join([title(results), *map(str, all_tables(results)), *notes]))
    return 0


def check(arguments: argparse.Namespace) -> None:
    """Refuse what cannot be measured, before anything takes time.

    Raises
    ------
    BenchmarkError
        For packages that are not installed, numbers out of range, and a build with bounds checks.
    """
    cores = this_machine().cores
    if not all(1 <= threads <= cores for threads in arguments.threads):
        raise BenchmarkError("--threads", f"1 to {cores}, the cores of this machine", arguments.threads)
    if min(*arguments.batch, arguments.runs) < 1:
        raise BenchmarkError("--batch and --runs", "numbers above 0", [*arguments.batch, arguments.runs])
    packages = dict.fromkeys([*NEEDED, "psutil", *(PEERS[peer].package for peer in arguments.peers)])
    missing = [package for package in packages if importlib.util.find_spec(package) is None]
    if missing:
        raise BenchmarkError("benchmarks", ", ".join(packages), f"no {', '.join(missing)}", hint=INSTALL)
    limits.refuse_debug_build()


def new_results(arguments: argparse.Namespace) -> Results:
    """Results without measurements: the machine, the build and the versions."""
    build = machine.build()
    others = {PEERS[peer].package for peer in arguments.peers} - {OURS}
    kept = [peer for peer in arguments.peers if peer != OURS] if keeps_to_avx2(arguments.isa, build) else []
    return Results(
        date=datetime.now(timezone.utc).date().isoformat(),
        quick=arguments.quick,
        machine=machine.describe(),
        build=build,
        versions={OURS: kuiper.__version__} | {package: version(package) for package in sorted({*others, *NEEDED})},
        peak_gflops=dict.fromkeys(arguments.threads, 0.0),
        limits={peer: PEERS[peer].avx2_limit() for peer in kept},
    )


def copy_packages(arguments: argparse.Namespace) -> None:
    """The copies of runtimes that are kept to AVX2 by what they are told: before anything takes time.

    Raises
    ------
    BenchmarkError
        If they cannot be made here.
    """
    for peer in dict.fromkeys(arguments.peers):
        if peer != OURS and not PEERS[peer].avx2_environment:
            say(f"{peer}: a copy that is told that the CPU has AVX2 alone, if the cache lacks it")
            narrowed([PEERS[peer].package], arguments.cache / COPIES)


def measure_model(results: Results, name: str, batch: int, arguments: argparse.Namespace) -> None:
    """One model with each number of threads; written to the file as soon as a number of threads is done."""
    say(f"{name}, batch {batch}: exporting, if the cache lacks it")
    files = prepare(name, batch, arguments.cache)
    results.models[name] = facts_of(files)
    for path in files.folder.iterdir():
        path.read_bytes()  # into the page cache, so that no peer's load time is that of the disk
    for threads in arguments.threads:
        # a peak is a maximum: measured again and again, as other work on the machine can only lower it
        results.peak_gflops[threads] = max(results.peak_gflops[threads], round(limits.peak_gflops(threads), 1))
        copies = arguments.cache / COPIES if results.limits else None
        measured, excluded = measure(files, batch, threads, arguments.peers, effort(arguments), copies)
        results.measurements += measured
        results.excluded += excluded
        results.save(arguments.out)
        medians = [f"{entry.peer} {milliseconds(entry)} ({entry.difference:.0e})" for entry in measured]
        left_out = [f"{entry.peer} left out: {entry.reason}" for entry in excluded]
        say(f"{name}, {setting(batch, threads)}: {', '.join([*medians, *left_out])}")


def effort(arguments: argparse.Namespace) -> Effort:
    """At least ``--runs`` runs, spread over all turns."""
    return QUICK if arguments.quick else Effort(ROUNDS, TURNS, -(-arguments.runs // (ROUNDS * TURNS)), SECONDS)


def say(line: str) -> None:
    """Progress goes to stderr: stdout is for the tables."""
    print(line, file=sys.stderr, flush=True)

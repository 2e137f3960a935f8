"""All peers on one model, in turn: fresh processes, never two at work at once.

    round 1   start kuiper, start onnxruntime, ...      each loads alone and runs, and its output is checked
              turn 1: kuiper, onnxruntime, ...          each warms up and is timed for a moment
              turn 2: onnxruntime, ..., kuiper          the next begins, so that nobody always follows the same one
              end all processes
    round 2   the same in new processes: another layout in memory

Peers are timed in processes of their own because two thread pools that spin in one process slow each other down many
times. Short turns, several of them, because a machine drifts (clock, neighbours): what slows it for seconds slows all
peers. A peer begins when the threads of the one before are asleep.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass, field
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from benchmarks.avx2_packages import narrowed
from benchmarks.errors import BenchmarkError
from benchmarks.peers import OURS, PEERS
from benchmarks.places import ROOT
from benchmarks.results import Exclusion, Measurement

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from types import TracebackType

    from benchmarks.model_files import ModelFiles

TOLERANCE = 1e-3
"""A peer whose output differs from torch's by more computes something else, and is left out."""

TUNING = ("ATEN_CPU_", "GOMP_", "KMP_", "MKL_", "OMP_", "ONEDNN_", "DNNL_", "OPENBLAS_")
"""Environment variables that would slow down or pin some peers and not others; OPENBLAS_CORETYPE is one.

What ``avx2_environment`` of a peer sets comes after them.
"""


AnyWorker = TypeVar("AnyWorker", bound="Worker")


class Effort(NamedTuple):
    """How long to measure: rounds of new processes, turns in each, and runs in a turn (more if they fit in seconds)."""

    rounds: int
    turns: int
    runs: int
    seconds: float


@dataclass
class Samples:
    """What one peer's processes reported; ``loads`` has an entry for each process."""

    loads: list[dict[str, float]] = field(default_factory=list)
    times: list[float] = field(default_factory=list)


class Worker:
    """A running module that answers a line of JSON with a line of JSON; it ends with the ``with`` block.

    ``variables`` are added to the environment, ``first_request`` tells the process what it is to load.
    """

    def __init__(self, peer: str, module: str, first_request: dict[str, Any], variables: dict[str, str]) -> None:
        self.peer, self.module, self.first_request, self.variables = peer, module, first_request, variables

    def __enter__(self: AnyWorker) -> AnyWorker:
        environment = {key: value for key, value in os.environ.items() if not key.startswith(TUNING)} | self.variables
        self.stderr = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")
        self.process = subprocess.Popen(
            [sys.executable, "-m", self.module],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.stderr,
            text=True,
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.communicate()
        self.stderr.close()

    def ask(self, request: dict[str, Any]) -> Any:
        """The worker's answer, once its threads sleep.

        Raises
        ------
        BenchmarkError
            If the process died; its last word on stderr is the hint.
        """
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            print(json.dumps(request), file=self.process.stdin, flush=True)
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            code = self.process.wait()
            self.stderr.seek(0)
            last_words = self.stderr.read().strip().splitlines()[-1:]
            raise BenchmarkError(self.peer, "an answer", f"exit code {code}", "".join(last_words)[:200])
        wait_until_asleep(self.process.pid)
        return json.loads(line)


class PeerProcess(Worker):
    """A running ``benchmarks.worker``; with a folder for copies of packages (``avx2``), it is kept to AVX2."""

    def __init__(self, peer: str, files: ModelFiles, threads: int, avx2: Path | None) -> None:
        request = {"peer": peer, "name": files.name, "folder": str(files.folder), "threads": threads}
        variables = {}
        if avx2 is not None and peer != OURS:
            variables = PEERS[peer].avx2_environment
            if not variables:
                request["copy"] = str(narrowed([PEERS[peer].package], avx2))
        super().__init__(peer, "benchmarks.worker", request, variables)

    def load(self) -> dict[str, float]:
        """Load the model and compare with torch; the worker's figures."""
        figures: dict[str, float] = self.ask(self.first_request)
        return figures

    def time(self, runs: int, seconds: float) -> list[float]:
        """Milliseconds of each run."""
        times: list[float] = self.ask({"warm_up": 2, "runs": runs, "seconds": seconds})
        return times


def wait_until_asleep(pid: int, limit: float = 2.0) -> None:
    """Wait until a process uses no CPU time: thread pools spin for a while before they sleep.

    After ``limit`` seconds the wait is over all the same.
    """
    import psutil

    process = psutil.Process(pid)
    end = monotonic() + limit
    used = -1.0
    while monotonic() < end:
        times = process.cpu_times()
        before, used = used, times.user + times.system
        if used == before:
            return
        sleep(0.03)  # three ticks of the clock that CPU time is counted in


def measure(
    files: ModelFiles, batch: int, threads: int, peers: Sequence[str], effort: Effort, avx2: Path | None
) -> tuple[list[Measurement], list[Exclusion]]:
    """Time the peers on one model; with ``avx2``, a folder for copies of packages, all are kept to AVX2.

    Those that fail or answer wrongly are excluded, with the reason.
    """
    samples = {peer: Samples() for peer in peers}
    reasons: dict[str, str] = {}
    for _ in range(effort.rounds):
        with ExitStack() as stack:
            processes = start_all(stack, files, threads, samples, reasons, avx2)
            for turn in range(effort.turns):
                for process in (*processes[turn:], *processes[:turn]):
                    if process.peer not in reasons:
                        take_turn(process, samples[process.peer], effort, reasons)
    measured = [measurement(files.name, batch, threads, peer, samples[peer]) for peer in peers if peer not in reasons]
    return measured, [Exclusion(files.name, batch, threads, peer, reason) for peer, reason in reasons.items()]


def start_all(
    stack: ExitStack,
    files: ModelFiles,
    threads: int,
    samples: dict[str, Samples],
    reasons: dict[str, str],
    avx2: Path | None,
) -> list[PeerProcess]:
    """A process for each peer that is still in, one after the other; ``reasons`` gets those that are not."""
    processes = []
    for peer, own in samples.items():
        if peer in reasons:
            continue
        process = stack.enter_context(PeerProcess(peer, files, threads, avx2))
        try:
            own.loads.append(process.load())
        except BenchmarkError as error:
            reasons[peer] = str(error)
            continue
        difference = own.loads[-1]["difference"]
        if difference <= TOLERANCE:
            processes.append(process)
        else:  # NaN, too
            reasons[peer] = f"its output differs from torch's by {difference:.1e}"
    return processes


def take_turn(process: PeerProcess, own: Samples, effort: Effort, reasons: dict[str, str]) -> None:
    """Time one peer for a moment; ``reasons`` gets it if it dies."""
    try:
        own.times += process.time(effort.runs, effort.seconds)
    except BenchmarkError as error:
        reasons[process.peer] = str(error)


def measurement(model: str, batch: int, threads: int, peer: str, samples: Samples) -> Measurement:
    """Medians over all runs, and over the processes for what each of them reports once."""
    quartiles = statistics.quantiles(samples.times, n=4) if len(samples.times) > 1 else samples.times * 3
    median = statistics.median(samples.times)

    def typical(key: str, digits: int) -> float:
        return round(statistics.median(load[key] for load in samples.loads), digits)

    return Measurement(
        model=model,
        batch=batch,
        threads=threads,
        peer=peer,
        median_ms=round(median, 4),
        min_ms=round(min(samples.times), 4),
        spread=round((quartiles[2] - quartiles[0]) / median, 3),
        runs=len(samples.times),
        load_ms=typical("load_ms", 2),
        first_ms=typical("first_ms", 2),
        peak_mb=typical("peak_mb", 1),
        import_mb=typical("import_mb", 1),
        difference=float(f"{max(load['difference'] for load in samples.loads):.2e}"),
    )

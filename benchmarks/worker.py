"""The process of one peer: it loads one model, tells what that took, then runs and times it whenever it is asked to.

It speaks JSON, a line for each request on stdin and a line for each answer on stdout::

    {"peer": "kuiper", "name": "resnet18", "folder": "...", "threads": 1}       first, once: load ("copy": from where)
    {"warm_up": 2, "runs": 10, "seconds": 0.2}                                  then any number of these: run

Libraries that print get stderr. The process ends when its stdin does.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from pathlib import Path
from time import perf_counter
from typing import IO, Any

import numpy as np

from benchmarks.avx2_answers import Answers
from benchmarks.model_files import ModelFiles
from benchmarks.peers import PEERS, Peer

MB = 1e6


def peak_resident_mb() -> float:
    """The most memory that this process has had resident, in MB; on systems that do not tell, what it has now."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text(encoding="ascii").splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024 / MB
    import psutil

    memory = psutil.Process().memory_info()
    return float(getattr(memory, "peak_wset", memory.rss)) / MB


def private_stdout() -> IO[str]:
    """The real stdout, for answers only; whatever else is printed goes to stderr from now on."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)
    return answers


def load(request: dict[str, Any]) -> tuple[Peer, np.ndarray, dict[str, float]]:
    """Import the peer, load the model, run it; the peer, the input, and what it took.

    ``difference`` is max|output - torch's| / max|torch's|; an output of another shape differs infinitely.
    """
    files = ModelFiles(request["name"], Path(request["folder"]))
    with np.load(files.arrays) as arrays:
        x = arrays["input"]
    answers = Answers(request["copy"]) if "copy" in request else None
    peer = PEERS[request["peer"]](request["threads"])
    import_mb = peak_resident_mb()
    started = perf_counter()
    peer.load(files)
    loaded = perf_counter()
    peer.run(x)
    finished = perf_counter()
    output = peer.run(x)
    peak_mb = peak_resident_mb()
    if answers and not answers.asked:
        raise RuntimeError(f"{request['peer']} asked nothing about the CPU: it may use all that it has")
    return (
        peer,
        x,
        {
            "load_ms": (loaded - started) * 1e3,
            "first_ms": (finished - loaded) * 1e3,
            "import_mb": import_mb,
            "peak_mb": peak_mb,
            "difference": difference(output, files),
        },
    )


def difference(output: np.ndarray, files: ModelFiles) -> float:
    """max|output - torch's| / max|torch's|."""
    with np.load(files.arrays) as arrays:
        expected = arrays["output"]
    if output.shape != expected.shape:
        return float("inf")
    return float(np.abs(output - expected).max() / np.abs(expected).max())


def time_runs(peer: Peer, x: np.ndarray, request: dict[str, Any]) -> list[float]:
    """Milliseconds of each of at least ``runs`` runs, and of as many more as fit in ``seconds``.

    The runs before, which are not counted, bring weights back into the caches: other processes had the machine.
    """
    for _ in range(request["warm_up"]):
        peer.run(x)
    times: list[float] = []
    end = perf_counter() + request["seconds"]
    gc.disable()
    while len(times) < request["runs"] or perf_counter() < end:
        started = perf_counter()
        peer.run(x)
        times.append((perf_counter() - started) * 1e3)
    gc.enable()
    return times


def main() -> int:
    answers = private_stdout()
    peer, x, taken = load(json.loads(sys.stdin.readline()))
    print(json.dumps(taken), file=answers)
    for line in sys.stdin:
        print(json.dumps(time_runs(peer, x, json.loads(line))), file=answers)
    return 0


if __name__ == "__main__":
    sys.exit(main())

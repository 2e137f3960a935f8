"""The process of one peer that serves many readers; it speaks JSON as ``benchmarks.worker`` does.

{"peer": "kuiper", "folder": "...", "bits": 8, "threads": 2, "readers": 16}     first, once: load, compare, warm up
{"calls": {"count": 40, "pause": 0.1, "seed": 1, ...}}      then any of these: a load of as many readers
{"writing": [128, 48]}                                      all readers write at once behind prompts that were read
{"reading": [256, 4]}                                       so many prompts of so many tokens, nothing else
"""

from __future__ import annotations

import gc
import json
import sys
from collections import Counter
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from itertools import count
from pathlib import Path
from time import perf_counter, sleep
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.serve_peers import PEERS
from benchmarks.text_files import GREEDY, TextFiles
from benchmarks.text_worker import agreeing
from benchmarks.worker import peak_resident_mb, private_stdout
from kuiper.serving.load import Call, CallSizes, LoadFigures, Timing, draw_calls

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.serve_peers import ServePeer


@dataclass
class Drive:
    """What a peer did with some calls, in the order of the calls."""

    timings: list[Timing]
    tokens: list[list[int]]
    busy: float = 0.0
    """Seconds of its steps."""
    steps: Counter[int] = field(default_factory=Counter)
    """How many steps gave so many tokens."""


def drive(peer: ServePeer, calls: Sequence[Call], readers: int) -> Drive:
    """So many readers send calls: each the next one as soon as its last answer has ended, and the call's pause is over.

    A call that comes while the peer is at work is handed over after the step, but counts from when it came.
    """
    found = Drive([Timing(0.0) for _ in calls], [[] for _ in calls])
    coming = [(call.pause, number) for number, call in enumerate(calls[:readers])]
    heapify(coming)
    following, running = count(len(coming)), 0
    began = perf_counter()
    while coming or running:
        now = perf_counter() - began
        while coming and coming[0][0] <= now:
            sent, number = heappop(coming)
            found.timings[number].sent = sent
            peer.add(number, calls[number].prompt, calls[number].tokens)
            running += 1
        if not running:
            sleep(coming[0][0] - now)
            continue
        came = peer.step()
        after = perf_counter() - began
        found.busy += after - now
        found.steps[len(came)] += 1
        for number, token in came:
            found.timings[number].tokens.append(after)
            found.tokens[number].append(token)
            if len(found.tokens[number]) == calls[number].tokens:
                running -= 1
                follower = next(following)
                if follower < len(calls):
                    heappush(coming, (after + calls[follower].pause, follower))
    return found


class Served:
    """A peer that has loaded its decoder, and what it can be asked to do."""

    def __init__(self, request: dict[str, Any]) -> None:
        self.readers = request["readers"]
        self.seeds = count(100)  # of prompts that nobody has read before
        files = TextFiles(Path(request["folder"]))
        self.vocabulary = files.config["vocab_size"]
        self.peer = PEERS[request["peer"]](request["threads"])
        started = perf_counter()
        self.peer.load(files, request["bits"], self.readers)
        self.load_ms = (perf_counter() - started) * 1e3
        with np.load(files.arrays) as arrays:
            self.prompt, self.expected = arrays["tokens"].tolist(), arrays.get("greedy")

    def begin(self) -> dict[str, Any]:
        """How many of the first greedy tokens are those that torch's float32 weights write; then all is warm."""
        (tokens,) = drive(self.peer, [Call(self.prompt, GREEDY, 0.0)], 1).tokens
        sizes = CallSizes((32, 128), (4, 16), 16)
        drive(self.peer, self.drawn(sizes, count=2 * self.readers, pause=0.02, seed=-1), self.readers)
        right = 0 if self.expected is None else agreeing(tokens, self.expected.tolist())
        return {"load_ms": self.load_ms, "agreeing": right}

    def drawn(self, sizes: CallSizes, *, count: int, pause: float, seed: int) -> list[Call]:
        """Calls with tokens of the decoder."""
        return draw_calls(count, sizes, vocabulary=self.vocabulary, pause=pause, seed=1000 + seed)

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """To one of the requests that are described above."""
        ((kind, what),) = request.items()
        gc.collect()
        if kind == "calls":
            return self.serve(CallSizes(tuple(what["prompts"]), tuple(what["answers"]), what["shared"]), what)
        return {"per_second": self.write(*what) if kind == "writing" else self.read(*what)}

    def serve(self, sizes: CallSizes, what: dict[str, Any]) -> dict[str, Any]:
        calls = self.drawn(sizes, count=what["count"], pause=what["pause"], seed=what["seed"])
        before = self.peer.found
        ran = drive(self.peer, calls, self.readers)
        found = None if before is None or self.peer.found is None else self.peer.found - before
        steps = {"busy": ran.busy, "steps": sorted(ran.steps.items())}
        return {**LoadFigures.of(calls, ran.timings)._asdict(), "found": found, **steps, "peak_mb": peak_resident_mb()}

    def write(self, prompt: int, tokens: int) -> float | None:
        """Tokens per second while all readers write, from when each has its first token until the first one ends."""
        sizes = CallSizes((prompt, prompt), (tokens, tokens), 0)
        calls = [call._replace(pause=0.0) for call in self.drawn(sizes, count=self.readers, pause=0.0, seed=-2)]
        drive(self.peer, [call._replace(tokens=1) for call in calls], self.readers)
        timings = drive(self.peer, calls, self.readers).timings
        begin, end = max(one.tokens[0] for one in timings), min(one.tokens[-1] for one in timings)
        written = sum(begin < when <= end for one in timings for when in one.tokens)
        return written / (end - begin) if written >= tokens // 2 * self.readers else None

    def read(self, prompt: int, prompts: int) -> float:
        """Tokens of prompts per second."""
        sizes = CallSizes((prompt, prompt), (1, 1), 0)
        calls = [
            call._replace(pause=0.0) for call in self.drawn(sizes, count=prompts, pause=0.0, seed=next(self.seeds))
        ]
        timings = drive(self.peer, calls, min(prompts, self.readers)).timings
        return prompt * prompts / max(one.tokens[-1] for one in timings)


def main() -> int:
    answers = private_stdout()
    served = Served(json.loads(sys.stdin.readline()))
    print(json.dumps(served.begin()), file=answers)
    for line in sys.stdin:
        print(json.dumps(served.answer(json.loads(line))), file=answers)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The process of one peer that writes text; it speaks JSON as ``benchmarks.worker`` does.

{"peer": "kuiper", "folder": "...", "bits": 8, "threads": 1}      first, once: load ("copy": from where), compare
{"steps": true} or {"steps": false}                               then any number of these: times in milliseconds
"""

from __future__ import annotations

import gc
import json
import sys
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.avx2_answers import Answers
from benchmarks.text_files import CONTEXT, GREEDY, STEPS, TextFiles
from benchmarks.text_peers import PEERS

if TYPE_CHECKING:
    from benchmarks.text_peer import TextPeer
from benchmarks.worker import peak_resident_mb, private_stdout

PROMPTS = 2  # read in one turn


def load(request: dict[str, Any]) -> tuple[TextPeer, np.ndarray, dict[str, float | None]]:
    """Import the peer, load the decoder, read a prompt; the peer, the prompt, and what it took.

    ``difference`` is |scores - torch's| / |torch's|, lengths of vectors, where both are known; ``agreeing`` counts the
    greedy tokens up to the first that torch's float32 weights would not have written.
    """
    files = TextFiles(Path(request["folder"]))
    with np.load(files.arrays) as arrays:
        tokens, expected, torch_tokens = arrays["tokens"], arrays.get("logits"), arrays.get("greedy")
    answers = Answers(request["copy"]) if "copy" in request else None
    peer = PEERS[request["peer"]](request["threads"])
    import_mb = peak_resident_mb()
    started = perf_counter()
    peer.load(files, request["bits"])
    loaded = perf_counter()
    scores = peer.scores(tokens)
    finished = perf_counter()
    if answers and not answers.asked:
        raise RuntimeError(f"{request['peer']} asked nothing about the CPU: it may use all that it has")
    figures = {
        "load_ms": (loaded - started) * 1e3,
        "first_ms": (finished - loaded) * 1e3,
        "import_mb": import_mb,
        "difference": None if scores is None or expected is None else distance(scores, expected),
        "agreeing": 0 if torch_tokens is None else agreeing(peer.greedy(tokens, GREEDY), torch_tokens.tolist()),
        "peak_mb": peak_resident_mb(),
    }
    return peer, tokens, figures


def distance(scores: np.ndarray, expected: np.ndarray) -> float:
    """|scores - expected| / |expected|.

    >>> distance(np.array([3.0, 3.0]), np.array([3.0, 4.0]))
    0.2
    """
    return float(np.linalg.norm(scores - expected) / np.linalg.norm(expected))


def agreeing(tokens: list[int], expected: list[int]) -> int:
    """How many tokens at the beginning are alike.

    >>> agreeing([3, 1, 4, 1], [3, 1, 5, 1])
    2
    """
    return next((i for i, pair in enumerate(zip(tokens, expected, strict=True)) if pair[0] != pair[1]), len(tokens))


def time_turn(peer: TextPeer, tokens: np.ndarray, steps: bool) -> list[float]:
    """Milliseconds of each of STEPS steps behind CONTEXT tokens, or of each of PROMPTS prompts."""
    gc.disable()
    if steps:
        times = peer.time_steps(tokens[: CONTEXT + STEPS], STEPS)
    else:
        times = [peer.time_prompt(tokens) for _ in range(PROMPTS)]
    gc.enable()
    return times


def main() -> int:
    answers = private_stdout()
    peer, tokens, figures = load(json.loads(sys.stdin.readline()))
    print(json.dumps(figures), file=answers)
    for line in sys.stdin:
        print(json.dumps(time_turn(peer, tokens, json.loads(line)["steps"])), file=answers)
    return 0


if __name__ == "__main__":
    sys.exit(main())

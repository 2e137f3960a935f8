"""Short requests by the hundred thousand: ``python -m tests.soak_serving``; what a server holds must stay flat.

    engine   requests on a BatchEngine with few pages: 16 at a time, some cancelled, put back, or found in pages
    http     requests to the whole application: a socket, uvicorn, streams, clients on threads

Both run the bundled ``shakespeare`` in this process, which is measured forty times, as ``tests.soak`` does it: after a
warm-up, a fifth of the requests, nothing may grow. At the end of each part no page may be in use.
"""

from __future__ import annotations

from contextlib import contextmanager
from threading import Thread
from time import sleep
from typing import TYPE_CHECKING, Any

import numpy as np

import kuiper
from kuiper.models import bundled
from kuiper.models.text import language_model
from kuiper.models.text.sampling import Sampler
from kuiper.serving import BatchEngine, Request
from kuiper.serving.load import CallSizes, draw_calls
from kuiper.serving.load_client import LoadRun, TextServer
from tests.campaign import Campaign
from tests.process_memory import C_LIBRARY, in_words, keep_no_freed_memory, measure
from tests.soak import verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SAMPLES = 40
AT_ONCE = 16
VOCABULARY = 60


class LeakError(Exception):
    """Pages are in use though nobody uses them."""


def soak_engine(count: int, seed: int, tell: Callable[[str], None]) -> tuple[list[dict[str, int]], dict[str, int]]:
    """So many requests, 16 at a time; what was measured, and what happened."""
    rng = np.random.default_rng(seed)
    engine = BatchEngine(kuiper.load(bundled("shakespeare")), pages=8, max_length=256)
    counts = dict.fromkeys(("tokens", "cancelled", "put back"), 0)
    samples, begun, ended = [], 0, 0
    beginning = rng.integers(1, VOCABULARY, 128).tolist()
    running: list[Request] = []
    while ended < count:
        while begun < count and len(running) < AT_ONCE:
            running.append(_request(rng, beginning))
            engine.submit(running[-1])
            begun += 1
        if rng.random() < 0.02:
            engine.cancel(running[int(rng.integers(len(running)))])
        engine.step()
        for request in [request for request in running if request.end]:
            running.remove(request)
            ended += 1
            counts["tokens"] += len(request.tokens)
            counts["cancelled"] += request.end == "cancelled"
            counts["put back"] += request.put_back
            if ended % max(1, count // SAMPLES) == 0:
                samples.append(measure())
                tell(f"engine {ended:7d} requests  {in_words(samples[-1])}")
    if engine.batch.pool.in_use:
        raise LeakError(f"{engine.batch.pool.in_use} pages")
    return samples[len(samples) // 5 :], {**counts, "tokens found in pages": engine.found}


def _request(rng: np.random.Generator, beginning: list[int]) -> Request:
    """A short one; one in eight has a long prompt, of which much may be found."""
    prompt = rng.integers(1, VOCABULARY, int(rng.integers(2, 64))).tolist()
    if rng.random() < 0.125:
        prompt = beginning[: int(rng.integers(64, 129))] + prompt
    return Request(prompt, Sampler(seed=int(rng.integers(1 << 31))), max_tokens=int(rng.integers(1, 9)))


def soak_http(count: int, seed: int, tell: Callable[[str], None]) -> tuple[list[dict[str, int]], dict[str, int]]:
    """So many streams from a server in this process; what was measured, and how many tokens came."""
    samples, tokens, turn = [], 0, max(1, count // SAMPLES)
    with served() as (url, engine):
        for number in range(count // turn):
            calls = draw_calls(turn, CallSizes((2, 90), (1, 5), 70), vocabulary=VOCABULARY, pause=0, seed=seed + number)
            result = LoadRun(TextServer(url), "shakespeare", calls).of_readers(AT_ONCE)
            if result.figures is None or result.failures:
                raise LeakError(f"{len(result.failures)} requests failed: {result.failures[:1]}")
            tokens += result.figures.written
            while engine.batch.pool.in_use or engine.has_work:
                sleep(0.01)
            samples.append(measure())
            tell(f"http {(number + 1) * turn:7d} requests  {in_words(samples[-1])}")
    return samples[len(samples) // 5 :], {"tokens": tokens}


@contextmanager
def served() -> Iterator[tuple[str, BatchEngine]]:
    """A server of ``shakespeare`` on a thread: its address and its engine."""
    import uvicorn

    from kuiper.serving.http.application import create_application
    from kuiper.serving.http.limits import Limits
    from kuiper.serving.http.served import Served
    from kuiper.serving.http.server import config_of, open_socket

    limits = Limits()
    model = Served("shakespeare", language_model.load(bundled("shakespeare")), memory=16 << 20, limits=limits)
    place = open_socket("127.0.0.1", 0)
    server = uvicorn.Server(config_of(create_application([model], limits=limits), limits))
    thread = Thread(target=server.run, kwargs={"sockets": [place]})
    thread.start()
    while not server.started:
        sleep(0.01)
    try:
        yield f"http://127.0.0.1:{place.getsockname()[1]}", model.worker.engine
    finally:
        server.should_exit = True
        thread.join()


def figures_of(part: str, requests: int, samples: list[dict[str, int]], counts: dict[str, int]) -> dict[str, Any]:
    """The figures of a part, by what they are."""
    first, last = samples[0], samples[-1]
    return {
        f"{part}: requests": requests,
        **{f"{part}: {name}": number for name, number in counts.items()},
        **{
            f"{part}: {name} {when}, MB": round(sample[name] / 2**20, 1)
            for name in ("in use", "resident")
            for when, sample in (("after the warm-up", first), ("in the end", last))
        },
        f"{part}: python blocks after the warm-up": first["python blocks"],
        f"{part}: python blocks in the end": last["python blocks"],
        f"{part}: what grew": "; ".join(verdict(samples)) or "nothing",
    }


NOTES = ["At the end of each part, no page was in use."]
CAMPAIGN = Campaign("soak_serving", "Soak of the server", __doc__, module="tests.soak_serving")


def main() -> int:
    """Run, print, write; 1 if something grew."""
    parser = CAMPAIGN.parser
    parser.add_argument("--requests", type=int, default=100_000, help="to the engine (default: %(default)s)")
    parser.add_argument("--http", type=int, default=10_000, help="to the server (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    options = CAMPAIGN.begin()
    if not hasattr(C_LIBRARY, "mallinfo2"):
        parser.error("the soak asks glibc what is in use: expected version 2.33 or later of it")
    keep_no_freed_memory()
    figures, failures = {}, 0
    parts = {"engine": (options.requests, soak_engine), "http": (options.http, soak_http)}
    for name, (requests, soak) in parts.items():
        if requests:
            samples, counts = soak(requests, options.seed, lambda line: print(line, flush=True))
            figures |= figures_of(name, requests, samples, counts)
            failures += len(verdict(samples))
    return CAMPAIGN.end(figures, NOTES, failures)


if __name__ == "__main__":
    raise SystemExit(main())

"""Run by any Python, installed, in node or in a browser: how fast kuiper is there, on one thread, as a line of JSON."""

import json
from time import perf_counter

import numpy as np

began = perf_counter()
import kuiper  # noqa: E402

import_seconds = perf_counter() - began

from kuiper.models import bundled  # noqa: E402
from kuiper.models.text import language_model  # noqa: E402
from kuiper.models.text.generation import Generation  # noqa: E402
from kuiper.models.text.sampling import Sampler  # noqa: E402

REPEATS = 40
RUNS = 5  # between two looks at the clock: a browser's moves in steps of a tenth of a millisecond, ...
TOKENS, SEGMENT = 150, 15  # ... and other work disturbs less what is short


def milliseconds(model, x):
    """Of a run, the least of several."""
    best = float("inf")
    for _ in range(REPEATS):
        began = perf_counter()
        for _ in range(RUNS):
            model(x)
        best = min(best, perf_counter() - began)
    return best / RUNS * 1000


def tokens_per_second(model):
    """Of a text whose every segment took the least time among several texts."""
    best = np.full(TOKENS // SEGMENT, np.inf)
    prompt = model.vocabulary.encode("ROMEO:")
    for _ in range(REPEATS):
        clock = []
        for token, _ in enumerate(Generation(model, prompt, Sampler(seed=1), max_tokens=TOKENS + 1)):
            if token % SEGMENT == 0:
                clock.append(perf_counter())
        best = np.minimum(best, np.diff(clock))
    return TOKENS / best.sum()


kuiper.set_num_threads(1)
x = np.random.default_rng(0).standard_normal((1, 3, 32, 32), dtype=np.float32)
figures = {
    "level": kuiper.build_info()["level"],
    "import": import_seconds,
    "resnet20": milliseconds(kuiper.load(bundled("cifar_resnet20")), x),
    "shakespeare": tokens_per_second(language_model.load(bundled("shakespeare"))),
}
print(json.dumps(figures))

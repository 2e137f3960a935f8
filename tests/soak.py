"""A long run of everything that wears a process out: ``python -m tests.soak --seconds 3600``.

Under a limit on its memory, one process does these in random order, and each must leave right answers behind:

    shapes       batches and sizes that change, on the engine and on the layers; the caller writes to inputs and outputs
    threads      several callers of one model, while the number of the engine's threads changes
    models       loaded, pickled, copied and dropped
    operators    one of the exported operator fixtures
    broken       model files and pictures with bytes changed or cut off: a KuiperError, or a model
    interrupts   KeyboardInterrupt at a random moment of a load, a plan or a run
    scarcity     a call with a random, small rest of memory: the right answer, or an OutOfMemoryError
    forks        a child that runs the models on both paths

Every few seconds it drops the plans of the models that stay, and notes what the process then holds:

    in use         bytes that nobody has given back: malloc's own count, and the mappings that kuiper made itself
    resident       bytes of real memory
    Python blocks  memory blocks of Python objects
    files, threads, Python threads

After a warm-up, a fifth of the time, all of these must stay flat. ``--record`` writes the figures for
docs/evidence/reliability.md.

More is resident than is in use: see ``process_memory.keep_no_freed_memory``.
"""

from __future__ import annotations

import resource
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.campaign import Campaign
from tests.process_memory import C_LIBRARY, in_words, keep_no_freed_memory, measure
from tests.soak_acts import Soak

if TYPE_CHECKING:
    from collections.abc import Callable


WAITING = "OMP_WAIT_POLICY"
"""The variable by which the layers' threads sleep while they wait (``passive``): on a busy machine, the acts are many
times quicker then."""


SLACK = {"in use": 4 << 20, "resident": 24 << 20, "python blocks": 20_000}
"""How much more of it there may be at the end than after the warm-up, if not 0: heaps are never quite even."""


def verdict(samples: list[dict[str, int]]) -> list[str]:
    """What grew between the first and the last quarter of the samples, in words; nothing, if all is well."""
    quarter = max(1, len(samples) // 4)
    grown = []
    for name in samples[0]:
        first = max(sample[name] for sample in samples[:quarter])
        last = sorted(sample[name] for sample in samples[-quarter:])[quarter // 2]
        if last > first + SLACK.get(name, 0):
            grown.append(f"{name}: {first:,} at first, {last:,} in the end")
    return grown


def run(soak: Soak, seconds: float, tell: Callable[[str], None]) -> list[dict[str, int]]:
    """Act until the time is over; what was measured after the warm-up."""
    acts = {name.removeprefix("act_"): getattr(soak, name) for name in dir(soak) if name.startswith("act_")}
    began = told = time.monotonic()
    samples: list[dict[str, int]] = []
    while (now := time.monotonic()) < began + seconds:
        name = soak.random.choice(sorted(acts))
        acts[name]()
        soak.counts[name] += 1
        if now - told > min(5, seconds / 40):
            told = now
            soak.drop_plans()
            sample = measure()
            if now - began > seconds / 5:
                samples.append(sample)
            tell(f"{now - began:7.0f} s  {sum(soak.counts[n] for n in acts):7d} acts  {in_words(sample)}")
    soak.drop_plans()
    return [*samples, measure()]


def figures_of(soak: Soak, samples: list[dict[str, int]], limit: int) -> dict[str, Any]:
    """The figures of a run, by what they are."""
    first, last = samples[0], samples[-1]
    return {
        **dict(sorted(soak.counts.items())),
        "limit on the address space, MB": limit >> 20,
        "peak of resident memory, MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10,
        "in use after the warm-up, MB": round(first["in use"] / 2**20, 1),
        "in use in the end, MB": round(last["in use"] / 2**20, 1),
        "resident after the warm-up, MB": first["resident"] >> 20,
        "resident in the end, MB": last["resident"] >> 20,
        **{f"{name} after the warm-up": first[name] for name in ("python blocks", "files", "threads")},
        **{f"{name} in the end": last[name] for name in ("python blocks", "files", "threads")},
        "what grew": "; ".join(verdict(samples)) or "nothing",
    }


NOTES = [
    "Each act must leave right answers to the last bit behind, or the run ends with an error.",
    "In use is malloc's count and the mappings that kuiper made. The rest of what is resident is programs, "
    "Python's own memory, stacks, and what malloc keeps of freed memory.",
]


CAMPAIGN = Campaign("soak", "Soak", __doc__, module="tests.soak", environment=[WAITING])


def main() -> int:
    """Run, print, write; 1 if something grew."""
    parser = CAMPAIGN.parser
    parser.add_argument("--seconds", type=int, default=3600)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--megabytes", type=int, default=3072, help="limit on the address space (default: %(default)s)")
    options = CAMPAIGN.begin()
    if not hasattr(C_LIBRARY, "mallinfo2"):
        parser.error("the soak asks glibc what is in use: expected version 2.33 or later of it")
    limit = options.megabytes << 20
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    keep_no_freed_memory()
    with tempfile.TemporaryDirectory() as folder:
        soak = Soak(options.seed, Path(folder))
        samples = run(soak, options.seconds, lambda line: print(line, flush=True))
    return CAMPAIGN.end(figures_of(soak, samples, limit), NOTES, len(verdict(samples)))


if __name__ == "__main__":
    raise SystemExit(main())

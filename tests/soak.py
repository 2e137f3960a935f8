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

More is resident than is in use: glibc keeps freed memory for the next call, in one heap for each of up to eight
threads per core. Once a program has freed a large array, glibc keeps up to 64 MB at the end of each heap, and
``malloc_trim`` gives back the end of the main heap only. Three callers in ever new threads made 38 MB more resident
within 50 seconds, while 3 MB more were in use. So the soak holds malloc's two thresholds at what they are at first (128
KiB): what is freed is then given back at once, and both figures show a leak.
"""

from __future__ import annotations

import contextlib
import copy
import ctypes
import gc
import mmap
import os
import pickle
import random
import resource
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import kuiper
from kuiper.engine.engine import Engine
from kuiper.engine.runner import Runner
from kuiper.models import bundled, bundled_photo
from kuiper.models.pictures.preprocess import read_image
from tests.campaign import Campaign
from tests.fixtures.operator_files import case_names, graph_file, inputs_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kuiper.graph.runtime_graph import RuntimeGraph

NAMES = case_names()

SHAPES = {
    "cifar_resnet20": [(b, 3, 32, 32) for b in (1, 2, 3, 5, 8, 16)],
    "digits_yolo": [(b, 3, 320, 320) for b in (1, 2)],
}
"""What the models are given."""

CHILD_SECONDS = 900
"""After which a forked child counts as hung. It runs for a second, but a busy machine may pause it for minutes."""


class HeapFigures(ctypes.Structure):
    """What ``mallinfo2`` returns: numbers of bytes and of blocks, of all heaps together."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            "arena",
            "ordblks",
            "smblks",
            "hblks",
            "hblkhd",
            "usmblks",
            "fsmblks",
            "uordblks",
            "fordblks",
            "keepcost",
        )
    ]


C_LIBRARY = ctypes.CDLL(None)
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # of malloc.h
WAITING = "OMP_WAIT_POLICY"
"""The variable by which the layers' threads sleep while they wait (``passive``): on a busy machine, the acts are many
times quicker then."""

BALLAST = 256 << 10
"""Bytes of a piece of the memory that is taken away before a call with little memory."""

CALLERS, MAX_THREADS = 3, 4

SLACK = {"in use": 4 << 20, "resident": 24 << 20, "python blocks": 20_000}
"""How much more of it there may be at the end than after the warm-up, if not 0: heaps are never quite even."""


class WrongAnswerError(Exception):
    """A model gave something else than at the beginning, or a plan keeps more memory than its callers have needed."""


class Soak:
    """The models, what they must answer, and the acts, each a method ``act_NAME``."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.random = random.Random(seed)
        self.folder = folder
        self.shapes = {(name, shape) for name in SHAPES for shape in SHAPES[name]}
        self.models = {
            (name, optimize): kuiper.load(self.path(name), optimize=optimize)
            for name in SHAPES
            for optimize in (False, True)
        }
        self.inputs = {
            (name, shape): np.random.default_rng(len(name) + shape[0]).standard_normal(shape).astype(np.float32)
            for name, shape in sorted(self.shapes)
        }
        self.expected = {
            (name, optimize, shape): arrays(self.models[name, optimize](self.inputs[name, shape]))
            for name, shape in sorted(self.shapes)
            for optimize in (False, True)
        }
        self.counts: Counter[str] = Counter()

    def drop_plans(self) -> None:
        """Drop what the models keep for their next calls: how much that is depends on which calls came together."""
        for (_, optimize), model in self.models.items():
            if optimize:
                drop_plans(model)

    def path(self, name: str) -> Path:
        """The .param file of a bundled model; ``digits_yolo`` lies beside the first."""
        return Path(bundled("cifar_resnet20")).with_name(f"{name}.pnnx.param")

    def check(self, name: str, optimize: bool, model: Any = None, shape: tuple[int, ...] | None = None) -> None:
        """Call a model and compare to the last bit; then write over what the caller owns."""
        shape = shape or self.random.choice(SHAPES[name])
        x = self.inputs[name, shape].copy()
        answer = arrays((model or self.models[name, optimize])(x))
        x[...] = np.nan
        for got, expected in zip(answer, self.expected[name, optimize, shape], strict=True):
            if got.shape != expected.shape or not np.array_equal(got, expected):
                raise WrongAnswerError(f"{name}, optimize={optimize}, {shape}")
            got[...] = np.nan

    def some(self) -> tuple[str, bool]:
        """One of the models; the small one on the engine more often than the others, which take longer."""
        return self.random.choices(
            [("cifar_resnet20", True), ("cifar_resnet20", False), ("digits_yolo", True), ("digits_yolo", False)],
            [8, 3, 3, 1],
        )[0]

    def act_shapes(self) -> None:
        for _ in range(4):
            self.check(*self.some())

    def act_threads(self) -> None:
        name, optimize = self.some()
        shapes = [self.random.choice(SHAPES[name]) for _ in range(6)]
        numbers = [self.random.randint(1, MAX_THREADS) for _ in shapes]

        def call(turn: int) -> None:
            kuiper.set_num_threads(numbers[turn])
            self.check(name, optimize, shape=shapes[turn])

        with ThreadPoolExecutor(CALLERS) as pool:
            list(pool.map(call, range(len(shapes))))

    def act_models(self) -> None:
        name, optimize = self.some()
        model = kuiper.load(self.path(name), optimize=optimize)
        self.check(name, optimize, model)
        for another in (pickle.loads(pickle.dumps(model)), copy.copy(model), copy.deepcopy(model)):
            self.check(name, optimize, another)

    def act_operators(self) -> None:
        name, optimize = self.random.choice(NAMES), self.random.random() < 0.5
        given = inputs_of(name)
        model = kuiper.load(graph_file(name), optimize=optimize)
        first, second = arrays(model(*given)), arrays(model(*given))
        if any(a.tobytes() != b.tobytes() for a, b in zip(first, second, strict=True)):
            raise WrongAnswerError(name)

    def act_broken(self) -> None:
        param = self.folder / "broken.pnnx.param"
        source = graph_file(self.random.choice(NAMES))
        param.write_bytes(self.damaged(source.read_bytes()))
        param.with_suffix(".bin").write_bytes(self.damaged(source.with_suffix(".bin").read_bytes()))
        with contextlib.suppress(kuiper.KuiperError):
            kuiper.load(param)
            self.counts["broken files that made a model"] += 1
        picture = self.folder / "broken.jpg"
        picture.write_bytes(self.damaged(Path(bundled_photo()).read_bytes()))
        with contextlib.suppress(kuiper.KuiperError):
            read_image(picture)
            self.counts["broken pictures that made a picture"] += 1

    def damaged(self, content: bytes) -> bytes:
        """The bytes cut off somewhere, or some of them changed, or as they are."""
        if self.random.random() < 0.3:
            return content[: self.random.randrange(len(content) + 1)]
        damaged = bytearray(content)
        for _ in range(min(self.random.randrange(4), len(damaged))):
            damaged[self.random.randrange(len(damaged))] = self.random.randrange(256)
        return bytes(damaged)

    def act_interrupts(self) -> None:
        name, optimize = self.some()
        model = kuiper.load(self.path(name), optimize=optimize)
        x = self.inputs[name, self.random.choice(SHAPES[name])]

        def load_and_run() -> None:
            kuiper.load(self.path(name), optimize=optimize)
            model(x)

        for _ in range(3):
            came = interrupted_after(10 ** self.random.uniform(-4.5, -1), load_and_run)
            self.counts["interrupts that came in time"] += came
            self.check(name, optimize, model)

    def act_scarcity(self) -> None:
        name, optimize = self.some()
        model = kuiper.load(self.path(name), optimize=optimize)
        large = np.concatenate([self.inputs[name, SHAPES[name][-1]]] * 8)
        with no_more_memory_than(int(10 ** self.random.uniform(5, 8))):
            try:
                model(large)
                self.counts["calls that had enough"] += 1
            except kuiper.OutOfMemoryError:
                self.counts["calls that ran out of memory"] += 1
        self.check(name, optimize, model)

    def act_forks(self) -> None:
        child = os.fork()
        if child == 0:
            try:
                signal.alarm(CHILD_SECONDS)
                for name in SHAPES:
                    self.check(name, True)
                kuiper.set_num_threads(2)
                self.check("cifar_resnet20", False)
            except BaseException:
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code != 0:
            raise WrongAnswerError(f"a forked child ended with {code} (below 0: by that signal)")


def drop_plans(model: RuntimeGraph) -> None:
    """Drop the plans of a model on the engine, of which each may keep the memory of the callers that came together."""
    assert isinstance(model._execution.executor, Engine)
    plans = model._execution.executor._plans
    if any(isinstance(plan, Runner) and len(plan._pool) > CALLERS for plan in plans.values()):
        raise WrongAnswerError(f"a plan keeps memory for more than {CALLERS} callers")
    plans.clear()


def arrays(value: Any) -> list[np.ndarray]:
    """The tensors of a nested answer, as arrays."""
    if isinstance(value, (list, tuple)):
        return [array for item in value for array in arrays(item)]
    return [np.asarray(value)]


def interrupted_after(seconds: float, work: Callable[[], object]) -> bool:
    """Do the work, with a KeyboardInterrupt after this many seconds; whether that came before the end."""
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        work()
        signal.setitimer(signal.ITIMER_REAL, 0)
        return False
    except KeyboardInterrupt:
        return True
    finally:
        signal.signal(signal.SIGALRM, before)


@contextlib.contextmanager
def no_more_memory_than(rest: int) -> Iterator[None]:
    """So many bytes of address space are left within this block."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now, before[1]))
    ballast = []
    try:
        with contextlib.suppress(MemoryError):  # what malloc has kept of the address space would be more than the rest
            while True:
                ballast.append(np.empty(BALLAST, np.uint8))
        resource.setrlimit(resource.RLIMIT_AS, (now + rest, before[1]))
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def keep_no_freed_memory() -> None:
    """Let malloc give back what is freed, from now on."""
    for parameter in (M_TRIM_THRESHOLD, M_MMAP_THRESHOLD):
        C_LIBRARY.mallopt(parameter, 128 << 10)


def measure() -> dict[str, int]:
    """What this process holds now."""
    gc.collect()
    C_LIBRARY.malloc_trim(0)
    count = C_LIBRARY.mallinfo2
    count.restype = HeapFigures
    heap = count()
    mapped = sum(len(kept) for kept in gc.get_objects() if issubclass(type(kept), mmap.mmap) and not kept.closed)
    return {
        "in use": heap.uordblks + heap.hblkhd + mapped,
        "resident": int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize(),
        "python blocks": sys.getallocatedblocks(),
        "files": len(os.listdir("/proc/self/fd")),
        "threads": len(os.listdir("/proc/self/task")),
        "python threads": threading.active_count(),
    }


def in_words(sample: dict[str, int]) -> str:
    """One line of the table."""
    in_use, resident, *others = sample.values()
    words = zip(others, list(sample)[2:], strict=True)
    return "  ".join(
        [f"{in_use / 2**20:6.1f} MB in use", f"{resident >> 20:4d} MB resident", *(f"{n} {name}" for n, name in words)]
    )


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

"""What the soak does, over and over: acts on a few models, each of which must leave right answers behind."""

from __future__ import annotations

import contextlib
import copy
import os
import pickle
import random
import signal
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
from tests.fixtures.operator_files import case_names, graph_file, inputs_of
from tests.process_memory import no_more_memory_than

if TYPE_CHECKING:
    from collections.abc import Callable

    from kuiper.graph.runtime_graph import RuntimeGraph


NAMES = case_names()


SHAPES = {
    "cifar_resnet20": [(b, 3, 32, 32) for b in (1, 2, 3, 5, 8, 16)],
    "digits_yolo": [(b, 3, 320, 320) for b in (1, 2)],
}


"""What the models are given."""


CHILD_SECONDS = 900


"""After which a forked child counts as hung. It runs for a second, but a busy machine may pause it for minutes."""


CALLERS = 3


MAX_THREADS = 4


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

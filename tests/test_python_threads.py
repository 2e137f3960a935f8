"""Several threads of Python's at once, with the GIL and without: each gets what it would get alone.

They begin at a barrier, so that they meet where nothing is made yet: no plan, no packed weights, no worker. Python with
a GIL is made to change threads as often as it can.
"""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import sysconfig
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import kuiper
from kuiper.engine.memory import address, for_weights
from kuiper.layers import Layer, override
from kuiper.models import Predictor, bundled, bundled_photo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[1]
CALLERS = 6


@pytest.fixture(autouse=True)
def settings() -> Iterator[None]:
    """Threads change often; two of the engine's help."""
    interval, threads = sys.getswitchinterval(), kuiper.get_num_threads()
    sys.setswitchinterval(1e-6)
    kuiper.set_num_threads(2)
    yield
    sys.setswitchinterval(interval)
    kuiper.set_num_threads(threads)


def at_once(work: Callable[[int], Any], callers: int = CALLERS) -> list[Any]:
    """What ``work(0)``, ``work(1)``, ... give in threads that begin together; an error of one is raised."""
    barrier = threading.Barrier(callers)

    def begin(caller: int) -> Any:
        barrier.wait(60)
        return work(caller)

    with ThreadPoolExecutor(callers) as pool:
        return list(pool.map(begin, range(callers)))


def picture(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


PICTURES = [picture(i, 1 + i % 3, 3, 32 + 4 * (i // 3), 32) for i in range(12)]  # more shapes than plans are kept
TOKENS = [int(token) for token in np.random.default_rng(1).integers(0, 65, 60)]


def answer(model: Any, x: np.ndarray) -> np.ndarray:
    result = model(x)
    return np.asarray(result[0] if isinstance(result, tuple) else result)


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this Python always has a GIL")
def test_no_compiled_module_turns_the_gil_on() -> None:
    modules = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in (ROOT / "kuiper").rglob("*.pyx")]
    script = f"""
import importlib, sys, kuiper
for name in {modules!r}: importlib.import_module(name)
print(sys._is_gil_enabled())
"""
    command = [sys.executable, "-W", "error", "-c", script]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=110, check=False)
    assert (done.stdout.strip(), done.stderr) == ("False", "")


@pytest.mark.parametrize("optimize", [True, False])
def test_a_model_that_many_threads_call_answers_each_as_if_it_were_alone(optimize: bool) -> None:
    pictures = PICTURES if optimize else PICTURES[:4]  # the layers take long
    kuiper.set_num_threads(2 if optimize else 1)  # OpenMP's spin, and would take the cores from each other
    alone = kuiper.load(bundled("cifar_resnet20"), optimize=optimize)
    expected = [answer(alone, x) for x in pictures]
    model = kuiper.load(bundled("cifar_resnet20"), optimize=optimize)

    def work(caller: int) -> bool:
        order = np.random.default_rng(caller).permutation(len(pictures))
        return all(np.array_equal(answer(model, pictures[i]), expected[i]) for i in [*order, *order])

    assert at_once(work) == [True] * CALLERS


def test_threads_that_need_the_same_plan_at_once_share_one() -> None:
    expected = answer(kuiper.load(bundled("cifar_resnet20")), PICTURES[0])
    for _ in range(5):
        model = kuiper.load(bundled("cifar_resnet20"))
        for got in at_once(lambda _, model=model: answer(model, PICTURES[0])):
            np.testing.assert_array_equal(got, expected)
        engine = kuiper.load(bundled("cifar_resnet20")).execution.executor
        plans = at_once(lambda _, engine=engine: engine.plan_for([PICTURES[0]]))
        assert len({id(plan) for plan in plans}) == 1


def test_weights_that_several_threads_pack_lie_apart() -> None:
    taken = [array for arrays in at_once(lambda _: [for_weights(16) for _ in range(10_000)]) for array in arrays]
    places = np.sort([address(array) for array in taken])
    assert np.diff(places).min() >= taken[0].nbytes


def test_several_models_run_at_the_same_time() -> None:
    shapes = {"cifar_resnet20": (2, 3, 32, 32), "shapes_unet": (1, 3, 64, 96), "digits_yolo": (1, 3, 320, 320)}
    inputs = {name: picture(3, *shape) for name, shape in shapes.items()}
    expected = {name: answer(kuiper.load(bundled(name)), x) for name, x in inputs.items()}
    models = {name: kuiper.load(bundled(name)) for name in inputs}

    def work(caller: int) -> bool:
        names = list(inputs)[caller % 3 :] + list(inputs)[: caller % 3]
        return all(np.array_equal(answer(models[name], inputs[name]), expected[name]) for name in names * 3)

    assert at_once(work) == [True] * CALLERS


def test_models_are_loaded_at_the_same_time() -> None:
    expected = [answer(kuiper.load(bundled("cifar_resnet20"), optimize=fast), PICTURES[0]) for fast in (True, False)]

    def work(caller: int) -> bool:
        for fast in (caller % 2, 1 - caller % 2):
            model = kuiper.load(bundled("cifar_resnet20"), optimize=bool(fast))
            if not np.array_equal(answer(model, PICTURES[0]), expected[1 - fast]):
                return False
        return True

    for _ in range(3):
        assert at_once(work) == [True] * CALLERS


def test_copies_are_made_while_the_model_runs() -> None:
    model = kuiper.load(bundled("cifar_resnet20"))
    expected = [answer(model, x) for x in PICTURES]

    def work(caller: int) -> bool:
        ways: list[Callable[[Any], Any]] = [lambda model: model, copy.copy, copy.deepcopy]
        ways.append(lambda model: pickle.loads(pickle.dumps(model)))
        mine = ways[caller % len(ways)](model)
        return all(np.array_equal(answer(mine, x), want) for x, want in zip(PICTURES, expected, strict=True))

    assert at_once(work) == [True] * CALLERS


def test_sessions_of_a_fresh_model_in_many_threads_give_the_bits_that_they_give_alone() -> None:
    def text(model: Any, caller: int) -> np.ndarray:
        session, rows, place = model.start(max_length=64), [], 0
        for count in (1 + caller, 1, 1, 9 - caller, 1, 16, 1):  # other lengths in each thread: other plans
            rows.append(np.asarray(session(TOKENS[place : place + count])))
            place += count
        other = session.fork()
        session.rewind(3)
        return np.concatenate([*rows, np.asarray(other([5])), np.asarray(session(TOKENS[3:8]))])

    expected = [text(kuiper.load(bundled("shakespeare")), caller) for caller in range(CALLERS)]
    for _ in range(3):
        model = kuiper.load(bundled("shakespeare"))
        for got, want in zip(at_once(lambda caller, model=model: text(model, caller)), expected, strict=True):
            np.testing.assert_array_equal(got, want)


def test_forks_of_one_session_in_many_threads_give_the_bits_that_they_give_alone() -> None:
    model = kuiper.load(bundled("shakespeare"))

    def text(session: Any, caller: int) -> np.ndarray:
        other = session.fork()
        rows = [np.asarray(session([caller, 1])), np.asarray(other([caller, 2]))]
        session.rewind(30)
        return np.concatenate([*rows, np.asarray(session([caller]))])

    for _ in range(3):
        forks = []
        for _ in range(2):  # those that run together share the caches; the first to go on copies them
            session = model.start(max_length=64)
            session.read(TOKENS[:33])
            forks.append([session.fork() for _ in range(CALLERS)])
        alone = [text(fork, caller) for caller, fork in enumerate(forks[0])]
        for got, want in zip(at_once(lambda caller, forks=forks[1]: text(forks[caller], caller)), alone, strict=True):
            np.testing.assert_array_equal(got, want)


def test_threads_that_share_a_session_wait_for_their_turn() -> None:
    model = kuiper.load(bundled("shakespeare"))
    session = model.start(max_length=200)

    def work(caller: int) -> list[int]:
        return [len(np.asarray(session([caller] * (1 + turn % 3)))) for turn in range(12)]

    lengths = at_once(work)
    assert session.length == sum(map(sum, lengths)) == CALLERS * 24


def test_an_override_is_not_seen_by_threads_that_were_there_before() -> None:
    class Nothing(Layer):
        def forward(self, x: np.ndarray) -> np.ndarray:
            return np.zeros_like(x)

    def work(caller: int) -> bool:
        good = True
        for _ in range(20):
            if caller % 2:
                with override("nn.ReLU", Nothing):
                    good &= not kuiper.layers.registry.is_built_in("nn.ReLU")
            else:
                good &= kuiper.layers.registry.is_built_in("nn.ReLU")
        return good

    assert at_once(work) == [True] * CALLERS


def test_predictors_of_one_file_share_a_model_whoever_loads_it_first(tmp_path: Path) -> None:
    param = tmp_path / "net.pnnx.param"
    for suffix in (".pnnx.param", ".pnnx.bin", ".json"):
        found = bundled("cifar_resnet20").with_name(f"cifar_resnet20{suffix}")
        (tmp_path / f"net{suffix}").write_bytes(found.read_bytes())
    predictors = at_once(lambda _: Predictor(param, top=1))
    assert len({id(predictor.load()) for predictor in predictors}) == 1
    photo = bundled_photo()
    assert {str(predictor(photo)) for predictor in at_once(lambda i: predictors[i])} == {str(predictors[0](photo))}

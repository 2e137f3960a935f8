"""Calls from many threads: joined where that changes no bit, and strangers to each other's errors."""

from __future__ import annotations

import time
from concurrent.futures import wait
from threading import Event
from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy as np
import pytest

import kuiper
from kuiper.errors import ParameterError
from kuiper.models import bundled
from kuiper.serving.dynamic_batcher import DynamicBatcher

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kuiper.serving.row_wise import Array

WAIT = 60.0
LONG = 30.0  # seconds of delay that no test waits for


class Model:
    """Doubles its input, and can be held in the middle of a call; it knows how many rows each call had."""

    def __init__(self, run: Callable[..., list[Array]] = lambda x: [2 * x]) -> None:
        self.sizes: list[int] = []
        self.may_go, self.has_come = Event(), Event()
        self.may_go.set()
        self._run = run

    def __call__(self, *inputs: Array) -> list[Array]:
        self.has_come.set()
        assert self.may_go.wait(WAIT)
        self.sizes.append(len(inputs[0]))
        return self._run(*inputs)


@pytest.fixture
def model() -> Model:
    return Model()


@pytest.fixture
def batcher(model: Model) -> Iterator[DynamicBatcher]:
    batcher = DynamicBatcher(model, most=8, delay=0)
    yield batcher
    model.may_go.set()
    batcher.stop()


def rows(*numbers: float) -> Array:
    return np.float32([[number] for number in numbers])


def held(model: Model, batcher: DynamicBatcher) -> Any:
    """A call that the model is busy with, so that others have to wait."""
    model.has_come.clear()
    model.may_go.clear()
    first = batcher.submit(rows(0))
    assert model.has_come.wait(WAIT)
    return first


def test_calls_that_wait_run_as_one_batch_and_get_their_own_rows(model: Model, batcher: DynamicBatcher) -> None:
    first = held(model, batcher)
    others = [batcher.submit(rows(*range(k, 2 * k))) for k in (1, 2, 3)]
    model.may_go.set()
    assert [future.result(WAIT)[0].ravel().tolist() for future in others] == [[2], [4, 6], [6, 8, 10]]
    assert first.result(WAIT)[0].tolist() == [[0]]
    assert model.sizes == [1, 1, 1, 2, 8]  # three calls find out whether rows are strangers; six rows are filled up
    assert (batcher.runs, batcher.rows) == (2, 7)


def test_a_batch_that_is_full_waits_for_nobody(model: Model) -> None:
    batcher = DynamicBatcher(model, most=4, delay=LONG)
    futures = [batcher.submit(rows(k)) for k in range(8)]
    assert not wait(futures, WAIT).not_done
    assert model.sizes[3:] == [4, 4]
    batcher.stop()


def test_calls_wait_for_others_for_a_while(model: Model) -> None:
    batcher = DynamicBatcher(model, most=8, delay=0.2)
    futures = [batcher.submit(rows(k)) for k in range(3)]
    assert [future.result(WAIT)[0].item() for future in futures] == [0, 2, 4]
    assert model.sizes == [1, 1, 2, 4]
    batcher.stop()


def test_stop_waits_for_nobody(model: Model) -> None:
    batcher = DynamicBatcher(model, most=8, delay=LONG)
    future = batcher.submit(rows(1))
    batcher.stop()
    assert future.result(0)[0].item() == 2
    with pytest.raises(ParameterError, match="a batcher that runs, got one that was stopped"):
        batcher.submit(rows(1))


def test_stop_can_give_up_what_waits(model: Model, batcher: DynamicBatcher) -> None:
    first = held(model, batcher)
    second = batcher.submit(rows(1))
    stopped = Event()
    second.add_done_callback(lambda _: (model.may_go.set(), stopped.set()))  # type: ignore[func-returns-value]
    batcher.stop(finish=False)
    assert stopped.is_set()
    assert isinstance(second.exception(), ParameterError)
    assert first.result(WAIT)[0].item() == 0


def test_unlike_calls_run_apart(model: Model, batcher: DynamicBatcher) -> None:
    held(model, batcher)
    calls = [rows(1), np.float64([[2]]), np.float32([[1, 2]]), rows(3), np.float64([[4]])]
    futures = [batcher.submit(call) for call in calls]
    model.may_go.set()
    for call, future in zip(calls, futures, strict=True):
        (found,) = future.result(WAIT)
        assert np.array_equal(found, 2 * call)
        assert found.dtype == call.dtype
    assert batcher.runs == 4


def test_what_has_no_rows_runs_alone() -> None:
    batcher = DynamicBatcher(lambda *inputs: [inputs[0].sum() + inputs[1].sum()], delay=0.05)
    calls = [(np.float32(1), np.float32(2)), (rows(1, 2), rows(3)), (np.zeros((0, 1), np.float32), rows(3)[:0])] * 2
    futures = [batcher.submit(*call) for call in calls]
    assert [float(future.result(WAIT)[0]) for future in futures] == [3, 6, 0, 3, 6, 0]
    assert batcher.runs == 6
    batcher.stop()


def test_calls_that_the_model_refuses_do_not_decide_for_those_that_come_later() -> None:
    def one_column(x: Array) -> list[Array]:
        if x.shape[1] != 1:
            raise ValueError("columns")
        return [x]

    batcher = DynamicBatcher(one_column, most=2, delay=LONG)
    bad = [batcher.submit(np.ones((1, 2), np.float32)) for _ in range(2)]
    assert all(isinstance(future.exception(WAIT), ValueError) for future in bad)
    good = [batcher.submit(rows(k)) for k in range(2)]
    assert [future.result(WAIT)[0].item() for future in good] == [0, 1]
    assert batcher.runs == 1
    batcher.stop()


def test_rows_that_know_each_other_are_never_joined() -> None:
    batcher = DynamicBatcher(lambda x: [x - x.mean(0)], delay=0.05)
    futures = [batcher.submit(rows(1, 3)) for _ in range(4)]
    assert [future.result(WAIT)[0].ravel().tolist() for future in futures] == [[-1, 1]] * 4
    batcher.stop()


def test_an_error_is_that_of_its_call_alone() -> None:
    def root(x: Array) -> list[Array]:
        if (x == 7).any():
            raise ValueError("seven")
        return [x + 1]

    batcher = DynamicBatcher(root, most=8, delay=0.05)
    futures = [batcher.submit(rows(k)) for k in range(5, 10)]
    assert [str(future.exception(WAIT) or future.result()[0].item()) for future in futures] == [
        "6.0", "7.0", "seven", "9.0", "10.0",
    ]  # fmt: skip
    assert batcher.submit(rows(1)).result(WAIT)[0].item() == 2
    batcher.stop()


def test_a_call_can_be_cancelled_until_it_runs(model: Model, batcher: DynamicBatcher) -> None:
    first = held(model, batcher)
    second, third = batcher.submit(rows(1)), batcher.submit(rows(2))
    assert batcher.waiting == 2
    assert second.cancel()
    assert batcher.waiting == 1  # its arrays are let go at once
    assert not first.cancel()
    model.may_go.set()
    assert third.result(WAIT)[0].item() == 4
    assert model.sizes == [1, 1]


def test_a_call_that_is_cancelled_while_it_waits_for_others_leaves_the_batcher_at_work(model: Model) -> None:
    batcher = DynamicBatcher(model, most=2, delay=LONG)
    assert batcher.submit(rows(1)).cancel()
    futures = [batcher.submit(rows(k)) for k in range(2)]
    assert [future.result(WAIT)[0].item() for future in futures] == [0, 2]
    batcher.stop()


def test_arrays_of_calls_that_have_run_are_let_go(batcher: DynamicBatcher) -> None:
    arrays = [rows(k) for k in range(3)]
    kept = [ref(array) for array in arrays]
    futures = [batcher.submit(array) for array in arrays]
    assert not wait(futures, WAIT).not_done
    arrays.clear()
    until = time.monotonic() + WAIT
    while any(one() is not None for one in kept):  # the thread is on its way back to sleep
        assert time.monotonic() < until


def test_a_batch_has_the_bits_of_each_call_alone() -> None:
    graph = kuiper.load(bundled("cifar_resnet20"))
    generator = np.random.default_rng(3)
    calls = [generator.standard_normal((1 + k % 3, 3, 32, 32)).astype(np.float32) for k in range(7)]
    batcher = DynamicBatcher(lambda x: [graph.forward(x)], most=16, delay=0.5)
    futures = [batcher.submit(call) for call in calls]
    for call, future in zip(calls, futures, strict=True):
        assert future.result(WAIT)[0].tobytes() == graph.forward(call).tobytes()
    assert (batcher.runs, batcher.rows) == (1, 13)
    batcher.stop()


@pytest.mark.parametrize(("most", "delay"), [(0, 0.0), (4, -1.0), (4, float("nan"))])
def test_batcher_says_what_it_needs(most: int, delay: float) -> None:
    with pytest.raises(ParameterError, match="batch: expected"):
        DynamicBatcher(lambda x: [x], most=most, delay=delay)

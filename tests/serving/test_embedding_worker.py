"""The thread that encodes: jobs that wait together, cancelled ones, models and listeners that fail."""

from __future__ import annotations

from queue import Queue
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from kuiper.errors import ParameterError
from kuiper.models.text.embedding_model import CALL_TOKENS
from kuiper.serving.embedding_worker import EmbeddingWorker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

WAIT = 60.0  # seconds, after which a test that hangs fails


class Gate:
    """A model that begins with a call only when it is let, and remembers its calls."""

    width = 2

    def __init__(self) -> None:
        self.calls: list[list[list[int]]] = []
        self.begun: Queue[int] = Queue()
        self.opened: Queue[Exception | None] = Queue()

    def vectors(self, tokens: Sequence[Sequence[int]]) -> np.ndarray:
        self.calls.append([list(text) for text in tokens])
        self.begun.put(len(tokens))
        error = self.opened.get(timeout=WAIT)
        if error is not None:
            raise error
        return np.array([[sum(text), len(text)] for text in tokens], np.float32)

    def let(self, error: Exception | None = None) -> None:
        """Wait for a call, and let it end, or fail."""
        self.begun.get(timeout=WAIT)
        self.opened.put(error)


@pytest.fixture
def model() -> Gate:
    return Gate()


@pytest.fixture
def worker(model: Any) -> Iterator[EmbeddingWorker]:
    worker = EmbeddingWorker(model)
    yield worker
    worker.stop(finish=False)
    assert worker.waiting == 0


@pytest.fixture
def ask(worker: EmbeddingWorker) -> Callable[..., Queue[Any]]:
    def ask(*texts: list[int]) -> Queue[Any]:
        answers: Queue[Any] = Queue()
        worker.submit(texts, answers.put)
        return answers

    return ask


def test_jobs_that_wait_together_are_one_call(model: Gate, ask: Any) -> None:
    first = ask([1])
    model.begun.get(timeout=WAIT)
    others = [ask([2, 2], [3]), ask([4])]
    model.opened.put(None)
    model.let()
    assert first.get(timeout=WAIT).tolist() == [[1, 1]]
    assert [one.get(timeout=WAIT).tolist() for one in others] == [[[4, 2], [3, 1]], [[4, 1]]]
    assert model.calls[1] == [[2, 2], [4], [3]]  # of each job in turn


def test_a_job_of_many_texts_keeps_no_small_one_waiting(model: Gate, ask: Any) -> None:
    large = ask(*[[1] * CALL_TOKENS] * 5)
    model.begun.get(timeout=WAIT)
    small = ask([7])
    model.opened.put(None)
    for _ in range(2):
        model.let()
    assert small.get(timeout=WAIT).tolist() == [[7, 1]]
    assert large.empty()
    for _ in range(3):
        model.let()
    assert len(large.get(timeout=WAIT)) == 5


def test_a_call_is_bounded_but_a_long_text_has_one(model: Gate, ask: Any) -> None:
    answers = ask([1] * (CALL_TOKENS + 1), [2] * 100, [3] * (CALL_TOKENS - 100), [4])
    for _ in range(3):
        model.let()
    answers.get(timeout=WAIT)
    assert [[len(text) for text in call] for call in model.calls] == [[CALL_TOKENS + 1], [100, CALL_TOKENS - 100], [1]]


def test_a_model_that_fails_ends_the_jobs_of_the_call_alone(model: Gate, ask: Any) -> None:
    failing = ask([1] * CALL_TOKENS, [2])
    model.begun.get(timeout=WAIT)
    other, error = ask([3]), MemoryError("none left")
    model.opened.put(error)
    assert failing.get(timeout=WAIT) is error
    model.let()
    assert other.get(timeout=WAIT).tolist() == [[3, 1]]
    assert failing.empty()
    assert len(model.calls) == 2  # the rest of the job that has failed is not tried


def test_a_cancelled_job_is_not_begun(worker: EmbeddingWorker, model: Gate, ask: Any) -> None:
    first = ask([1])
    model.begun.get(timeout=WAIT)
    answers: Queue[Any] = Queue()
    worker.cancel(worker.submit([[2]], answers.put))
    last = ask([3])
    model.opened.put(None)
    model.let()
    assert last.get(timeout=WAIT).tolist() == [[3, 1]]
    assert not first.empty()
    assert answers.empty()


def test_a_listener_that_raises_is_no_affair_of_others(worker: EmbeddingWorker, model: Gate, ask: Any) -> None:
    def raises(result: object) -> None:
        raise RuntimeError("the loop is closed")

    worker.submit([[1]], raises)
    model.let()
    answers = ask([2])
    model.let()
    assert answers.get(timeout=WAIT).tolist() == [[2, 1]]


@pytest.mark.parametrize("finish", [True, False])
def test_stop_finishes_what_waits_or_gives_it_up(model: Any, finish: bool) -> None:
    worker, answers = EmbeddingWorker(model), Queue[Any]()
    worker.submit([[1] * CALL_TOKENS, [2]], answers.put)
    model.begun.get(timeout=WAIT)
    for _ in range(2):
        model.opened.put(None)
    worker.stop(finish=finish)
    answer = answers.get(timeout=WAIT)
    if finish:
        assert len(answer) == 2
    else:
        assert isinstance(answer, ParameterError)
    with pytest.raises(ParameterError, match="a worker that runs, got one that was stopped"):
        worker.submit([[1]], answers.put)


def test_submit_needs_a_text(worker: EmbeddingWorker) -> None:
    with pytest.raises(ParameterError, match="at least one text, got none"):
        worker.submit([], print)

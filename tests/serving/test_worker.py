"""The thread of an engine: texts from many threads, cancelled ones, models and listeners that fail."""

from __future__ import annotations

from queue import Queue
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING

import pytest

from kuiper.errors import ParameterError
from kuiper.models import bundled
from kuiper.models.text import language_model
from kuiper.models.text.generation import Generation
from kuiper.models.text.sampling import Sampler
from kuiper.serving import BatchEngine, Part, TextRequest, Worker

if TYPE_CHECKING:
    from collections.abc import Iterator

WAIT = 60.0  # seconds, after which a test that hangs fails


@pytest.fixture(scope="module")
def model() -> language_model.LanguageModel:
    return language_model.load(bundled("shakespeare"))


@pytest.fixture
def worker(model: language_model.LanguageModel) -> Iterator[Worker]:
    worker = Worker(BatchEngine(model.graph, pages=32, max_length=model.context))
    yield worker
    worker.stop(finish=False)
    assert worker.engine.batch.pool.in_use == 0
    assert not worker.engine.has_work
    assert not worker._texts


def text_of(model: language_model.LanguageModel, seed: int, max_tokens: int = 30, **more: object) -> TextRequest:
    prompt = model.vocabulary.encode("ROMEO:")
    return TextRequest(model.vocabulary, prompt, Sampler(seed=seed), max_tokens=max_tokens, **more)  # type: ignore[arg-type]


def rest(parts: Queue[Part]) -> list[Part]:
    """All parts up to the last one."""
    found = [parts.get(timeout=WAIT)]
    while not found[-1].end:
        found.append(parts.get(timeout=WAIT))
    return found


def test_texts_of_many_threads_are_those_of_a_generation(model: language_model.LanguageModel, worker: Worker) -> None:
    found: dict[int, str] = {}

    def ask(seed: int) -> None:
        parts: Queue[Part] = Queue()
        worker.submit(text_of(model, seed), parts.put)
        found[seed] = "".join(part.piece for part in rest(parts))

    threads = [Thread(target=ask, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT)
    prompt = model.vocabulary.encode("ROMEO:")
    assert found == {seed: "".join(Generation(model, prompt, Sampler(seed=seed), max_tokens=30)) for seed in range(6)}


def test_a_worker_with_nothing_to_do_plans_steps(worker: Worker) -> None:
    until = monotonic() + WAIT
    while worker.engine._unplanned:
        assert monotonic() < until
    assert not worker.engine.has_work


def test_cancel_from_another_thread_ends_a_text(model: language_model.LanguageModel, worker: Worker) -> None:
    parts: Queue[Part] = Queue()
    text = text_of(model, 0, max_tokens=200)
    worker.submit(text, parts.put)
    parts.get(timeout=WAIT)
    worker.cancel(text)
    last = rest(parts)[-1]
    assert last.end == "cancelled"
    worker.cancel(text)  # again: nothing to do
    again: Queue[Part] = Queue()
    worker.submit(text_of(model, 1, max_tokens=2), again.put)
    assert rest(again)[-1].end == "length"


def test_a_model_that_fails_fails_the_texts_in_the_step_alone(
    model: language_model.LanguageModel, worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    step, broken = worker.engine.batch.step, Event()
    broken.set()

    def fails(pieces: object) -> object:
        if broken.is_set():
            raise MemoryError("of the model")
        return step(pieces)  # type: ignore[arg-type]

    monkeypatch.setattr(worker.engine.batch, "step", fails)
    parts: Queue[Part] = Queue()
    worker.submit(text_of(model, 0), parts.put)
    (last,) = rest(parts)
    assert (last.end, str(last.error)) == ("failed", "of the model")
    broken.clear()
    worker.submit(text_of(model, 1), parts.put)
    assert rest(parts)[-1].end == "length"


def test_a_listener_that_raises_gets_no_more(model: language_model.LanguageModel, worker: Worker) -> None:
    heard: list[Part] = []

    def raises(part: Part) -> None:
        heard.append(part)
        raise RuntimeError("gone")

    parts: Queue[Part] = Queue()
    text = text_of(model, 0, max_tokens=200)
    worker.submit(text, raises)
    worker.submit(text_of(model, 1), parts.put)
    assert rest(parts)[-1].end == "length"
    assert text.request.end == "cancelled"
    assert (len(heard), text.tokens) == (1, 1)


def test_a_prompt_that_is_too_long_fails_alone(model: language_model.LanguageModel, worker: Worker) -> None:
    parts: Queue[Part] = Queue()
    long = TextRequest(model.vocabulary, [1] * (worker.engine.capacity + 1), Sampler(), max_tokens=1)
    worker.submit(long, parts.put)
    (last,) = rest(parts)
    assert "a prompt of at most 256 tokens, got 257" in str(last.error)


def test_a_stop_string_frees_the_pages(model: language_model.LanguageModel, worker: Worker) -> None:
    parts: Queue[Part] = Queue()
    worker.submit(text_of(model, 2, max_tokens=240, stop=["e"]), parts.put)
    assert rest(parts)[-1].end == "stop"
    worker.stop()
    assert worker.engine.batch.pool.in_use == 0


def test_a_tokenizer_that_fails_ends_its_text_alone(
    model: language_model.LanguageModel, worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(token: int) -> str:
        raise ZeroDivisionError("of its own")

    class Decoder:
        piece = staticmethod(fails)

        def rest(self) -> str:
            return ""

    bad, good = text_of(model, 0, max_tokens=100), text_of(model, 1)
    monkeypatch.setattr(bad, "_decoder", Decoder())
    parts: Queue[Part] = Queue()
    others: Queue[Part] = Queue()
    worker.submit(bad, parts.put)
    worker.submit(good, others.put)
    (last,) = rest(parts)
    assert (last.end, str(last.error)) == ("failed", "of its own")
    assert rest(others)[-1].end == "length"


def test_stop_finishes_what_runs_and_takes_nothing_new(model: language_model.LanguageModel) -> None:
    worker = Worker(BatchEngine(model.graph, pages=32, max_length=model.context))
    parts: Queue[Part] = Queue()
    for seed in range(3):
        worker.submit(text_of(model, seed), parts.put)
    worker.stop()
    ends = [part.end for part in list(parts.queue) if part.end]
    assert ends == ["length"] * 3
    with pytest.raises(ParameterError, match="expected a worker that runs, got one that was stopped"):
        worker.submit(text_of(model, 0), parts.put)


def test_stop_gives_up_what_runs_if_it_is_not_to_finish(model: language_model.LanguageModel) -> None:
    worker = Worker(BatchEngine(model.graph, pages=32, max_length=model.context))
    parts: Queue[Part] = Queue()
    worker.submit(text_of(model, 0, max_tokens=249), parts.put)
    parts.get(timeout=WAIT)
    worker.stop(finish=False)
    assert [part.end for part in list(parts.queue) if part.end] == ["cancelled"]

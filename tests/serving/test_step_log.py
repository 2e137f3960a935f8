"""The log of steps says what the engine did."""

from __future__ import annotations

import pytest

from kuiper.models import bundled
from kuiper.models.text import language_model
from kuiper.models.text.sampling import Sampler
from kuiper.serving import BatchEngine, Request
from kuiper.serving.step_log import KEPT


@pytest.mark.parametrize("guesses", [0, 4])
def test_the_log_counts_rows_tokens_and_pages(guesses: int) -> None:
    model = language_model.load(bundled("shakespeare"))
    engine = BatchEngine(model.graph, pages=16, page_size=16, guesses=guesses, step_tokens=32)
    prompt = model.vocabulary.encode("to be or not to be or not to be or not to be")
    requests = [Request(prompt, Sampler(temperature=0), max_tokens=60) for _ in range(3)]
    engine.submit(requests[0])
    while engine.has_work:
        engine.step()
    assert engine.found == 0
    for request in requests[1:]:
        engine.submit(request)
    while engine.has_work:
        engine.step()
    log = engine.log
    steps = log.since(0)
    assert engine.found == 64  # two whole pages of the same prompt, twice
    assert [request.found for request in requests] == [0, 32, 32]
    assert log.tokens == sum(len(request.tokens) for request in requests) == 180
    assert log.prompt + engine.found == 3 * (len(prompt) - 1)
    assert sum(step.drawn + step.right for step in steps) == 180
    assert sum(step.prompt for step in steps) == log.prompt
    assert [step.number for step in steps] == [*range(1, log.steps + 1)]
    assert all(step.prompt + step.drawn + step.guessed <= 32 for step in steps)
    assert any(step.right for step in steps) == bool(guesses)
    assert (steps[0].running, max(step.running for step in steps), steps[-1].running, steps[-1].pages) == (1, 2, 0, 0)
    assert steps[0].pages > 0
    assert log.since(log.steps - 1) == steps[-1:]


def test_the_log_keeps_the_last_steps() -> None:
    model = language_model.load(bundled("shakespeare"))
    engine = BatchEngine(model.graph, pages=16)
    engine.submit(Request([1], Sampler(), max_tokens=KEPT - 6))
    engine.submit(Request([1], Sampler(), max_tokens=KEPT - 6))
    while engine.has_work:
        engine.step()
    engine.submit(Request([1], Sampler(), max_tokens=20))
    while engine.has_work:
        engine.step()
    steps = engine.log.since(0)
    assert len(steps) == KEPT
    assert steps[-1].number == engine.log.steps == KEPT + 14

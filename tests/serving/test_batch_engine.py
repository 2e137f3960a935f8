"""The loop of a server: nobody's answer depends on the company, nobody starves, no page leaks."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import numpy as np
import pytest

from kuiper.errors import ParameterError
from kuiper.models.text.sampling import Sampler
from kuiper.serving import BatchEngine, Request
from tests.batches import model_of, tokens_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from kuiper.graph import RuntimeGraph
    from kuiper.serving.request import Draws


@pytest.fixture(scope="module")
def model() -> RuntimeGraph:
    return model_of()


def finish(engine: BatchEngine, requests: Sequence[Request] = ()) -> list[int]:
    """Submit these and step until nothing is left; how many tokens each step drew."""
    for request in requests:
        engine.submit(request)
    counts = []
    while engine.has_work:
        counts.append(sum(len(drawn.tokens) for drawn in engine.step()))
        assert len(counts) < 5000
    return counts


def random_requests(seed: int, count: int, longest: int = 60) -> list[Request]:
    rng = np.random.default_rng(seed)
    shared = tokens_of(99, 40)
    return [
        Request(
            [*shared[: int(rng.integers(0, 41))], *tokens_of(seed + k, int(rng.integers(1, longest)))],
            Sampler(seed=k, temperature=float(rng.choice([0, 1]))),
            max_tokens=int(rng.integers(1, 30)),
            ends=frozenset({int(rng.integers(0, 32))}),
        )
        for k in range(count)
    ]


def test_answers_do_not_depend_on_the_company(model: RuntimeGraph) -> None:
    alone = random_requests(7, 24)
    for request in alone:
        finish(BatchEngine(model, pages=16, page_size=16, max_length=144), [request])
    for pages, step_tokens, guesses in ((200, 64, 0), (40, 16, 0), (12, 24, 0), (40, 64, 4), (12, 24, 2)):
        engine = BatchEngine(model, pages=pages, page_size=16, max_length=144, step_tokens=step_tokens, guesses=guesses)
        together = random_requests(7, 24)
        finish(engine, together)
        assert [one.tokens for one in together] == [one.tokens for one in alone]
        assert [one.end for one in together] == [one.end for one in alone]
        assert engine.batch.pool.in_use == 0


def test_requests_are_put_back_when_pages_run_out(model: RuntimeGraph) -> None:
    engine = BatchEngine(model, pages=5, page_size=16, max_length=80)
    requests = [Request(tokens_of(k, 14), Sampler(seed=k), max_tokens=50) for k in range(3)]
    finish(engine, requests)
    assert [len(request.tokens) for request in requests] == [50, 50, 50]
    assert requests[0].put_back == 0
    assert requests[2].put_back > 0  # the youngest
    assert engine.batch.pool.in_use == 0


def test_those_who_write_go_on_while_a_long_prompt_is_read(model: RuntimeGraph) -> None:
    engine = BatchEngine(model, pages=64, page_size=16, max_length=512, step_tokens=16)
    writer = Request([1], Sampler(seed=0), max_tokens=200)
    engine.submit(writer)
    engine.step()
    reader = Request(tokens_of(0, 400), Sampler(seed=0), max_tokens=1)
    engine.submit(reader)
    while not reader.end:
        before = len(writer.tokens)
        engine.step()
        assert len(writer.tokens) == before + 1


def test_a_short_prompt_does_not_wait_for_a_long_one(model: RuntimeGraph) -> None:
    engine = BatchEngine(model, pages=64, page_size=16, max_length=512, step_tokens=16)
    long = Request(tokens_of(0, 400), Sampler(seed=0), max_tokens=1)
    short = Request(tokens_of(1, 12), Sampler(seed=0), max_tokens=1)
    engine.submit(long)
    engine.submit(short)
    for _ in range(3):
        engine.step()
    assert short.end == "length"
    assert not long.end


def sizes_of_turns(requests: Sequence[Request], budget: int) -> list[int]:
    """How many tokens each has in the next step, of those that join at once; the scheduler is asked alone."""
    engine = BatchEngine(model_of(), pages=256, page_size=16, max_length=1024, step_tokens=budget)
    for request in requests:
        engine.submit(request)
    found = dict.fromkeys(requests, 0)
    found |= {turn.request: turn.size for turn in engine._scheduler.turns()}
    return list(found.values())


def test_the_first_prompt_has_half_and_the_shortest_the_rest() -> None:
    def asked(length: int) -> Request:
        return Request(tokens_of(length, length), Sampler(seed=0), max_tokens=2)

    assert sizes_of_turns([asked(200), asked(100), asked(10), asked(30)], 60) == [30, 0, 10, 20]
    assert sizes_of_turns([asked(20), asked(100), asked(200)], 60) == [20, 40, 0]
    assert sizes_of_turns([asked(200), asked(10)], 60) == [50, 10]
    assert sizes_of_turns([asked(200)], 61) == [61]
    assert sizes_of_turns([asked(200), asked(100)], 1) == [1, 0]
    assert sizes_of_turns([asked(20), asked(30)], 60) == [20, 30]


def test_a_few_who_write_have_smaller_steps(model: RuntimeGraph) -> None:
    for writers, rows in ((0, 48), (1, 32), (16, 32), (17, 48)):
        engine = BatchEngine(model, pages=256, page_size=16, max_length=1024, step_tokens=48)
        for k in range(writers):
            engine.submit(Request([k + 1], Sampler(seed=k), max_tokens=9))
        engine.step() if writers else None
        engine.submit(Request(tokens_of(0, 400), Sampler(seed=0), max_tokens=1))
        assert sum(turn.size for turn in engine._scheduler.turns()) == rows


def test_a_step_draws_for_all_who_have_read(model: RuntimeGraph) -> None:
    engine = BatchEngine(model, pages=64, page_size=16)
    counts = finish(engine, [Request([k + 1], Sampler(seed=k), max_tokens=6) for k in range(8)])
    assert counts == [8] * 6


def test_priority_goes_first_and_equals_keep_their_order(model: RuntimeGraph) -> None:
    engine = BatchEngine(model, pages=2, page_size=16, max_length=32)  # one at a time
    priorities = (1, 1, 0, 1, 0)
    requests = [Request(tokens_of(k, 20), Sampler(seed=k), max_tokens=2, priority=p) for k, p in enumerate(priorities)]
    ended: list[Request] = []
    for request in requests:
        engine.submit(request)
    while engine.has_work:
        ended += [drawn.request for drawn in engine.step() if drawn.request.end]
    assert [requests.index(request) for request in ended] == [2, 4, 0, 1, 3]


def test_nobody_waits_for_ever(model: RuntimeGraph) -> None:
    """A request with a long prompt, while short ones of its priority keep coming."""
    engine = BatchEngine(model, pages=6, page_size=16, max_length=96)
    long = Request(tokens_of(0, 90), Sampler(seed=0), max_tokens=2)
    engine.submit(Request([1], Sampler(seed=0), max_tokens=20))
    engine.submit(long)
    for k in range(60):
        engine.submit(Request([k % 32], Sampler(seed=k), max_tokens=20))
        engine.step()
    assert long.end == "length"


def test_cancel_frees_pages_at_once(model: RuntimeGraph) -> None:
    engine = BatchEngine(model, pages=8, page_size=16)
    request = Request(tokens_of(0, 40), Sampler(seed=0), max_tokens=50)
    engine.submit(request)
    engine.step()
    assert engine.batch.pool.in_use == 3
    engine.cancel(request)
    assert (engine.batch.pool.in_use, request.end) == (0, "cancelled")
    assert [(drawn.request, drawn.tokens) for drawn in engine.step()] == [(request, [])]
    engine.cancel(request)  # again: nothing to do
    assert not engine.has_work


def test_a_deadline_ends_a_request_wherever_it_is(model: RuntimeGraph) -> None:
    now = [0.0]
    engine = BatchEngine(model, pages=2, page_size=16, max_length=32, clock=lambda: now[0])
    running = Request(tokens_of(0, 20), Sampler(seed=0), max_tokens=10, deadline=2.0)
    waiting = Request(tokens_of(1, 20), Sampler(seed=0), max_tokens=10, deadline=1.0)
    for request in (running, waiting):
        engine.submit(request)
    engine.step()
    now[0] = 1.5
    engine.step()
    assert (waiting.end, running.end) == ("deadline", "")
    now[0] = 2.0
    engine.step()
    assert (running.end, len(running.tokens), engine.batch.pool.in_use) == ("deadline", 2, 0)


def test_a_sampler_that_fails_ends_its_request_alone(model: RuntimeGraph) -> None:
    def fails(scores: object, text: object) -> int:
        raise ZeroDivisionError("of its own")

    engine = BatchEngine(model, pages=8, page_size=16)
    bad, good = Request([1], fails, max_tokens=5), Request([2], Sampler(seed=0), max_tokens=5)
    finish(engine, [bad, good])
    assert (bad.end, str(bad.error), len(good.tokens)) == ("failed", "of its own", 5)
    assert engine.batch.pool.in_use == 0


def test_fail_ends_the_requests_in_the_step_or_else_those_that_wait(model: RuntimeGraph) -> None:
    engine = BatchEngine(model, pages=2, page_size=16, max_length=32)  # one at a time
    first, second, third = (Request(tokens_of(k, 20), Sampler(seed=k), max_tokens=3) for k in range(3))
    for request in (first, second):
        engine.submit(request)
    engine.step()
    engine.fail(MemoryError("of the model"))
    assert (first.end, str(first.error), second.end) == ("failed", "of the model", "")
    engine.fail(MemoryError("again"))  # nobody has pages
    assert (second.end, str(second.error), engine.batch.pool.in_use) == ("failed", "again", 0)
    finish(engine, [third])
    assert third.end == "length"


def test_a_text_ends_where_the_context_ends(model: RuntimeGraph) -> None:
    for pages, capacity in ((8, 32), (1, 16)):
        engine = BatchEngine(model, pages=pages, page_size=16, max_length=32)
        request = Request([1, 2], Sampler(seed=0), max_tokens=100)
        finish(engine, [request])
        assert (request.end, len(request.all_tokens)) == ("context", capacity + 1)


def test_prepare_plans_steps_before_they_come(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = BatchEngine(model_of(), pages=64, page_size=16, step_tokens=24)
    kinds = 0
    while engine.prepare():
        kinds += 1
    assert 16 <= kinds <= 32
    monkeypatch.setattr("kuiper.engine.engine.compile_graph", None)
    finish(engine, [Request([k + 1], Sampler(seed=k), max_tokens=6) for k in range(7)])
    engine.submit(Request(tokens_of(0, 48), Sampler(seed=0), max_tokens=20))
    for _ in range(4):
        engine.step()
    finish(engine, [Request(tokens_of(1, 45), Sampler(seed=0), max_tokens=2)])  # 15 a step, beside one who writes


def test_a_token_of_ends_is_the_last(model: RuntimeGraph) -> None:
    free = Request([1, 2], Sampler(seed=3), max_tokens=30)
    finish(BatchEngine(model, pages=8), [free])
    stopped = Request([1, 2], Sampler(seed=3), max_tokens=30, ends=frozenset({free.tokens[10]}))
    finish(BatchEngine(model, pages=8), [stopped])
    last = free.tokens.index(free.tokens[10])
    assert (stopped.tokens, stopped.end) == (free.tokens[: last + 1], "token")


def test_common_beginnings_are_read_once(model: RuntimeGraph) -> None:
    engine = BatchEngine(model, pages=32, page_size=16, step_tokens=64)
    prompt = tokens_of(0, 60)
    finish(engine, [Request(prompt, Sampler(seed=0), max_tokens=1)])
    again = Request(prompt, Sampler(seed=0), max_tokens=1)
    engine.submit(again)
    engine._scheduler.turns()
    assert again.text is not None
    assert again.text.length == 48


def test_texts_of_one_prompt_that_come_at_once_share_its_pages(model: RuntimeGraph) -> None:
    prompt = tokens_of(0, 60)  # three full pages, and twelve tokens
    engine = BatchEngine(model, pages=64, page_size=16, step_tokens=32)
    read: list[int] = []
    step = engine.batch.step
    engine.batch.step = lambda pieces: (read.append(sum(len(one.tokens) for one in pieces)), step(pieces))[1]  # type: ignore[func-returns-value, method-assign]
    requests = [Request(prompt, Sampler(seed=k, temperature=1), max_tokens=8) for k in range(8)]
    for request in requests:
        engine.submit(request)
    while any(request.unread > 1 for request in requests) or not all(request.text for request in requests):
        engine.step()
    texts = [request.text for request in requests if request.text]
    assert len(texts) == 8
    assert all(text.pages[:3] == texts[0].pages[:3] for text in texts)
    assert engine.batch.pool.in_use == 3 + sum(len(text.pages) - 3 for text in texts)
    finish(engine)
    drawn = sum(len(request.tokens) for request in requests)
    assert sum(read) == 48 + 8 * 12 + drawn - 8  # the last token of a text is drawn, and not read
    for k, request in enumerate(requests):
        alone = Request(prompt, Sampler(seed=k, temperature=1), max_tokens=8)
        finish(BatchEngine(model, pages=64, page_size=16), [alone])
        assert request.tokens == alone.tokens


def test_who_waits_for_the_page_of_another_reads_on_when_that_one_leaves(model: RuntimeGraph) -> None:
    prompt = tokens_of(0, 60)
    engine = BatchEngine(model, pages=64, page_size=16, step_tokens=8)  # half a page a step
    first, second = (Request(prompt, Sampler(seed=0), max_tokens=4) for _ in range(2))
    for request in (first, second):
        engine.submit(request)
    engine.step()
    assert (first.unread, second.unread) == (52, 60)
    engine.cancel(first)
    finish(engine)
    assert second.end == "length"
    assert engine.batch.pool.in_use == 0


@pytest.mark.parametrize(
    ("prompt", "max_tokens", "message"), [([], 1, "at least one token, got none"), ([1], 0, "at least 1, got 0")]
)
def test_request_says_what_it_needs(prompt: list[int], max_tokens: int, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Request(prompt, Sampler(), max_tokens=max_tokens)


def test_submit_refuses_what_can_never_be_read(model: RuntimeGraph) -> None:
    engine = BatchEngine(model, pages=4, page_size=16, max_length=32)
    with pytest.raises(ParameterError, match="a prompt of at most 32 tokens, got 33"):
        engine.submit(Request([1] * 33, Sampler(), max_tokens=1))
    request = Request([1], Sampler(), max_tokens=1)
    engine.submit(request)
    with pytest.raises(ParameterError, match="a request that was not submitted before"):
        engine.submit(request)


@pytest.mark.parametrize("page_bits", [32, 8])
@pytest.mark.parametrize("seed", range(4))
def test_random_arrivals_and_leavings_leave_no_page(model: RuntimeGraph, seed: int, page_bits: int) -> None:
    """Priorities, deadlines, cancelling, guesses, hardly enough pages: a request that is left to its end has the text
    that it gets alone, another one a beginning of it."""
    rng, now = np.random.default_rng(seed), [0.0]
    sizes = {"page_size": 16, "max_length": 112, "page_bits": page_bits}
    alone, requests = random_requests(seed, 40), random_requests(seed, 40)
    for request in alone:
        finish(BatchEngine(model, pages=8, **sizes), [request])
    for request in requests:
        request.priority = int(rng.integers(0, 3))
        request.deadline = float(rng.choice([np.inf, rng.integers(1, 80)]))
    pages, guesses = int(rng.integers(7, 16)), int(rng.integers(0, 4))
    engine = BatchEngine(model, pages=pages, step_tokens=32, guesses=guesses, clock=lambda: now[0], **sizes)
    coming, told = list(requests), []
    while coming or engine.has_work:
        for _ in range(min(len(coming), int(rng.integers(0, 4)))):
            engine.submit(coming.pop())
        submitted = [one for one in requests if one not in coming]
        if submitted and rng.random() < 0.2:
            engine.cancel(submitted[int(rng.integers(len(submitted)))])
        told += [drawn.request for drawn in engine.step() if drawn.request.end]
        now[0] += 1
        texts = [one.text for one in requests if one.text is not None]
        assert engine.batch.pool.in_use == len({page for text in texts for page in text.pages})
    assert sorted(map(requests.index, told)) == list(range(40))  # each end once
    assert engine.batch.pool.in_use == 0
    for request, expected in zip(requests, alone, strict=True):
        if request.end in ("cancelled", "deadline"):
            assert request.tokens == expected.tokens[: len(request.tokens)]
        else:
            assert (request.tokens, request.end) == (expected.tokens, expected.end)
    assert {"cancelled", "deadline"} < {request.end for request in requests}


def test_cancel_refuses_a_request_that_was_not_submitted(model: RuntimeGraph) -> None:
    request = Request([1], Sampler(), max_tokens=1)
    with pytest.raises(ParameterError, match="a request that was submitted, got one that was not"):
        BatchEngine(model, pages=4).cancel(request)
    assert request.end == ""


@pytest.mark.parametrize("token", [32, -1])
def test_a_sampler_whose_token_there_is_not_ends_its_request_alone(model: RuntimeGraph, token: int) -> None:
    engine = BatchEngine(model, pages=8, page_size=16)
    bad, good = Request([1], lambda scores, text: token, max_tokens=5), Request([2], Sampler(seed=0), max_tokens=5)
    finish(engine, [bad, good])
    assert (bad.end, bad.tokens, len(good.tokens)) == ("failed", [], 5)
    assert f"expected a token from 0 to 31, got {token}" in str(bad.error)


@pytest.mark.parametrize("guesses", [0, 3])
def test_an_interrupt_while_tokens_are_drawn_changes_no_text(model: RuntimeGraph, guesses: int) -> None:
    """Ctrl-C in a notebook, and then the loop once more."""
    expected, calls = random_requests(1, 3), [0]
    finish(BatchEngine(model, pages=16, page_size=16), expected)

    def interrupted(sampler: Draws) -> Draws:
        def draw(scores: npt.NDArray[np.float32], text: Sequence[int]) -> int:
            calls[0] += 1
            if calls[0] % 4 == 0:
                raise KeyboardInterrupt
            return sampler(scores, text)

        return draw

    requests, engine = random_requests(1, 3), BatchEngine(model, pages=16, page_size=16, guesses=guesses)
    for request in requests:
        request.sampler = interrupted(request.sampler)
        engine.submit(request)
    while engine.has_work:
        with contextlib.suppress(KeyboardInterrupt):
            engine.step()
    assert [one.tokens for one in requests] == [one.tokens for one in expected]
    assert engine.batch.pool.in_use == 0

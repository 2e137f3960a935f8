"""Guesses change how many steps a text takes, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import kuiper
from kuiper.errors import ParameterError
from kuiper.models import bundled
from kuiper.models.text.random_decoder import random_decoder
from kuiper.models.text.sampling import Sampler
from kuiper.serving import BatchEngine, DraftModel, LookUp, Request
from tests.batches import model_of, tokens_of
from tests.serving.test_batch_engine import finish

if TYPE_CHECKING:
    from kuiper.graph import RuntimeGraph


@pytest.fixture(scope="module")
def model() -> RuntimeGraph:
    return model_of()


def test_right_guesses_are_several_tokens_of_one_step(model: RuntimeGraph) -> None:
    """A greedy text that repeats itself, as those of small models do."""
    plain = Request([1, 2, 3], Sampler(temperature=0), max_tokens=60)
    steps = finish(BatchEngine(model, pages=8), [plain])
    guessed = Request([1, 2, 3], Sampler(temperature=0), max_tokens=60)
    fewer = finish(BatchEngine(model, pages=8, guesses=4), [guessed])
    assert guessed.tokens == plain.tokens
    assert guessed.end == plain.end == "length"
    assert sum(fewer) == sum(steps) == 60
    assert max(fewer) == 5
    assert len(fewer) < len(steps)


def test_a_guess_is_not_taken_for_an_answer(model: RuntimeGraph) -> None:
    """A prompt whose repetition the model does not go on with."""
    prompt = [5, 6, 7, 8] * 6
    for temperature in (0, 1):
        plain, guessed = (Request(prompt, Sampler(temperature, seed=3), max_tokens=20) for _ in range(2))
        finish(BatchEngine(model, pages=8), [plain])
        finish(BatchEngine(model, pages=8, guesses=4), [guessed])
        assert guessed.tokens == plain.tokens


def test_guesses_do_not_read_beyond_the_context(model: RuntimeGraph) -> None:
    request = Request([1, 2, 3] * 4, Sampler(temperature=0), max_tokens=100)
    engine = BatchEngine(model, pages=2, page_size=16, max_length=32, guesses=6)
    finish(engine, [request])
    assert (request.end, len(request.all_tokens)) == ("context", 33)
    assert engine.batch.pool.in_use == 0


def test_guesses_take_no_page_that_another_needs(model: RuntimeGraph) -> None:
    requests = [Request([k, 2, 3] * 5, Sampler(temperature=0), max_tokens=50) for k in range(4)]
    engine = BatchEngine(model, pages=5, page_size=16, max_length=80, guesses=6)
    finish(engine, requests)
    assert [request.end for request in requests] == ["length"] * 4
    assert engine.batch.pool.in_use == 0


def test_look_up_finds_what_followed_the_last_time() -> None:
    guesses = LookUp()
    request = Request([1, 2, 3, 4, 5, 1, 2, 3], Sampler(), max_tokens=9)
    assert guesses.guess({request: 2}) == {request: [4, 5]}
    request.tokens += [6, 1, 2, 3]
    assert guesses.guess({request: 3}) == {request: [6, 1, 2]}
    request.tokens += [9]
    assert guesses.guess({request: 2}) == {request: []}
    round_in_circles = Request([7, 8, 7, 8, 7, 8], Sampler(), max_tokens=9)
    assert guesses.guess({round_in_circles: 5}) == {round_in_circles: [7, 8, 7, 8, 7]}


def test_a_draft_that_is_the_model_itself_is_always_right(model: RuntimeGraph) -> None:
    requests, plain = (
        [Request(tokens_of(k, 9), Sampler(temperature=0), max_tokens=21) for k in range(3)] for _ in "ab"
    )
    steps = finish(BatchEngine(model, pages=16), plain)
    draft = DraftModel(model_of(), pages=16)
    fewer = finish(BatchEngine(model, pages=16, guesses=4, guesser=draft), requests)
    assert [one.tokens for one in requests] == [one.tokens for one in plain]
    assert len(steps) == 21
    assert len(fewer) == 5  # the prompts and a token, then five tokens a step
    assert draft.batch.pool.in_use == 0


@pytest.mark.parametrize("temperature", [0, 1])
@pytest.mark.parametrize(
    "sizes",
    [{"pages": 40}, {"pages": 3}, {"pages": 40, "texts": 2}, {"pages": 40, "rows": 2}, {"pages": 40, "max_length": 32}],
)
def test_another_draft_changes_no_token(model: RuntimeGraph, temperature: float, sizes: dict[str, int]) -> None:
    """Nor does one that has not enough pages, texts or context for all."""
    draft = DraftModel(kuiper.load(random_decoder(seed=2)), page_size=16, **sizes)
    plain, guessed = (
        [Request(tokens_of(k, 5 + 7 * k), Sampler(temperature, seed=k), max_tokens=20) for k in range(5)] for _ in "ab"
    )
    finish(BatchEngine(model, pages=40, page_size=16), plain)
    finish(BatchEngine(model, pages=40, page_size=16, guesses=3, guesser=draft), guessed)
    assert [one.tokens for one in guessed] == [one.tokens for one in plain]
    assert draft.batch.pool.in_use == 0


def test_a_draft_has_the_vocabulary_of_the_model(model: RuntimeGraph) -> None:
    draft = DraftModel(kuiper.load(bundled("shakespeare")), pages=4)
    with pytest.raises(ParameterError, match="a draft model with a vocabulary of 32 tokens, got 65"):
        BatchEngine(model, pages=4, guesses=2, guesser=draft)

"""Many texts in one step: which pages they share, which they copy, and what is given back."""

from __future__ import annotations

import numpy as np
import pytest

import kuiper
from kuiper.errors import DataTypeError, GraphStateError, ParameterError, ShapeError
from kuiper.graph import RuntimeGraph
from kuiper.graph.batch import Piece, Text
from kuiper.layers import registry
from kuiper.models import bundled
from kuiper.models.text.random_decoder import random_decoder
from tests.batches import model_of, read, tokens_of


def test_begin_finds_the_pages_of_an_earlier_text() -> None:
    batch = model_of().start_batch(pages=12, page_size=16, max_length=96)
    prompt = tokens_of(0, 70)
    text = batch.begin()
    expected = read(batch, text, prompt)
    for known in (64, 64):  # while the first text lives, and when it is gone
        again = batch.begin(prompt)
        assert again.length == known
        np.testing.assert_array_equal(read(batch, again, prompt[known:]), expected)
        batch.end(again)
        batch.end(text)
    assert batch.pool.in_use == 0


def test_begin_leaves_one_token_to_read() -> None:
    """Its scores are wanted, and no page holds them."""
    batch = model_of().start_batch(pages=4, page_size=16)
    prompt = tokens_of(0, 32)
    expected = read(batch, batch.begin(), prompt)
    again = batch.begin(prompt)
    assert again.length == 16
    np.testing.assert_array_equal(read(batch, again, prompt[16:]), expected)


def test_fork_shares_pages_until_one_of_two_writes() -> None:
    model = model_of()
    batch = model.start_batch(pages=6, page_size=16)
    text = batch.begin()
    prompt = tokens_of(0, 20)
    read(batch, text, prompt)
    other = batch.fork(text)
    assert batch.pool.in_use == 2
    got = [read(batch, one, [token]) for one, token in ((text, 3), (other, 4))]
    assert batch.pool.in_use == 3  # the page that both would have written to
    for token, scores in zip((3, 4), got, strict=True):
        alone = model.start_batch(pages=6, page_size=16)
        np.testing.assert_array_equal(scores, read(alone, alone.begin(), [*prompt, token]))


@pytest.mark.parametrize("length", [0, 3, 16, 19, 35])
def test_rewind_goes_on_as_if_nothing_had_come_behind(length: int) -> None:
    model = model_of()
    batch = model.start_batch(pages=6, page_size=16)
    text, prompt, more = batch.begin(), tokens_of(0, 35), tokens_of(1, 4)
    read(batch, text, prompt)
    batch.rewind(text, length)
    got = read(batch, text, more)
    alone = model.start_batch(pages=6, page_size=16)
    np.testing.assert_array_equal(got, read(alone, alone.begin(), [*prompt[:length], *more]))


def test_rewind_leaves_the_pages_that_others_find() -> None:
    """A page that is known by its tokens is copied before other tokens are written to it."""
    batch = model_of().start_batch(pages=6, page_size=16)
    prompt = tokens_of(0, 33)
    text = batch.begin()
    expected = read(batch, text, prompt)
    batch.rewind(text, 20)
    read(batch, text, tokens_of(1, 4))
    again = batch.begin(prompt)
    assert again.length == 32
    np.testing.assert_array_equal(read(batch, again, prompt[32:]), expected)


def test_step_returns_the_rows_that_are_wanted() -> None:
    batch = model_of().start_batch(pages=6, page_size=16)
    prompt = tokens_of(0, 9)
    whole = batch.step([Piece(batch.begin(), prompt, wanted=9)])
    assert whole.shape == (9, 32)
    a, b, c = (batch.begin() for _ in range(3))
    some = batch.step([Piece(a, prompt[:4], wanted=2), Piece(b, prompt, wanted=0), Piece(c, prompt[:7])])
    np.testing.assert_array_equal(some, whole[[2, 3, 6]])
    assert batch.step([Piece(b, [1], wanted=0)]).shape == (0,)
    assert (a.length, b.length, c.length) == (4, 10, 7)


def test_step_moves_no_text_when_pages_run_out() -> None:
    batch = model_of().start_batch(pages=3, page_size=16, max_length=64)
    a, b = batch.begin(), batch.begin()
    batch.step([Piece(a, tokens_of(0, 20)), Piece(b, tokens_of(1, 3))])
    with pytest.raises(MemoryError, match="expected 1 free pages, got 0"):
        batch.step([Piece(a, [1]), Piece(b, tokens_of(2, 14))])
    assert (a.length, b.length, batch.pool.in_use) == (20, 3, 3)
    batch.end(a)
    assert batch.step([Piece(b, tokens_of(2, 14))]).shape == (1, 32)


def test_a_step_that_fails_gives_back_the_pages_that_it_took() -> None:
    """With one of them, a text that catches up later would count what nobody has written."""
    batch, prompt = model_of().start_batch(pages=8, page_size=16), tokens_of(0, 40)
    text, other = batch.begin(), batch.begin()
    read(batch, text, prompt[:16])
    with pytest.raises(kuiper.KuiperError):
        batch.step([Piece(text, [99]), Piece(other, [1])])
    assert (text.length, other.length, batch.pool.in_use) == (16, 0, 1)
    expected = read(batch, batch.begin(), prompt)
    batch.catch_up(text, prompt)
    assert text.length == 32
    np.testing.assert_array_equal(read(batch, text, prompt[32:]), expected)


@pytest.mark.parametrize("page_bits", [32, 8])
@pytest.mark.parametrize("seed", range(3))
def test_whatever_is_shared_and_taken_back_each_text_gets_its_own_scores(seed: int, page_bits: int) -> None:
    """Forks, rewinds, known beginnings and ends at random, in few pages; and in the end none is in use."""
    rng, model = np.random.default_rng(seed), model_of()
    sizes = {"page_size": 16, "max_length": 80, "page_bits": page_bits}
    batch, known = model.start_batch(pages=9, **sizes), [tokens_of(k, 40) for k in range(2)]
    texts: list[Text] = []

    def alone(tokens: list[int]) -> np.ndarray:
        other = model.start_batch(pages=5, **sizes)
        return read(other, other.begin(), tokens)

    steps = 0
    while steps < 60:
        what = rng.choice(["begin", "fork", "rewind", "end", "step", "step", "step"])
        text = texts[int(rng.integers(len(texts)))] if texts else None
        if text is None or what == "begin":
            texts.append(batch.begin(known[int(rng.integers(2))][: int(rng.integers(0, 41))]))
        elif what == "fork":
            texts.append(batch.fork(text))
        elif what == "rewind":
            batch.rewind(text, int(rng.integers(0, text.length + 1)))
        elif what == "end" or len(texts) > 5:
            texts.remove(text)
            batch.end(text)
        else:
            steps += 1
            some = [texts[at] for at in rng.permutation(len(texts))[:3] if texts[at].length < 60]
            pieces = [Piece(one, _goes_on(one, known, rng)) for one in some]
            lengths = [one.length for one in texts]
            try:
                scores = batch.step(pieces) if pieces else []
            except MemoryError:
                assert [one.length for one in texts] == lengths
                batch.end(texts.pop())
                continue
            for piece, row in zip(pieces, scores, strict=True):
                np.testing.assert_array_equal(row, alone(piece.text.tokens))
        assert batch.pool.in_use == len({page for one in texts for page in one.pages})
    for text in texts:
        batch.end(text)
    assert (batch.pool.in_use, batch.pool.available) == (0, 9)


def _goes_on(text: Text, known: list[list[int]], rng: np.random.Generator) -> list[int]:
    """A few more tokens: of a text that others have read as well, as long as it is one of these."""
    count = int(rng.integers(1, 20))
    for tokens in known:
        if text.length < 40 and tokens[: text.length] == text.tokens:
            return tokens[text.length :][:count]
    return [int(token) for token in rng.integers(0, 32, count)]


def test_memory_is_never_more_than_was_asked_for() -> None:
    model = model_of()
    batch = model.start_batch(memory=100_000, page_size=16)
    text = batch.begin()
    read(batch, text, tokens_of(0, 20))
    assert 50_000 < batch.nbytes <= 100_000
    with pytest.raises(ParameterError, match=r"memory for one page, which is .* bytes, got 10"):
        model.start_batch(memory=10)


def test_plans_are_kept_for_numbers_of_rows() -> None:
    """The second time that a step has as many rows, nothing is planned."""
    model = model_of()
    batch = model.start_batch(pages=20, page_size=16)
    engine = model.execution.executor
    for _ in range(2):
        texts = [batch.begin() for _ in range(5)]
        for count in range(1, 6):
            batch.step([Piece(text, [1]) for text in texts[:count]])
        plans = dict(engine._plans)
        for text in texts:
            batch.end(text)
    assert list(engine._plans.values()) == list(plans.values())
    assert len(plans) < 10


@pytest.mark.parametrize(
    ("pieces", "error", "message"),
    [
        ([], ShapeError, "pieces of at least one token, got none"),
        ([(0, [])], ShapeError, "pieces of at least one token, got an empty one"),
        ([(0, [1]), (0, [2])], ParameterError, "pieces of different texts, got one text twice"),
        ([(0, [1] * 33)], ShapeError, "at most 32 tokens of 2 texts, got 33 of 1"),
        ([(0, [1]), (1, [1]), (2, [1])], ShapeError, "at most 32 tokens of 2 texts, got 3 of 3"),
        ([(3, [1] * 5)], ShapeError, "at most 4 more tokens of a text, got 5"),
        ([(0, [1.5])], DataTypeError, "tokens that are integers, got float64"),
    ],
)
def test_step_says_what_does_not_fit(pieces: list[tuple[int, list[int]]], error: type[Exception], message: str) -> None:
    batch = model_of().start_batch(pages=8, page_size=16, max_length=32, texts=2, rows=32)
    texts = [batch.begin() for _ in range(4)]
    batch.step([Piece(texts[3], [1] * 28)])
    with pytest.raises(error, match=message):
        batch.step([Piece(texts[at], tokens) for at, tokens in pieces])
    assert [text.length for text in texts] == [0, 0, 0, 28]


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({}, "either pages or memory, got neither"),
        ({"pages": 1, "memory": 1}, "either pages or memory, got both"),
        ({"pages": 1, "page_size": 24}, "a page_size that is a multiple of 16, got 24"),
        ({"pages": 1, "rows": 0}, "rows of at least 1, got 0"),
        ({"pages": 0}, "at least one page"),
        ({"pages": 1, "page_bits": 4}, "page_bits of 8 or 32, got 4"),
    ],
)
def test_start_batch_says_what_a_size_must_be(sizes: dict[str, int], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        model_of().start_batch(**sizes)


def test_start_batch_needs_state() -> None:
    with pytest.raises(GraphStateError, match="expected a model with state, got one without"):
        kuiper.load(bundled("cifar_resnet20")).start_batch(pages=1)


def test_step_refuses_caches_outside_of_attention() -> None:
    model = RuntimeGraph(random_decoder(seed=1))
    model.build(registry)
    batch = model.start_batch(pages=1)
    with pytest.raises(kuiper.KuiperError, match="optimize=True"):
        batch.step([Piece(batch.begin(), [1])])

"""Many texts in one step: each gets what it would get alone, bit by bit, and pages are nobody's when it ends."""

from __future__ import annotations

import numpy as np
import pytest

import kuiper
from kuiper.errors import GraphStateError, ParameterError, ShapeError
from kuiper.graph import RuntimeGraph
from kuiper.graph.batch import Batch, Piece, Text
from kuiper.graph.passes import fuse_caches_into_attention
from kuiper.layers import registry
from kuiper.models import bundled
from kuiper.models.text.random_decoder import random_config, random_decoder

SHAPES = {
    "two heads share keys": {},
    "a head of 20 numbers": {"num_attention_heads": 6, "num_key_value_heads": 2, "head_dim": 20},
    "a head that shares with none": {"num_attention_heads": 3, "num_key_value_heads": 3, "head_dim": 16},
    "many heads share keys": {"num_attention_heads": 20, "num_key_value_heads": 1, "head_dim": 8},
}
LENGTHS = (1, 5, 17, 64, 65, 100, 130)


def tokens_of(seed: int, count: int) -> list[int]:
    return [int(token) for token in np.random.default_rng(seed).integers(0, random_config().vocabulary, count)]


def model_of(**entries: int) -> RuntimeGraph:
    return kuiper.load(random_decoder(seed=1, **entries))


def read(batch: Batch, text: Text, tokens: list[int]) -> np.ndarray:
    """The scores behind the last of these tokens, read at once."""
    return batch.step([Piece(text, tokens)])[0]


def read_together(batch: Batch, prompts: list[list[int]], seed: int = 0) -> tuple[list[Text], list[np.ndarray]]:
    """All prompts, each in random pieces beside those of the others."""
    rng = np.random.default_rng(seed)
    texts = [batch.begin() for _ in prompts]
    scores: dict[int, np.ndarray] = {}
    while any(text.length < len(prompt) for text, prompt in zip(texts, prompts, strict=True)):
        turns = [(at, int(rng.integers(0, 12))) for at in rng.permutation(len(prompts))]
        pieces = {
            at: Piece(texts[at], prompts[at][texts[at].length :][:size])
            for at, size in turns
            if size and texts[at].length < len(prompts[at])
        }
        if pieces:
            scores.update(zip(pieces, batch.step(list(pieces.values())), strict=True))
    return texts, [scores[at] for at in range(len(prompts))]


@pytest.mark.parametrize("entries", SHAPES.values(), ids=SHAPES)
def test_step_gives_what_a_session_gives(entries: dict[str, int]) -> None:
    model = model_of(**entries)
    prompts = [tokens_of(count, count) for count in LENGTHS]
    batch = model.start_batch(pages=40, max_length=192, page_size=16)
    _, scores = read_together(batch, prompts)
    for prompt, got in zip(prompts, scores, strict=True):
        expected = np.asarray(model.start(max_length=192)(prompt))[-1]
        np.testing.assert_allclose(got, expected, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("entries", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("page_size", [16, 64])
def test_step_gives_the_same_bits_in_any_company(entries: dict[str, int], page_size: int) -> None:
    model = model_of(**entries)
    prompts = [tokens_of(count, count) for count in LENGTHS]
    sizes = {"pages": 40, "max_length": 192, "page_size": page_size}
    for seed in range(3):
        _, scores = read_together(model.start_batch(**sizes), prompts, seed)
        for prompt, got in zip(prompts, scores, strict=True):
            batch = model.start_batch(**sizes)
            np.testing.assert_array_equal(got, read(batch, batch.begin(), prompt))


def test_step_gives_the_same_bits_with_more_threads() -> None:
    model, prompt = model_of(), tokens_of(0, 100)
    before, scores = kuiper.get_num_threads(), []
    try:
        for threads in (1, 2, 3):
            kuiper.set_num_threads(threads)
            batch = model.start_batch(pages=8)
            scores.append(read(batch, batch.begin(), prompt))
    finally:
        kuiper.set_num_threads(before)
    np.testing.assert_array_equal(scores[1:], [scores[0]] * 2)


def test_step_agrees_with_the_layers() -> None:
    """The readable layers run the same state; no engine is there."""
    graph = random_decoder(seed=1, head_dim=20)
    layers = RuntimeGraph(graph)
    layers.build(registry, passes=[fuse_caches_into_attention])
    prompts = [tokens_of(count, count) for count in (1, 17, 33)]
    _, expected = read_together(layers.start_batch(pages=12, page_size=16), prompts)
    _, got = read_together(kuiper.load(graph).start_batch(pages=12, page_size=16), prompts)
    np.testing.assert_allclose(got, expected, atol=1e-5 * np.abs(expected).max())


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


def test_step_overwrites_what_a_page_held_before() -> None:
    """Not even NaN of a text that is gone changes a bit."""
    model = model_of()
    batch = model.start_batch(pages=3, page_size=16, max_length=48)
    prompt = tokens_of(0, 37)
    expected = read(batch, batch.begin(), prompt)
    batch = model.start_batch(pages=3, page_size=16, max_length=48)
    read(batch, batch.begin(), tokens_of(1, 40))
    for array in batch._state._arrays.values():
        array[...] = np.nan
    batch = _with_state_of(batch, model)
    np.testing.assert_array_equal(read(batch, batch.begin(), prompt), expected)


def _with_state_of(batch: Batch, model: RuntimeGraph) -> Batch:
    """A batch whose pages are free and still hold what those of ``batch`` hold."""
    fresh = model.start_batch(pages=3, page_size=16, max_length=48)
    fresh._state = batch._state
    return fresh


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

"""Attention to pages: each text gets what it would get alone, bit by bit, on sizes that hit every remainder."""

from __future__ import annotations

import numpy as np
import pytest

import kuiper
from kuiper.graph import RuntimeGraph
from kuiper.graph.batch import Batch, Piece, Text
from kuiper.graph.passes import fuse_caches_into_attention
from kuiper.layers import registry
from kuiper.models.text.random_decoder import random_decoder
from tests.batches import model_of, read, tokens_of

SHAPES = {
    "two heads share keys": {},
    "a head of 20 numbers": {"num_attention_heads": 6, "num_key_value_heads": 2, "head_dim": 20},
    "a head that shares with none": {"num_attention_heads": 3, "num_key_value_heads": 3, "head_dim": 16},
    "many heads share keys": {"num_attention_heads": 20, "num_key_value_heads": 1, "head_dim": 8},
}
LENGTHS = (1, 5, 17, 64, 65, 100, 130)


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

"""Whole texts in one call: what each gets is what it gets alone, bit by bit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import kuiper
from kuiper.errors import GraphStateError, ShapeError
from kuiper.graph.packed_batch import PackedBatch, padded
from kuiper.models.text.random_decoder import random_decoder
from kuiper.models.text.random_encoder import random_encoder

if TYPE_CHECKING:
    from kuiper.graph import RuntimeGraph

LENGTHS = (1, 5, 17, 64, 65, 100, 130)
SHAPES = {
    "a head of 6 numbers": {},
    "a head of 32 numbers": {"hidden_size": 64, "num_attention_heads": 2},
    "a head of 20 numbers": {"hidden_size": 60, "num_attention_heads": 3},
    "one head": {"hidden_size": 40, "num_attention_heads": 1},
    "heads of one number": {"hidden_size": 5, "num_attention_heads": 5},
}


def model_of(**entries: int) -> RuntimeGraph:
    return kuiper.load(random_encoder(seed=1, max_position_embeddings=160, **entries))


def texts_of(lengths: tuple[int, ...]) -> list[list[int]]:
    rng = np.random.default_rng(0)
    return [rng.integers(0, 32, length).tolist() for length in lengths]


@pytest.mark.parametrize("entries", SHAPES.values(), ids=SHAPES)
def test_run_gives_a_text_the_same_bits_in_any_company(entries: dict[str, int]) -> None:
    batch, texts = PackedBatch(model_of(**entries), 512), texts_of(LENGTHS)
    alone = [batch.run([text]) for text in texts]
    rng = np.random.default_rng(1)
    for _ in range(4):
        order = rng.permutation(len(texts))[: rng.integers(1, len(texts) + 1)]
        got = batch.run([texts[at] for at in order])
        np.testing.assert_array_equal(got, np.concatenate([alone[at] for at in order]))


@pytest.mark.parametrize("entries", SHAPES.values(), ids=SHAPES)
def test_run_agrees_with_the_layers(entries: dict[str, int]) -> None:
    texts = texts_of(LENGTHS)
    layers = kuiper.load(random_encoder(seed=1, max_position_embeddings=160, **entries), optimize=False)
    expected = PackedBatch(layers, 512).run(texts)
    got = PackedBatch(model_of(**entries), 512).run(texts)
    np.testing.assert_allclose(got, expected, atol=1e-5 * np.abs(expected).max())


def test_run_gives_the_same_bits_with_more_threads() -> None:
    model, texts = model_of(), texts_of(LENGTHS)
    before, found = kuiper.get_num_threads(), []
    try:
        for threads in (1, 2, 3):
            kuiper.set_num_threads(threads)
            found.append(PackedBatch(model, 512).run(texts))
    finally:
        kuiper.set_num_threads(before)
    np.testing.assert_array_equal(found[1:], [found[0]] * 2)


@pytest.mark.parametrize("optimize", [True, False], ids=["engine", "layers"])
def test_run_gives_the_rows_that_are_wanted(optimize: bool) -> None:
    model = kuiper.load(random_encoder(seed=1), optimize=optimize)
    batch, texts = PackedBatch(model, 100), texts_of((3, 1, 20))
    rows = batch.run(texts)
    np.testing.assert_array_equal(batch.run(texts, "first"), rows[[0, 3, 4]])
    np.testing.assert_array_equal(batch.run(texts, "last"), rows[[2, 3, 23]])


def test_run_needs_texts_that_fit() -> None:
    batch = PackedBatch(model_of(), 10)
    for texts, got in (
        ([], "0 tokens of 0 texts"),
        ([[1], []], "one of them empty"),
        ([[1] * 6, [2] * 5], "11 tokens"),
    ):
        with pytest.raises(ShapeError, match=got):
            batch.run(texts)


def test_packed_batch_needs_a_model_that_reads_whole_texts() -> None:
    with pytest.raises(GraphStateError, match="a model that reads whole texts"):
        PackedBatch(kuiper.load(random_decoder(seed=1)), 10)


def test_an_encoder_has_no_session() -> None:
    """Its first tokens would have to know the last ones."""
    for start in (lambda model: model.start(max_length=8), lambda model: model.start_batch(pages=2)):
        with pytest.raises(GraphStateError, match="a model that reads texts piece by piece, got one that reads whole"):
            start(model_of())


def test_padded_is_at_most_an_eighth_more() -> None:
    for count in range(1, 1025):
        assert count <= padded(count, 1024) <= max(count + 7, count * 9 / 8)
    assert len({padded(count, 512) for count in range(1, 513)}) <= 32

"""Attention to pages: each text gets what it would get alone, bit by bit, on sizes that hit every remainder."""

from __future__ import annotations

import numpy as np
import pytest

import kuiper
from kuiper.engine.engine import Engine
from kuiper.graph import RuntimeGraph, pnnx
from kuiper.graph.batch import Batch, Piece, Text
from kuiper.graph.paged_state import PagedState
from kuiper.graph.passes import fuse_caches_into_attention
from kuiper.graph.state import Paging, State
from kuiper.layers import registry
from kuiper.models import bundled
from kuiper.models.text import language_model
from kuiper.models.text.graph_writer import GraphWriter
from kuiper.models.text.random_decoder import random_decoder
from kuiper.models.text.sampling import Sampler
from kuiper.serving import BatchEngine, Request
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
@pytest.mark.parametrize("page_bits", [32, 8])
def test_step_gives_the_same_bits_in_any_company(entries: dict[str, int], page_size: int, page_bits: int) -> None:
    model = model_of(**entries)
    prompts = [tokens_of(count, count) for count in LENGTHS]
    sizes = {"pages": 40, "max_length": 192, "page_size": page_size, "page_bits": page_bits}
    for seed in range(3):
        _, scores = read_together(model.start_batch(**sizes), prompts, seed)
        for prompt, got in zip(prompts, scores, strict=True):
            batch = model.start_batch(**sizes)
            np.testing.assert_array_equal(got, read(batch, batch.begin(), prompt))


@pytest.mark.parametrize("page_bits", [32, 8])
def test_step_gives_the_same_bits_with_more_threads(page_bits: int) -> None:
    model, prompt = model_of(), tokens_of(0, 100)
    before, scores = kuiper.get_num_threads(), []
    try:
        for threads in (1, 2, 3):
            kuiper.set_num_threads(threads)
            batch = model.start_batch(pages=8, page_bits=page_bits)
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


@pytest.mark.parametrize("page_bits", [32, 8])
def test_step_overwrites_what_a_page_held_before(page_bits: int) -> None:
    """Not even NaN of a text that is gone changes a bit."""
    model, prompt = model_of(), tokens_of(0, 37)
    clean, batch = (model.start_batch(pages=3, page_size=16, max_length=48, page_bits=page_bits) for _ in range(2))
    expected = read(clean, clean.begin(), prompt)
    text = batch.begin()
    read(batch, text, tokens_of(1, 40))
    batch.end(text)
    for array in batch._state._arrays.values():
        array[...] = 77 if array.dtype == np.int8 else np.nan
    np.testing.assert_array_equal(read(batch, batch.begin(), prompt), expected)


def attention_alone() -> pnnx.Graph:
    """q (1, s, h, d), k and v (1, s, g, d) -> (1, s, h * d)."""
    writer = GraphWriter()
    heads = []
    for name in "qkv":
        x = writer.add("pnnx.Input", name, shape=(None, None, None, None))
        heads.append(writer.add("torch.permute", f"{name}.heads", x, params={"dims": [0, 2, 1, 3]}))
    q, k, v = heads
    k, v = (writer.add("kuiper.Cache", name, x) for name, x in (("keys", k), ("values", v)))
    mixed = writer.add("kuiper.CausalAttention", "attention", q, k, v)
    rows = writer.add("torch.permute", "rows", mixed, params={"dims": [0, 2, 1, 3]})
    writer.finish(writer.add("torch.flatten", "joined", rows, params={"start_dim": 2, "end_dim": 3}))
    return writer.graph


def in_two_texts(graph: RuntimeGraph, inputs: list[np.ndarray]) -> tuple[np.ndarray, State]:
    """The answers (s, h * d) for rows that are three tokens of one text, four of another, three of the first ..., in
    pages of bytes; and the pages."""
    state, count, rows = PagedState(Paging(16, 9, 4, 2, 7, 7, bits=8)), len(inputs[0]), []
    state.integers["tables"][...] = [[8, 3, 1, 0], [2, 7, 4, 5]]
    state.integers["texts"][:] = [0, 0, 0, 1, 1, 1, 1]
    state.integers["chosen"][:] = np.arange(7)
    for turn in range(count // 7):
        state.integers["positions"][:] = [3 * turn + i for i in range(3)] + [4 * turn + i for i in range(4)]
        some = tuple(x[None, 7 * turn : 7 * turn + 7] for x in inputs)
        (answer,) = graph.execution.run(some, None, state)
        rows.append(np.asarray(answer)[0])
    return np.concatenate(rows), state


@pytest.mark.parametrize(
    ("heads", "groups", "numbers"), [(1, 1, 1), (3, 1, 7), (4, 2, 16), (9, 3, 64), (5, 5, 33), (20, 1, 40)]
)
def test_pages_of_bytes_are_those_of_the_layer(heads: int, groups: int, numbers: int) -> None:
    """The same bytes and scales; answers differ by rounding only. Some rows are zeros, tiny or huge."""
    rng = np.random.default_rng(numbers)
    q, k, v = (rng.standard_normal((105, h, numbers), np.float32) for h in (heads, groups, groups))
    for x in (k, v):
        x[3], x[10], x[20] = 0, x[10] * 1e-38, x[20] * 1e-29
    k[40], q[40:] = k[40] * 1e4, q[40:] * 1e-4  # or one key would have all of the weight
    fast, plain = RuntimeGraph(attention_alone()), RuntimeGraph(attention_alone())
    fast.build(registry, True, None, Engine)
    plain.build(registry, passes=[fuse_caches_into_attention])
    got, pages = in_two_texts(fast, [q, k, v])
    expected, same = in_two_texts(plain, [q, k, v])
    np.testing.assert_allclose(got, expected, atol=1e-5 * np.abs(expected).max())
    assert {key.rpartition(".")[2] for key in pages._arrays} == {"keys", "values", "key_scales", "value_scales"}
    for key, array in same._arrays.items():
        np.testing.assert_array_equal(pages._arrays[key], array)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("where", ["key", "value"])
def test_pages_of_bytes_hide_no_number_that_is_none(bad: float, where: str) -> None:
    """Who sees such a key, or such a value, gets NaN, on the engine as on the layers."""
    q, k, v = np.random.default_rng(0).standard_normal((3, 14, 2, 20), dtype=np.float32)
    (k if where == "key" else v)[5, 1, 7] = bad  # of the second text, position 2
    fast, plain = RuntimeGraph(attention_alone()), RuntimeGraph(attention_alone())
    fast.build(registry, True, None, Engine)
    plain.build(registry, passes=[fuse_caches_into_attention])
    for graph in (fast, plain):
        answers = in_two_texts(graph, [q, k, v])[0].reshape(14, 2, 20)
        seen = [5, 6, *range(10, 14)]  # rows of that text from there on
        assert np.isnan(answers[seen, 1]).all()
        rest = np.delete(answers, [3, 4, *seen], axis=0)  # those before it are in its product
        assert np.isfinite(rest).all()
        assert np.isfinite(answers[:, 0]).all()


def test_pages_of_bytes_take_a_quarter_of_the_memory() -> None:
    sizes = {"memory": 1 << 22, "page_size": 64}
    model = kuiper.load(random_decoder(seed=1, head_dim=64, num_hidden_layers=1))
    floats, in_bytes = (model.start_batch(page_bits=bits, **sizes) for bits in (32, 8))
    assert in_bytes.paging.pages / floats.paging.pages > 3.7
    for batch in (floats, in_bytes):
        read(batch, batch.begin(), [1])
        assert (1 << 22) - batch.nbytes // batch.paging.pages < batch.nbytes <= 1 << 22


def test_pages_of_bytes_lose_little() -> None:
    """What a trained model predicts for a text of its own: as probable as before, and hardly another distribution."""
    model = language_model.load(bundled("shakespeare"))
    engine = BatchEngine(model.graph, pages=4)
    request = Request(model.vocabulary.encode("ROMEO:"), Sampler(seed=1), max_tokens=240)
    engine.submit(request)
    while engine.has_work:
        engine.step()
    tokens, found = request.all_tokens, []
    for bits in (32, 8):
        batch = model.graph.start_batch(pages=4, page_bits=bits)
        scores = batch.step([Piece(batch.begin(), tokens[:-1], wanted=len(tokens) - 1)]).astype(np.float64)
        found.append(scores - np.log(np.exp(scores).sum(axis=-1, keepdims=True)))
    p, q = found
    surprise = [-np.mean(one[np.arange(len(p)), tokens[1:]]) for one in found]
    assert abs(surprise[1] - surprise[0]) < 1e-3
    assert np.mean(np.sum(np.exp(p) * (p - q), axis=-1)) < 1e-4

"""Cached attention on the engine: bit by bit the positions of a text, on sizes that hit every remainder."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kuiper
from kuiper.engine.compile import compile_graph
from kuiper.engine.engine import Engine
from kuiper.engine.runner import Runner
from kuiper.errors import ShapeError
from kuiper.graph import RuntimeGraph, pnnx
from kuiper.graph.passes import Pass, fuse_caches_into_attention
from kuiper.graph.state import State
from kuiper.layers import registry
from kuiper.layers.operators.causal_attention import causal_attention
from kuiper.models.text.graph_writer import GraphWriter
from kuiper.models.text.random_decoder import random_decoder


def attention_graph(**params: Any) -> pnnx.Graph:
    """q (b, s, h, d), k and v (b, s, g, d) -> (b, h, s, d)."""
    writer = GraphWriter()
    heads = []
    for name in "qkv":
        x = writer.add("pnnx.Input", name, shape=(None, None, None, None))
        heads.append(writer.add("torch.permute", f"{name}.heads", x, params={"dims": [0, 2, 1, 3]}))
    q, k, v = heads
    k, v = (writer.add("kuiper.Cache", name, x) for name, x in (("keys", k), ("values", v)))
    writer.finish(writer.add("kuiper.CausalAttention", "attention", q, k, v, params=params))
    return writer.graph


def run(model: RuntimeGraph, state: Any, inputs: list[np.ndarray]) -> np.ndarray:
    """One call of a graph whose inputs are no tokens."""
    (answer,) = model.execution.run(tuple(inputs), None, state)
    state.length += inputs[0].shape[1]
    return np.asarray(answer)


def built(optimize: bool, passes: list[Pass] | None = None, **params: Any) -> RuntimeGraph:
    model = RuntimeGraph(attention_graph(**params))
    model.build(registry, optimize, passes, Engine if optimize else None)
    return model


@pytest.mark.parametrize(
    ("optimize", "passes"),
    [(True, None), (False, None), (False, [fuse_caches_into_attention])],
    ids=["engine", "layers", "the engine's layer"],
)
@pytest.mark.parametrize(
    ("texts", "heads", "groups", "numbers"),
    [(1, 1, 1, 1), (1, 3, 1, 7), (2, 4, 2, 16), (1, 9, 3, 64), (1, 5, 5, 33), (3, 12, 2, 15), (1, 2, 1, 128)],
)
def test_attention_in_pieces_is_attention_at_once(
    texts: int, heads: int, groups: int, numbers: int, optimize: bool, passes: list[Pass] | None
) -> None:
    rng = np.random.default_rng(numbers)
    q, k, v = (rng.standard_normal((texts, 59, h, numbers), np.float32) for h in (heads, groups, groups))
    expected = causal_attention(*(x.transpose(0, 2, 1, 3) for x in (q, k, v)))
    model, state = built(optimize, passes), State(61)
    for first, end in [(0, 1), (1, 2), (2, 17), (17, 18), (18, 43), (43, 59)]:
        got = run(model, state, [x[:, first:end] for x in (q, k, v)])
        np.testing.assert_allclose(got, expected[:, :, first:end], atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("shared", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("numbers", [40, 64, 150])
def test_single_tokens_attend_to_any_number_of_panels(shared: int, numbers: int) -> None:
    """Few rows have a tile of their own, which takes several panels of keys, and of values, together."""
    rng = np.random.default_rng(shared)
    q, k, v = (rng.standard_normal((1, 150, h, numbers), np.float32) for h in (2 * shared, 2, 2))
    expected = causal_attention(*(x.transpose(0, 2, 1, 3) for x in (q, k, v)))
    model, state = built(True), State(151)
    for position in range(150):
        got = run(model, state, [x[:, position : position + 1] for x in (q, k, v)])
        np.testing.assert_allclose(got[:, :, 0], expected[:, :, position], atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("count", [2, 3, 4, 5, 13])
@pytest.mark.parametrize("shared", [1, 3])
def test_a_few_tokens_at_once_may_begin_in_any_panel(count: int, shared: int) -> None:
    """They are appended by the step that reads them, and may fill one panel of keys and begin another."""
    rng = np.random.default_rng(count)
    q, k, v = (rng.standard_normal((2, 80, h, 24), np.float32) for h in (2 * shared, 2, 2))
    expected = causal_attention(*(x.transpose(0, 2, 1, 3) for x in (q, k, v)))
    model, state = built(True), State(80)
    for first in range(0, 80 - count, count):
        got = run(model, state, [x[:, first : first + count] for x in (q, k, v)])
        rows = expected[:, :, first : first + count]
        np.testing.assert_allclose(got, rows, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize(("count", "steps"), [(1, 1), (256, 2)])
def test_attention_appends_where_a_group_of_heads_is_one_task(count: int, steps: int) -> None:
    plan = Runner(compile_graph(built(True), [np.zeros((1, count, 2, 16), np.float32)] * 3, {}, max_length=256))
    algorithms = [card.algorithm for segment in plan.executable.compiled() for card in segment.steps]
    assert sum("caches" in algorithm for algorithm in algorithms) == steps
    assert sum("append" in algorithm for algorithm in algorithms) == 1


def test_attention_takes_the_scale_that_the_file_gives() -> None:
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((1, 20, 2, 8), np.float32) for _ in range(3))
    expected = causal_attention(*(x.transpose(0, 2, 1, 3) for x in (q, k, v)), scale=2.5)
    for optimize in (True, False):
        got = run(built(optimize, scale=2.5), State(20), [q, k, v])
        np.testing.assert_allclose(got, expected, atol=1e-5 * np.abs(expected).max())


def test_what_lies_behind_the_end_changes_nothing() -> None:
    """Not even NaN from a call that was taken back."""
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((1, 40, 2, 24), np.float32) for _ in range(3))
    model, state = built(True), State(64)
    clean = run(model, state, [q, k, v])
    state.length = 0
    run(model, state, [np.full_like(x, np.nan) for x in (q, k, v)])
    state.length = 0
    pieces = [run(model, state, [x[:, i : i + 5] for x in (q, k, v)]) for i in range(0, 40, 5)]
    np.testing.assert_allclose(np.concatenate(pieces, axis=2), clean, atol=1e-5 * np.abs(clean).max())


def test_scores_of_any_size_do_not_overflow() -> None:
    q = np.full((1, 3, 1, 4), 1e4, np.float32)
    k = q * np.float32([1, -1, 2]).reshape(1, 3, 1, 1)
    v = np.arange(12, dtype=np.float32).reshape(1, 3, 1, 4)
    got = run(built(True), State(3), [q, k, v])
    np.testing.assert_array_equal(got[0, 0], [[0, 1, 2, 3], [0, 1, 2, 3], [8, 9, 10, 11]])


def test_rotary_reads_heads_where_they_lie() -> None:
    model = kuiper.load(random_decoder(seed=2))
    plan = Runner(compile_graph(model, [np.zeros((1, 3), np.int64)], {}, max_length=16))
    algorithms = [card.algorithm for segment in plan.executable.compiled() for card in segment.steps]
    assert algorithms.count("rotary") == 4  # queries and keys of two layers
    assert "copy" not in algorithms


def test_the_engines_layer_says_what_does_not_fit() -> None:
    model = built(False, [fuse_caches_into_attention])
    q = np.zeros((1, 3, 2, 4), np.float32)
    with pytest.raises(ShapeError, match="expected keys of 3 positions"):
        run(model, State(8), [q, q[:, :2], q[:, :2]])
    with pytest.raises(ShapeError, match="expected at most 2 positions, got 3"):
        run(model, State(2), [q, q, q])

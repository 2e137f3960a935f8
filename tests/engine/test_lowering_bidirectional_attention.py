"""Attention to whole texts on the engine, on sizes that hit every remainder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import kuiper
from kuiper.errors import KuiperError
from kuiper.graph.paged_state import PagedState
from kuiper.graph.state import Paging
from kuiper.layers.operators.bidirectional_attention import runs
from kuiper.layers.operators.scaled_dot_product_attention import attention
from kuiper.models.text.graph_writer import GraphWriter

if TYPE_CHECKING:
    from kuiper.graph import pnnx


def attention_graph(**params: Any) -> pnnx.Graph:
    """q, k and v (b, s, h, d) -> (b, s, h * d)."""
    writer, heads = GraphWriter(), []
    for name in "qkv":
        x = writer.add("pnnx.Input", name, shape=(None, None, None, None))
        heads.append(writer.add("torch.permute", f"{name}.heads", x, params={"dims": [0, 2, 1, 3]}))
    mixed = writer.add("kuiper.BidirectionalAttention", "attention", *heads, params=params)
    rows = writer.add("torch.permute", "rows", mixed, params={"dims": [0, 2, 1, 3]})
    writer.finish(writer.add("torch.flatten", "joined", rows, params={"start_dim": 2, "end_dim": 3}))
    return writer.graph


def drawn(*shape: int) -> list[np.ndarray]:
    rng = np.random.default_rng(sum(shape))
    return [rng.standard_normal(shape, np.float32) for _ in range(3)]


def expected(qkv: list[np.ndarray], scale: float | None = None) -> np.ndarray:
    q, k, v = (x.transpose(0, 2, 1, 3) for x in qkv)
    mixed = attention(q, k, v, None, scale).transpose(0, 2, 1, 3)
    return mixed.reshape(*mixed.shape[:2], -1)


@pytest.mark.parametrize("count", [1, 2, 15, 16, 17, 64, 65, 130, 256, 257, 300])
@pytest.mark.parametrize(("texts", "heads", "numbers"), [(1, 3, 7), (2, 1, 16), (1, 2, 33), (3, 2, 1), (1, 1, 128)])
def test_each_token_attends_to_its_whole_text(texts: int, heads: int, numbers: int, count: int) -> None:
    qkv = drawn(texts, count, heads, numbers)
    got = np.asarray(kuiper.load(attention_graph())(*qkv))
    wanted = expected(qkv)
    np.testing.assert_allclose(got, wanted, atol=1e-5 * np.abs(wanted).max())


def test_a_scale_may_be_stated() -> None:
    qkv = drawn(1, 20, 2, 8)
    for optimize in (True, False):
        got = np.asarray(kuiper.load(attention_graph(scale=0.7), optimize=optimize)(*qkv))
        np.testing.assert_allclose(got, expected(qkv, 0.7), atol=1e-5)


@pytest.mark.parametrize("optimize", [True, False], ids=["engine", "layers"])
@pytest.mark.parametrize("numbers", [5, 32])
def test_rows_of_several_texts_see_their_own(numbers: int, optimize: bool) -> None:
    """Tasks of 64 rows end within texts; what is in no text becomes zeros, whatever lies there."""
    lengths = (1, 40, 30, 3, 200, 70, 1, 1)
    count = sum(lengths)
    qkv = drawn(1, count + 6, 3, numbers)
    for x in qkv:
        x[:, count:] = np.nan
    state = PagedState(Paging(400, 0, 1, 0, 400, count + 6))
    state.integers["texts"][:count] = np.repeat(np.arange(len(lengths)), lengths)
    state.integers["chosen"][: count + 6] = np.arange(count + 6)
    (answer,) = kuiper.load(attention_graph(), optimize=optimize).execution.run(tuple(qkv), None, state)
    got = np.asarray(answer)[0]
    assert not got[count:].any()
    for rows in runs(state.integers["texts"][:count]):
        wanted = expected([x[:, rows] for x in qkv])[0]
        np.testing.assert_allclose(got[rows], wanted, atol=1e-5 * np.abs(wanted).max())


@pytest.mark.parametrize("optimize", [True, False], ids=["engine", "layers"])
def test_queries_and_keys_must_have_one_shape(optimize: bool) -> None:
    q, k, v = drawn(1, 6, 2, 4)
    with pytest.raises(KuiperError, match=r"queries, keys and values of one shape \(b, h, s, d\)"):
        kuiper.load(attention_graph(), optimize=optimize)(q, k[:, :5], v)

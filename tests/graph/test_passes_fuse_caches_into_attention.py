"""The pass that lets attention read its caches where they lie."""

from __future__ import annotations

import numpy as np
import pytest

import kuiper
from kuiper.engine.engine import Engine
from kuiper.graph import RuntimeGraph, pnnx
from kuiper.graph.passes import fuse_caches_into_attention
from kuiper.layers import registry
from kuiper.models.text.graph_writer import GraphWriter
from tests.graph.pass_graphs import assert_wired


def attention_graph(
    second_reader: bool = False, one_cache: bool = False, reader: str = "kuiper.CausalAttention"
) -> pnnx.Graph:
    """q, k, v (b, h, s, d) -> attention to cached keys and values, and perhaps the keys themselves."""
    writer = GraphWriter()
    q, k, v = (writer.add("pnnx.Input", name, shape=(None, None, None, None)) for name in "qkv")
    k = writer.add("kuiper.Cache", "keys", k)
    v = v if one_cache else writer.add("kuiper.Cache", "values", v)
    y = writer.add(reader, "attention", q, k, v)
    if second_reader:
        writer.finish(writer.add("F.relu", "other", k))
        writer.graph.operators[-1].name = "pnnx_output_1"
    writer.finish(y)
    return writer.graph


def types_after(graph: pnnx.Graph) -> list[str]:
    model = RuntimeGraph(graph)
    model.build(registry, passes=[fuse_caches_into_attention])
    assert_wired(model)
    return [op.type for op in model.operators if not op.type.startswith("pnnx.")]


def test_pass_makes_one_operator_of_caches_and_attention() -> None:
    assert types_after(attention_graph()) == ["kuiper.CachedAttention"]


@pytest.mark.parametrize("kept", [{"second_reader": True}, {"one_cache": True}])
def test_pass_leaves_alone_what_is_not_the_attentions_own(kept: dict[str, bool]) -> None:
    assert "kuiper.CausalAttention" in types_after(attention_graph(**kept))


def test_pass_leaves_other_readers_of_two_caches_alone() -> None:
    kept = ["kuiper.Cache", "kuiper.Cache", "F.scaled_dot_product_attention"]
    assert types_after(attention_graph(reader=kept[-1])) == kept


def test_pass_leaves_layers_of_ones_own_alone() -> None:
    class Mine(registry._factories["kuiper.Cache"]):  # type: ignore[misc, name-defined]
        """A cache of one's own."""

    with kuiper.layers.override("kuiper.Cache", Mine):
        assert types_after(attention_graph()) == ["kuiper.Cache", "kuiper.Cache", "kuiper.CausalAttention"]


@pytest.mark.parametrize("kept", [{}, {"second_reader": True}])
def test_pass_changes_no_number(kept: dict[str, bool]) -> None:
    rng = np.random.default_rng(0)
    inputs = [rng.standard_normal((2, 3, 7, 5)).astype(np.float32) for _ in range(3)]
    plain, fused = RuntimeGraph(attention_graph(**kept)), RuntimeGraph(attention_graph(**kept))
    plain.build(registry)
    fused.build(registry, True, None, Engine)
    expected, got = plain.forward(*inputs), fused.forward(*inputs)
    for want, y in zip(expected if kept else [expected], got if kept else [got], strict=True):
        np.testing.assert_allclose(y, want, atol=1e-6)

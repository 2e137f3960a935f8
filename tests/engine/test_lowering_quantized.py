"""Products with weights of 8 and 4 bits: the kernel against the layer, on sizes that hit every remainder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import kuiper
from kuiper.engine.engine import Engine
from kuiper.engine.kernels.quantized_product import WIDTH
from kuiper.errors import TensorIndexError
from kuiper.graph import RuntimeGraph, pnnx
from kuiper.layers import registry
from kuiper.models.quantization import quantize_graph
from kuiper.models.text.graph_writer import GraphWriter
from kuiper.models.text.random_decoder import random_decoder

if TYPE_CHECKING:
    from collections.abc import Callable


def built(graph: pnnx.Graph, optimize: bool) -> RuntimeGraph:
    model = RuntimeGraph(graph)
    model.build(registry, optimize, None, Engine if optimize else None)
    return model


def algorithms(model: RuntimeGraph, *inputs: np.ndarray) -> str:
    return str(model.plan(*inputs, runs=1))


def linear(
    outputs: int, depth: int, bias: bool, then: Callable[[GraphWriter, Any, Any], Any] | None = None
) -> pnnx.Graph:
    """x (?, depth) -> a linear layer, and what stands behind it."""
    rng, writer = np.random.default_rng(outputs), GraphWriter()
    x = writer.add("pnnx.Input", "x", shape=(None, depth))
    attrs = {"bias": rng.standard_normal(outputs, np.float32)} if bias else {}
    attrs["weight"] = rng.standard_normal((outputs, depth), np.float32)
    params = {"bias": bias, "in_features": depth, "out_features": outputs}
    y = writer.add("nn.Linear", "fc", x, shape=(None, outputs), params=params, attrs=attrs)
    writer.finish(y if then is None else then(writer, y, x))
    return writer.graph


@pytest.mark.parametrize("bits", [8, 4])
@pytest.mark.parametrize("rows", [1, 2, 6, 7, 13, 40])
@pytest.mark.parametrize("outputs", [1, WIDTH - 1, WIDTH, WIDTH + 1, 3 * WIDTH + 5])
def test_products_are_those_of_the_layer(bits: int, rows: int, outputs: int) -> None:
    depth = 96 if bits == 4 else 77
    graph = linear(outputs, depth, bias=outputs % 2 == 1)
    quantize_graph(graph, bits)
    x = np.random.default_rng(rows).standard_normal((rows, depth), np.float32)
    expected = np.asarray(built(graph, False)(x))
    model = built(graph, True)
    np.testing.assert_allclose(np.asarray(model(x)), expected, atol=1e-5 * np.abs(expected).max())
    assert f"product with {bits} bits" in algorithms(model, x)


@pytest.mark.parametrize("bits", [8, 4])
def test_residual_and_activation_are_part_of_the_step(bits: int) -> None:
    def then(writer: GraphWriter, y: Any, x: Any) -> Any:
        added = writer.add("pnnx.Expression", "sum", y, x, shape=y.shape, params={"expr": "add(@0,@1)"})
        return writer.add("F.silu", "silu", added, shape=y.shape)

    graph = linear(64, 64, bias=True, then=then)
    quantize_graph(graph, bits)
    x = np.random.default_rng(3).standard_normal((9, 64), np.float32)
    expected = np.asarray(built(graph, False)(x))
    model = built(graph, True)
    np.testing.assert_allclose(np.asarray(model(x)), expected, atol=1e-5 * np.abs(expected).max())
    table = algorithms(model, x)
    assert "fc+add+silu" in table
    assert "silu " not in table.replace("fc+add+silu", "")


@pytest.mark.parametrize("bits", [8, 4])
@pytest.mark.parametrize("tied", [True, False])
def test_quantised_decoders_on_the_engine_are_those_of_the_layers(bits: int, tied: bool) -> None:
    graph = random_decoder(
        seed=2, hidden_size=64, intermediate_size=96, head_dim=16, vocab_size=77, tie_word_embeddings=tied
    )
    quantize_graph(graph, bits)
    tokens = np.random.default_rng(0).integers(0, 77, (1, 21))
    expected = np.asarray(built(graph, False)(tokens))
    model = built(graph, True)
    np.testing.assert_allclose(np.asarray(model(tokens)), expected, atol=1e-5 * np.abs(expected).max())
    session = model.start(max_length=32)
    pieces = [np.asarray(session(token)) for token in tokens[0, :, None]]
    np.testing.assert_allclose(np.concatenate(pieces), expected[0], atol=1e-5 * np.abs(expected).max())
    table = algorithms(model, tokens)
    assert f"rows of {bits} bits" in table
    assert "direct 1x1" not in table


def test_any_number_of_threads_gives_the_same_bits() -> None:
    graph = linear(5 * WIDTH, 256, bias=True)
    quantize_graph(graph, 4)
    model = built(graph, True)
    x = np.random.default_rng(3).standard_normal((11, 256), np.float32)
    before, answers = kuiper.get_num_threads(), []
    try:
        for threads in (1, 2, 5):
            kuiper.set_num_threads(threads)
            answers.append(np.asarray(model(x)))
    finally:
        kuiper.set_num_threads(before)
    np.testing.assert_array_equal(answers[0], answers[1])
    np.testing.assert_array_equal(answers[0], answers[2])


@pytest.mark.parametrize("bits", [8, 4])
def test_a_token_that_lies_outside_of_the_table_is_an_error(bits: int) -> None:
    graph = random_decoder(seed=2, hidden_size=64, intermediate_size=96, head_dim=16)
    quantize_graph(graph, bits)
    model = built(graph, True)
    for token in (32, -1, 1 << 40):
        with pytest.raises(TensorIndexError, match="embedding"):
            model([[0, token]])
    assert np.isfinite(np.asarray(model([[0, 31]]))).all()

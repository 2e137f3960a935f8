"""Products with weights of 8 and 4 bits: the kernel against the layer, on sizes that hit every remainder."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import kuiper
from kuiper.engine.engine import Engine
from kuiper.engine.kernels.quantized_product import WIDTH
from kuiper.engine.runner import Runner
from kuiper.errors import TensorIndexError
from kuiper.graph import RuntimeGraph, pnnx
from kuiper.layers import registry
from kuiper.models.quantization import quantize_graph
from kuiper.models.text.graph_writer import GraphWriter
from kuiper.models.text.random_decoder import random_decoder
from tests.engine.machines import with_split_int8

if TYPE_CHECKING:
    from collections.abc import Callable


FORMS = pytest.mark.parametrize(("bits", "group"), [(8, None), (8, 32), (4, None)], ids=["8", "8 in groups", "4"])
"""Of weights: with a scale for each row, or for each 32 numbers of a row."""


def named(bits: int, group: int | None) -> str:
    """What a plan calls such weights."""
    return f"{bits} bits{' in groups' if group else ''}"


def algorithms(model: RuntimeGraph, *inputs: np.ndarray) -> str:
    return str(model.plan(*inputs, runs=1))


def plan_steps(model: RuntimeGraph, *inputs: np.ndarray) -> list[Any]:
    """The cards of the steps of a plan."""
    plan = Engine(model).plan_for(inputs)
    assert isinstance(plan, Runner)
    return [card for segment in plan.executable.compiled() for card in segment.steps]


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


@FORMS
@pytest.mark.parametrize("rows", [1, 2, 6, 7, 13, 40])
@pytest.mark.parametrize("outputs", [1, WIDTH - 1, WIDTH, WIDTH + 1, 3 * WIDTH + 5])
def test_products_are_those_of_the_layer(way: str, bits: int, group: int | None, rows: int, outputs: int) -> None:
    depth = 96 if bits == 4 or group else 74 + rows % 4  # with every remainder by 4
    graph = linear(outputs, depth, bias=outputs % 2 == 1)
    quantize_graph(graph, bits, group)
    x = np.random.default_rng(rows).standard_normal((rows, depth), np.float32)
    expected = np.asarray(kuiper.load(graph, optimize=False)(x))
    model = kuiper.load(graph)
    np.testing.assert_allclose(np.asarray(model(x)), expected, atol=1e-5 * np.abs(expected).max())
    table = algorithms(model, x)
    assert f"product with {named(bits, group)}{', in split int8' if way == 'in split int8' else ' '}" in table
    assert ("in split int8" in table) == (way == "in split int8")


@FORMS
@pytest.mark.parametrize("optimize", [True, False])
def test_products_are_those_with_the_dequantised_weight(way: str, bits: int, group: int | None, optimize: bool) -> None:
    graph = linear(70, 96, bias=False)
    quantize_graph(graph, bits, group)
    x = np.random.default_rng(1).standard_normal((9, 96), np.float32)
    model = kuiper.load(graph, optimize=optimize)
    (weight,) = (found for op in model.operators if (found := op.quantized("weight")) is not None)
    assert weight.group == (96 if (bits, group) == (8, None) else 32)
    expected = x.astype(np.float64) @ weight.dequantized().astype(np.float64).T
    np.testing.assert_allclose(np.asarray(model(x)), expected, atol=1e-5 * np.abs(expected).max())


@FORMS
@pytest.mark.parametrize("worst", [np.nan, np.inf, -np.inf, 1e35, 1e-37, 1e-45])
def test_rows_that_are_no_whole_numbers_are_those_of_the_layer(
    way: str, bits: int, group: int | None, worst: float
) -> None:
    graph = linear(WIDTH + 3, 64, bias=False)
    quantize_graph(graph, bits, group)
    x = np.random.default_rng(5).standard_normal((5, 64), np.float32)
    x[0, 5] = x[3, 63] = worst
    x[1] = 0
    x[2] *= np.float32(worst) if abs(worst) < 1 else np.float32(1e-30)
    with np.errstate(all="ignore"):
        expected = np.asarray(kuiper.load(graph, optimize=False)(x))
        got = np.asarray(kuiper.load(graph)(x))
    for row, other in zip(got, expected, strict=True):
        largest = np.abs(other[np.isfinite(other)]).max(initial=0)
        np.testing.assert_allclose(row, other, rtol=1e-5, atol=max(1e-5 * largest, 1e-38))


@FORMS
def test_sums_of_the_largest_numbers_do_not_overflow(way: str, bits: int, group: int | None) -> None:
    graph = linear(3, 8192, bias=False)
    for op in graph.operators:
        if op.attrs:
            op.attrs["weight"].data[...] = [[1.0], [-1.0], [0.5]]
    quantize_graph(graph, bits, group)
    x = np.full((2, 8192), np.float32(1.9999999), np.float32)
    x[1] *= -1
    expected = np.asarray(kuiper.load(graph, optimize=False)(x))
    np.testing.assert_allclose(np.asarray(kuiper.load(graph)(x)), expected, rtol=1e-5)


def test_a_row_longer_than_sums_of_whole_numbers_can_be_is_multiplied_by_floats(way: str) -> None:
    graph = linear(3, (1 << 16) + 4, bias=True)
    quantize_graph(graph, 8)
    x = np.random.default_rng(5).standard_normal((1, (1 << 16) + 4), np.float32)
    model = kuiper.load(graph)
    expected = np.asarray(kuiper.load(graph, optimize=False)(x))
    np.testing.assert_allclose(np.asarray(model(x)), expected, atol=1e-5 * np.abs(expected).max())
    assert "in split int8" not in algorithms(model, x)


def test_products_of_the_same_rows_share_their_slices() -> None:
    graph = random_decoder(seed=2, hidden_size=64, intermediate_size=96, head_dim=16, num_hidden_layers=1)
    quantize_graph(graph, 8)
    model = RuntimeGraph(graph)
    model.build(registry, True, None, partial(Engine, machine=with_split_int8(True)))
    algorithm_of_steps = [row[2] for row in model.plan(np.array([[1, 2, 3]]), runs=1).rows]
    assert (
        algorithm_of_steps.count("split into int8") == 5
    )  # of q, k and v; of what attention gives; gate and up; down; the head


@FORMS
def test_residual_and_activation_are_part_of_the_step(way: str, bits: int, group: int | None) -> None:
    def then(writer: GraphWriter, y: Any, x: Any) -> Any:
        added = writer.add("pnnx.Expression", "sum", y, x, shape=y.shape, params={"expr": "add(@0,@1)"})
        return writer.add("F.silu", "silu", added, shape=y.shape)

    graph = linear(64, 64, bias=True, then=then)
    quantize_graph(graph, bits, group)
    x = np.random.default_rng(3).standard_normal((9, 64), np.float32)
    expected = np.asarray(kuiper.load(graph, optimize=False)(x))
    model = kuiper.load(graph)
    np.testing.assert_allclose(np.asarray(model(x)), expected, atol=1e-5 * np.abs(expected).max())
    table = algorithms(model, x)
    assert "fc+add+silu" in table
    assert "silu " not in table.replace("fc+add+silu", "")


@FORMS
@pytest.mark.parametrize("tied", [True, False])
def test_quantised_decoders_on_the_engine_are_those_of_the_layers(
    way: str, bits: int, group: int | None, tied: bool
) -> None:
    graph = random_decoder(
        seed=2, hidden_size=64, intermediate_size=96, head_dim=16, vocab_size=77, tie_word_embeddings=tied
    )
    quantize_graph(graph, bits, group)
    tokens = np.random.default_rng(0).integers(0, 77, (1, 21))
    expected = np.asarray(kuiper.load(graph, optimize=False)(tokens))
    model = kuiper.load(graph)
    np.testing.assert_allclose(np.asarray(model(tokens)), expected, atol=1e-5 * np.abs(expected).max())
    session = model.start(max_length=32)
    pieces = [np.asarray(session(token)) for token in tokens[0, :, None]]
    np.testing.assert_allclose(np.concatenate(pieces), expected[0], atol=1e-5 * np.abs(expected).max())
    table = algorithms(model, tokens)
    assert f"rows of {named(bits, group)}" in table
    assert "direct 1x1" not in table


@FORMS
def test_any_number_of_threads_gives_the_same_bits(way: str, bits: int, group: int | None) -> None:
    graph = linear(5 * WIDTH, 256, bias=True)
    quantize_graph(graph, bits, group)
    model = kuiper.load(graph)
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


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("bits", [32, 8, 4])
def test_a_token_that_lies_outside_of_the_table_is_an_error(bits: int) -> None:
    graph = random_decoder(seed=2, hidden_size=64, intermediate_size=96, head_dim=16)
    if bits < 32:
        quantize_graph(graph, bits)
    model = kuiper.load(graph)
    for token in (32, -1, 1 << 40):
        with pytest.raises(TensorIndexError, match="embedding"):
            model([[0, token]])
    assert np.isfinite(np.asarray(model([[0, 31]]))).all()


@pytest.mark.usefixtures("way")
def test_threads_share_a_small_product() -> None:
    """Keys and values of a small decoder: as one task, one thread would do them alone. A panel is never divided."""
    graph = linear(max(192, 3 * WIDTH), 576, bias=False)
    quantize_graph(graph, 4)
    plan = Engine(kuiper.load(graph)).plan_for([np.zeros((1, 576), np.float32)])
    assert isinstance(plan, Runner)
    assert max(step.tasks for segment in plan.executable.compiled() for step in segment.program.steps) >= 3


def test_rows_of_a_table_count_the_bytes_that_they_read() -> None:
    moved = []
    for bits in (8, 4):
        writer = GraphWriter()
        tokens = writer.add("pnnx.Input", "tokens", shape=(None,), dtype=pnnx.DataType.I64)
        data = np.random.default_rng(4).standard_normal((50, 64), np.float32)
        table = writer.add("pnnx.Attribute", "table", shape=data.shape, attrs={"data": data})
        writer.finish(writer.add("F.embedding", "embedding", tokens, table, shape=(None, 64)))
        quantize_graph(writer.graph, bits)
        cards = plan_steps(kuiper.load(writer.graph), np.arange(10, dtype=np.int64))
        moved += [card.bytes for card in cards if card.algorithm == f"rows of {bits} bits"]
    assert len(moved) == 2
    assert moved[0] - moved[1] == 10 * 64 // 2

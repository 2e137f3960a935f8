"""Tables that a model looks rows up in and multiplies with: they lie in panels, and rows have the same bits as ever."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import kuiper
from kuiper.engine.engine import Engine
from kuiper.engine.kernels.convolution import LANES
from kuiper.engine.kernels.quantized_product import WIDTH
from kuiper.engine.runner import Runner
from kuiper.graph.pnnx import DataType
from kuiper.models.quantization import quantize_graph
from kuiper.models.text.graph_writer import GraphWriter

if TYPE_CHECKING:
    from kuiper.graph import RuntimeGraph, pnnx

SIZES = sorted({1, max(1, LANES - 1), LANES, LANES + 1, WIDTH, WIDTH + 1, 3 * WIDTH + LANES + 3})


def tied(
    size: int, depth: int, bits: int, dtype: DataType = DataType.I64, returns: bool = False, bias: float | None = None
) -> pnnx.Graph:
    """Tokens (?) -> their rows of a table, and the products of these with the whole table; perhaps the table, too."""
    rng, writer = np.random.default_rng(size), GraphWriter()
    tokens = writer.add("pnnx.Input", "tokens", shape=(None,), dtype=dtype)
    data = rng.standard_normal((size, depth), np.float32)
    table = writer.add("pnnx.Attribute", "table", shape=data.shape, attrs={"data": data})
    rows = writer.add("F.embedding", "rows", tokens, table, shape=(None, depth))
    params: dict[str, Any] = {} if bias is None else {"bias": bias}
    head = writer.add("F.linear", "head", rows, table, shape=(None, size), params=params)
    if bits < 32:
        quantize_graph(writer.graph, bits)
    outputs = [rows, head, table] if returns else [rows, head]
    writer.finish(writer.add("prim::TupleConstruct", "outputs", *outputs, shape=()))
    return writer.graph


def algorithms(model: RuntimeGraph, tokens: np.ndarray) -> list[str]:
    return [row[2] for row in model.plan(tokens, runs=1).rows]


def is_dropped(model: RuntimeGraph) -> bool:
    """Whether the graph has left the table to the engine, which makes it anew for each who asks."""
    layer = next(op.layer for op in model.operators if op.name == "table")
    assert layer is not None
    stored = layer.stored if layer.quantized is None else layer.quantized.stored
    return stored.get() is not stored.get()


@pytest.mark.thorough
@pytest.mark.usefixtures("way")
@pytest.mark.parametrize(("bits", "depth"), [(32, 1), (32, 37), (8, 1), (8, 37), (8, 64), (4, 32), (4, 96)])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("count", [1, 2, 3, 40])
def test_rows_out_of_panels_are_those_of_the_table(bits: int, depth: int, size: int, count: int) -> None:
    graph = tied(size, depth, bits)
    tokens = np.random.default_rng(count).integers(0, size, count)
    tokens[-1] = size - 1
    expected, products = (np.asarray(each) for each in kuiper.load(graph, optimize=False)(tokens))
    model = kuiper.load(graph)
    for _ in range(2):  # the second time the graph has dropped the table
        rows, head = (np.asarray(each) for each in model(tokens))
        np.testing.assert_array_equal(rows, expected)
        np.testing.assert_allclose(head, products, atol=1e-5 * np.abs(products).max())
    assert ("rows from panels" if bits == 32 else f"rows of {bits} bits, from panels") in algorithms(model, tokens)
    assert is_dropped(model)


def test_indices_of_32_bits_take_rows_of_the_table_as_it_is() -> None:
    graph = tied(3 * WIDTH, 16, 32, DataType.I32)
    model, tokens = kuiper.load(graph), np.array([0, 2 * WIDTH + 1, 5], np.int32)
    for _ in range(2):
        np.testing.assert_array_equal(
            np.asarray(model(tokens)[0]), np.asarray(kuiper.load(graph, optimize=False)(tokens)[0])
        )
    assert "rows from panels" not in algorithms(model, tokens)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("bits", [32, 8, 4])
def test_a_table_that_somebody_else_reads_stays_in_rows(bits: int) -> None:
    graph = tied(40, 32, bits, returns=True)
    model, tokens = kuiper.load(graph), np.array([1, 39])
    for got, expected in zip(model(tokens), kuiper.load(graph, optimize=False)(tokens), strict=True):
        np.testing.assert_allclose(np.asarray(got), np.asarray(expected), atol=1e-4)
    assert not any("from panels" in algorithm for algorithm in algorithms(model, tokens))


def test_a_table_whose_products_get_a_bias_stays_in_rows() -> None:
    graph = tied(40, 32, 32, bias=0.5)
    model, tokens = kuiper.load(graph), np.array([1, 39])
    for got, expected in zip(model(tokens), kuiper.load(graph, optimize=False)(tokens), strict=True):
        np.testing.assert_allclose(np.asarray(got), np.asarray(expected), atol=1e-4)
    assert "rows from panels" not in algorithms(model, tokens)
    assert not is_dropped(model)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("bits", [32, 8, 4])
def test_no_plan_keeps_a_tied_table_in_rows(bits: int) -> None:
    graph, tokens = tied(50, 32, bits), np.array([3, 49])
    model = kuiper.load(graph)
    engine = Engine(model)
    plan = engine.plan_for([tokens])
    assert isinstance(plan, Runner)
    assert is_dropped(model)
    kept = [array for array in plan.executable.python_constants.values() if isinstance(array, np.ndarray)]
    assert all(array.shape[-1] == WIDTH for array in kept)  # panels


@pytest.mark.usefixtures("way")
def test_scales_of_4_bits_may_be_below_zero_or_not_finite() -> None:
    graph, tokens = tied(40, 64, 4), np.arange(40)
    scales = graph.operator("table").attrs["data_scales"].data
    assert scales is not None
    scales[::2] *= -1
    scales[1], scales[3], scales[4] = np.inf, np.nan, np.float16(6e-8)  # the last one: the smallest there is
    with np.errstate(invalid="ignore"):
        expected = np.asarray(kuiper.load(graph, optimize=False)(tokens)[0])
        np.testing.assert_array_equal(np.asarray(kuiper.load(graph)(tokens)[0]), expected)

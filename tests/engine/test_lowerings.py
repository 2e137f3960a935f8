"""Every lowering makes steps of something that PyTorch exports or a decoder has: none has come to decline all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import kuiper
from kuiper.engine.engine import Engine
from kuiper.engine.lowering import registry
from kuiper.engine.runner import Runner
from kuiper.models.quantization import quantize_graph
from kuiper.models.text.random_decoder import random_decoder
from kuiper.models.text.random_encoder import random_encoder
from tests.engine.test_lowering_group_query_attention import arguments, inputs_of, models
from tests.engine.test_lowering_recurrent import line
from tests.fixtures.operator_files import case_names, graph_file
from tests.fixtures.operator_files import inputs_of as inputs_of_case
from tests.graph.pass_graphs import OUTPUT, file_graph

if TYPE_CHECKING:
    from collections.abc import Iterator

OF_BYTES = (
    "integer_matmul",
    "integer_convolution",
    "byte_pooling",
    "byte_arithmetic",
    "byte_softmax",
    "quantize",
    "quantized_lstm",
    "byte_table",
)
"""Modules whose operators PyTorch does not export: see test_lowering_bytes.py, test_lowering_quantized_onnx.py and
test_quantized_lstm.py."""


def plans() -> Iterator[Runner | None]:
    """Of all exported operators, of some that only ONNX has, of an encoder, and of decoders in floats and in 8 bits."""
    expand = ("Shape s 1 1 x0 s", "Expand it 2 1 x0 s y")
    mask = ("pnnx.Input m 0 1 m #m=(1,2)i64", "torch.unsqueeze q 1 1 x0 q dim=1")
    model = kuiper.load(file_graph("pnnx.Input in 0 1 x0", *mask, "com.microsoft.AttentionMask it 3 1 q q m y", OUTPUT))
    yield plan_of(model, [np.zeros((1, 2, 3), np.float32), np.array([[1, 0]])])
    count = kuiper.load(file_graph("pnnx.Input m 0 1 m #m=(1,2)i64", "com.microsoft.MaskIndex it 1 1 m y", OUTPUT))
    yield plan_of(count, [np.array([[1, 0]])])
    index = ("Shape s 1 1 x0 s end=2", "pnnx.Expression n 1 1 s n expr=sub(@0,1)", "torch.unsqueeze u 1 1 n i dim=0")
    for picked in (("Gather it 2 1 x0 i y axis=1",), ("GatherND it 2 1 x0 i y",)):
        model = kuiper.load(file_graph("pnnx.Input in 0 1 x0", *index, *picked, OUTPUT))
        yield plan_of(model, [np.zeros((3, 3, 2), np.float32)])
    for operators in ([line("ResetFirstGRU", 3, 4)], ["Pad it 1 1 x0 y pads=(0,0,1,0,0,2)"], expand):
        model = kuiper.load(file_graph("pnnx.Input in 0 1 x0", *operators, OUTPUT))
        yield plan_of(model, [np.zeros((2, 1, 3), np.float32)])
    given = inputs_of((2,), 2, 0)
    yield plan_of(models(given)[0], arguments(given))
    for name in case_names():
        yield plan_of(kuiper.load(graph_file(name)), inputs_of_case(name))
    yield plan_of(kuiper.load(random_encoder(seed=1)), [np.array([[1, 2, 3]])], max_length=3)
    for bits in (32, 8):
        graph = random_decoder(seed=1, hidden_size=64, intermediate_size=96, head_dim=16)
        if bits < 32:
            quantize_graph(graph, bits)
        yield plan_of(kuiper.load(graph), [np.array([[1, 2, 3]])], max_length=16)


def plan_of(model: kuiper.RuntimeGraph, inputs: list[np.ndarray], max_length: int = 0) -> Runner | None:
    assert isinstance(model._execution.executor, Engine)
    plan = model._execution.executor.plan_for(inputs, max_length)
    return plan if isinstance(plan, Runner) else None


def test_every_lowering_makes_steps() -> None:
    cards = [card for plan in plans() if plan for part in plan.executable.compiled() for card in part.steps]
    made = {registry.lowered_as(card.op.layer) for card in cards}
    exported = {
        layer for layer, lower in registry._lowerings.items() if lower.__module__.rpartition(".")[2] not in OF_BYTES
    }
    assert exported <= made

"""LSTM, GRU and RNN in a plan: the numbers of the layers, for all that a network may return and be given."""

from __future__ import annotations

import numpy as np
import pytest

import kuiper
from kuiper.engine.kernels.convolution import LANES
from kuiper.engine.kernels.recurrent import KINDS, Recurrent
from kuiper.engine.lowering.recurrent import NO_LENGTHS
from tests.engine.lowered import steps_of
from tests.engine.models import algorithms, assert_close, both, numbers, plan_of
from tests.engine.one_step import run_step
from tests.graph.pass_graphs import OUTPUT

GATES = {"LSTM": 4, "GRU": 3, "ResetFirstGRU": 3, "RNN": 1}
TYPES = {"ResetFirstGRU": "kuiper.GRU"}


def line(
    kind: str,
    features: int,
    hidden: int,
    inputs: str = "x0",
    outputs: str = "y",
    layers: int = 1,
    directions: int = 1,
    bias: bool = True,
    more: str = "",
) -> str:
    """The operator, with the shapes of its weights."""
    weights = []
    for k in range(layers * directions):
        suffix = f"l{k // directions}{'_reverse' if k % directions else ''}"
        rows, read = GATES[kind] * hidden, features if k < directions else directions * hidden
        weights += [f"@weight_ih_{suffix}=({rows},{read})f32", f"@weight_hh_{suffix}=({rows},{hidden})f32"]
        if bias:
            weights += [f"@bias_ih_{suffix}=({rows})f32", f"@bias_hh_{suffix}=({rows})f32"]
    counts = f"{len(inputs.split())} {len(outputs.split())}"
    settings = f"hidden_size={hidden} input_size={features} num_layers={layers} bias={bias}"
    settings += f" bidirectional={directions == 2}"
    return f"{TYPES.get(kind, f'nn.{kind}')} it {counts} {inputs} {outputs} {settings} {more} {' '.join(weights)}"


@pytest.mark.parametrize("kind", GATES)
@pytest.mark.parametrize("hidden", [1, 7, 16, 17, 33, 64])
@pytest.mark.parametrize("n", [1, 3, 13])
def test_recurrent_step_for_all_widths_and_batches(kind: str, hidden: int, n: int) -> None:
    steps = steps_of(line(kind, 5, hidden), inputs=[numbers(4, n, 5)])
    assert steps[-1] == kind
    assert "layer" not in steps


@pytest.mark.parametrize("kind", GATES)
@pytest.mark.parametrize("bias", [True, False])
def test_recurrent_layers_in_both_directions_with_the_batch_first(kind: str, bias: bool) -> None:
    it = line(kind, 6, 9, layers=2, directions=2, bias=bias, more="batch_first=True")
    assert steps_of(it, inputs=[numbers(3, 5, 6)]).count(kind) == 2


def test_rnn_with_relu_is_a_step() -> None:
    assert steps_of(line("RNN", 5, 21, more="nonlinearity=relu"), inputs=[numbers(6, 2, 5)])[-1] == "RNN"


@pytest.mark.parametrize("kind", GATES)
def test_recurrent_without_a_batch(kind: str) -> None:
    assert steps_of(line(kind, 5, 21), inputs=[numbers(6, 5)])[-1] == kind


@pytest.mark.parametrize("kind", GATES)
def test_recurrent_takes_and_gives_states(kind: str) -> None:
    cells, n, hidden = 4, 3, 10
    states = [numbers(cells, n, hidden, seed=k + 1) for k in range(2 if kind == "LSTM" else 1)]
    names = ["x0", *(f"x{k + 1}" for k in range(len(states)))]
    made = ["y", "h", "c"][: 1 + len(states)]
    shapes = [f"#y=(5,{n},{2 * hidden})f32", *(f"#{name}=({cells},{n},{hidden})f32" for name in made[1:])]
    inputs = [numbers(5, n, 6), *states]
    declared = [f"pnnx.Input in{i} 0 1 x{i} #x{i}=({','.join(map(str, x.shape))})f32" for i, x in enumerate(inputs)]
    it = line(kind, 6, hidden, " ".join(names), " ".join(made), layers=2, directions=2, more=" ".join(shapes))
    ends = [f"pnnx.Output out{i} 1 0 {name}" for i, name in enumerate(made)]
    fast, plain = both(*declared, it, *ends)
    assert_close(fast(*inputs), plain(*inputs))
    assert "layer" not in algorithms(plan_of(fast, inputs))


@pytest.mark.parametrize("kind", GATES)
@pytest.mark.parametrize(("first", "end"), [(0, 1), (0, 12), (2, 9), (12, 13)])
def test_recurrent_bits_do_not_depend_on_other_sequences(kind: str, first: int, end: int) -> None:
    x = numbers(9, 13, 5)
    whole, _ = both("pnnx.Input in 0 1 x0 #x0=(9,13,5)f32", line(kind, 5, 20), OUTPUT)
    part, _ = both(f"pnnx.Input in 0 1 x0 #x0=(9,{end - first},5)f32", line(kind, 5, 20), OUTPUT)
    alone = np.asarray(part(np.ascontiguousarray(x[:, first:end])))
    np.testing.assert_array_equal(alone, np.asarray(whole(x))[:, first:end])


@pytest.mark.parametrize("kind", GATES)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e30, -1e30])
def test_recurrent_steps_pass_extremes_on_as_the_layer_does(kind: str, value: float) -> None:
    x = numbers(6, 2, 5)
    x[2, 0, 1] = value
    fast, plain = both("pnnx.Input in 0 1 x0 #x0=(6,2,5)f32", line(kind, 5, 20), OUTPUT)
    got, expected = np.asarray(fast(x)), np.asarray(plain(x))
    np.testing.assert_array_equal(np.isnan(got), np.isnan(expected))
    assert_close(np.nan_to_num(got), np.nan_to_num(expected))


def test_lstm_with_a_projection_is_left_to_the_layer() -> None:
    weights = "@weight_ih_l0=(32,5)f32 @weight_hh_l0=(32,3)f32 @weight_hr_l0=(3,8)f32"
    it = f"nn.LSTM it 1 1 x0 y hidden_size=8 input_size=5 num_layers=1 proj_size=3 bias=False {weights}"
    assert steps_of(it, inputs=[numbers(4, 2, 5)]) == ["layer"]


def test_recurrent_network_runs_with_any_number_of_threads() -> None:
    fast, _ = both("pnnx.Input in 0 1 x0 #x0=(9,13,5)f32", line("GRU", 5, 20, directions=2), OUTPUT)
    before, x, results = kuiper.get_num_threads(), numbers(9, 13, 5), []
    try:
        for threads in (1, 2, 3):
            kuiper.set_num_threads(threads)
            results.append(np.asarray(fast(x)))
    finally:
        kuiper.set_num_threads(before)
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])


@pytest.mark.parametrize("hidden", [1, 2, 3])
def test_recurrent_takes_a_state_whose_numbers_lie_apart(hidden: int) -> None:
    weights = f"@weight_ih_l0=({hidden},4)f32 @weight_hh_l0=({hidden},{hidden})f32"
    lines = (
        "nn.ReLU r 1 1 x1 1",
        "Tensor.permute p 1 1 1 h dims=(0,2,1)",
        f"nn.RNN it 2 1 x0 h y input_size=4 hidden_size={hidden} num_layers=1 bias=False batch_first=False "
        f"bidirectional=False nonlinearity=tanh {weights}",
    )
    assert "layer" not in steps_of(*lines, inputs=[numbers(5, 3, 4), numbers(1, hidden, 3, seed=1)])


def test_recurrent_step_writes_the_last_state_at_the_arenas_start() -> None:
    steps, gates, h, out = 3, 4 * LANES, 8 * LANES, 9 * LANES
    places = [{"offset": offset, "direction": LANES, "row": LANES} for offset in (h, h, 0)]
    numbers_of_step = {
        "kind": KINDS["tanh"], "directions": 1, "cells": LANES, "steps": steps, "sequences": 1,
        "vectors": 1, "panels": 1, "cell_vectors": 0, "cell_panels": 0,
        "gates": gates, "gates_step": LANES, "gates_row": LANES,
        "out": out, "out_step": LANES, "out_row": LANES, **NO_LENGTHS,
    }  # fmt: skip
    weights, bias = np.zeros(LANES * LANES, np.float32), np.zeros(LANES, np.float32)
    step = Recurrent(numbers_of_step, (*places, {"offset": -1, "direction": 0, "row": 0}), weights, bias)
    arena = np.zeros(16 * LANES + 64, np.float32)
    arena[gates : gates + steps * LANES] = numbers(steps * LANES)
    got = run_step(step, arena)
    expected = np.tanh(arena[gates : gates + steps * LANES])
    np.testing.assert_allclose(got[out : out + steps * LANES], expected, atol=1e-6)
    np.testing.assert_array_equal(got[:LANES], got[out + (steps - 1) * LANES :][:LANES])


@pytest.mark.parametrize("layers", [1, 2])
def test_recurrent_outputs_are_parts_of_a_concatenation(layers: int) -> None:
    lines = (
        "nn.Identity i 1 1 x0 x",
        line("LSTM", 5, 64, inputs="x", outputs="1", layers=layers).replace(" it ", " first "),
        line("GRU", 5, 64, inputs="x", outputs="2", layers=layers).replace(" it ", " second "),
        "torch.cat join 2 1 1 2 y dim=2",
    )
    steps = steps_of(*lines, inputs=[numbers(4, 3, 5)])
    assert steps.count("LSTM") == steps.count("GRU") == layers
    assert "copy" not in steps

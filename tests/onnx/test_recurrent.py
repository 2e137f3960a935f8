"""LSTM, GRU and RNN: torch's layers for constant weights, and ONNX's own for everything else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import helper

from kuiper.errors import KuiperError
from kuiper.models.onnx import backend
from tests.onnx.beside_evaluator import check, model, operator_types
from tests.onnx.models import assert_agrees, model_of

RNG = np.random.default_rng(0)
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
HIDDEN, FEATURES = 5, 3
node = helper.make_node


def numbers(*shape: int) -> np.ndarray:
    return (RNG.standard_normal(shape) * 0.5).astype(np.float32)


def weights_of(kind: str, directions: int) -> dict[str, np.ndarray]:
    rows = GATES[kind] * HIDDEN
    return {
        "w": numbers(directions, rows, FEATURES),
        "r": numbers(directions, rows, HIDDEN),
        "b": numbers(directions, 2 * rows),
    }


@pytest.mark.parametrize("kind", GATES)
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("layout", [0, 1])
def test_torchs_layers_compute_what_onnxs_own_do(kind: str, direction: str, layout: int) -> None:
    directions = 2 if direction == "bidirectional" else 1
    weights, outputs = weights_of(kind, directions), ["y", "h", "c"][: 3 if kind == "LSTM" else 2]
    settings: dict[str, Any] = {"hidden_size": HIDDEN, "direction": direction, "layout": layout}
    if kind == "GRU":
        settings["linear_before_reset"] = 1
    net = node(kind, ["x", "w", "r", "b", "", "h0"], outputs, **settings)
    states = (directions, 2, HIDDEN) if layout == 0 else (2, directions, HIDDEN)
    given = {"x": numbers(4, 2, FEATURES) if layout == 0 else numbers(2, 4, FEATURES), "h0": numbers(*states)}
    constant, computed = model([net], given, outputs, weights), model([net], given | weights, outputs)
    assert f"nn.{kind}" in operator_types(constant)
    assert operator_types(computed) == [kind]
    for optimize in (True, False):
        ours = backend.prepare(constant, optimize=optimize).run(list(given.values()))
        theirs = backend.prepare(computed, optimize=optimize).run(list((given | weights).values()))
        for one, other in zip(ours, theirs, strict=True):
            assert one.shape == other.shape
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", GATES)
def test_sequences_of_open_length_beside_the_evaluator(kind: str) -> None:
    outputs = ["y", "h", "c"][: 3 if kind == "LSTM" else 2]
    settings = {"linear_before_reset": 1} if kind == "GRU" else {}
    net = node(kind, ["x", "w", "r", "b"], outputs, hidden_size=HIDDEN, **settings)
    short, long = ({"x": numbers(length, n, FEATURES)} for length, n in ((3, 1), (7, 2)))
    proto = model([net], short, outputs, weights_of(kind, 1), shapes={"x": ["l", "n", FEATURES]})
    check(proto, short, long, exact=False)


def test_a_gru_that_resets_first_beside_the_evaluator() -> None:
    net = node("GRU", ["x", "w", "r", "b"], ["y", "h"], hidden_size=HIDDEN)
    given = {"x": numbers(4, 2, FEATURES)}
    check(model([net], given, ["y", "h"], weights_of("GRU", 1)), given, exact=False)


def test_sequences_that_end_early_keep_their_state() -> None:
    net = node("LSTM", ["x", "w", "r", "b", "n"], ["y", "h", "c"], hidden_size=HIDDEN, direction="bidirectional")
    given = {"x": numbers(4, 2, FEATURES), "n": np.array([4, 2], np.int32)}
    weights = weights_of("LSTM", 2)
    y, h, c = backend.run_model(model([net], given, ["y", "h", "c"], weights), list(given.values()))
    alone = node("LSTM", ["x", "w", "r", "b"], ["y", "h", "c"], hidden_size=HIDDEN, direction="bidirectional")
    short = given["x"][:2, 1:]
    expected = backend.run_model(model([alone], {"x": short}, ["y", "h", "c"], weights), [short])
    assert not y[2:, :, 1].any()
    for ours, theirs in zip((y[:2, :, 1:], h[:, 1:], c[:, 1:]), expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


def test_weights_that_do_not_fit_are_one_error() -> None:
    net = node("LSTM", ["x", "w", "r"], ["y"], hidden_size=HIDDEN)
    given = {"x": numbers(4, 2, FEATURES), "w": numbers(1, 7, FEATURES), "r": numbers(1, 20, HIDDEN)}
    with pytest.raises(KuiperError):
        backend.run_model(model([net], given, ["y"]), list(given.values()))


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
def test_a_gru_that_resets_first_is_a_layer_of_kuipers(direction: str) -> None:
    directions = 2 if direction == "bidirectional" else 1
    net = node("GRU", ["x", "w", "r", "b"], ["y", "h"], hidden_size=HIDDEN, direction=direction)
    inputs, outputs = [("x", ["t", "n", FEATURES])], [("y", ["t", directions, "n", HIDDEN]), ("h", None)]
    constant = model_of([net], inputs, outputs, weights_of("GRU", directions))
    assert "kuiper.GRU" in operator_types(constant)
    assert_agrees(constant, [numbers(4, 1, FEATURES)], [numbers(2, 3, FEATURES)], tolerance=1e-5)

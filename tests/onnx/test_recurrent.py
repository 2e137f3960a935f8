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


@pytest.mark.parametrize("kind", [*GATES, "GRU reset first"])
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize(("lengths", "layout"), [([4, 2, 0, 3], 0), ([1, 4, 4, 2], 1), ([2, 2, 1, 1], 0)])
def test_sequences_that_end_early_are_what_they_are_alone(
    kind: str, direction: str, lengths: list[int], layout: int
) -> None:
    type_, directions = kind.split()[0], 2 if direction == "bidirectional" else 1
    weights, outputs = weights_of(type_, directions), ["y", "h", "c"][: 3 if type_ == "LSTM" else 2]
    settings: dict[str, Any] = {"hidden_size": HIDDEN, "direction": direction}
    settings["linear_before_reset"] = int(kind == "GRU")
    settings = settings if type_ == "GRU" else {key: settings[key] for key in ("hidden_size", "direction")}
    x, h0 = numbers(4, 4, FEATURES), numbers(directions, 4, HIDDEN)
    turned = (x, h0) if layout == 0 else (x.swapaxes(0, 1), h0.swapaxes(0, 1))
    given = {"x": turned[0], "n": np.array(lengths, np.int32), "h0": turned[1]}
    net = node(type_, ["x", "w", "r", "b", "n", "h0"], outputs, layout=layout, **settings)
    proto = model([net], given, outputs, weights)
    if direction != "reverse":  # whose beginning nobody knows: a layer of ONNX's own
        assert set(operator_types(proto)) & {f"nn.{type_}", "kuiper.GRU"}
    alone = node(type_, ["x", "w", "r", "b", "", "h0"], outputs, **settings)
    for optimize in (True, False):
        y, *last = backend.prepare(proto, optimize=optimize).run(list(given.values()))
        y, last = (y, last) if layout == 0 else (y.transpose(1, 2, 0, 3), [state.swapaxes(0, 1) for state in last])
        for row, length in enumerate(lengths):
            assert not y[length:, :, row].any()
            if not length:
                np.testing.assert_array_equal(last[0][:, row], h0[:, row])
                continue
            own = {"x": x[:length, row : row + 1], "h0": np.ascontiguousarray(h0[:, row : row + 1])}
            expected = backend.run_model(model([alone], own, outputs, weights), list(own.values()))
            for ours, theirs in zip((y[:length], *last), expected, strict=True):
                part = ours[:, :, row : row + 1] if ours.ndim == 4 else ours[:, row : row + 1]
                np.testing.assert_allclose(part, theirs, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("lengths", [[5, 2], [-1, 2]])
@pytest.mark.parametrize("optimize", [True, False])
def test_lengths_out_of_range_are_one_error(lengths: list[int], optimize: bool) -> None:
    net = node("GRU", ["x", "w", "r", "b", "n"], ["y"], hidden_size=HIDDEN)
    given = {"x": numbers(4, 2, FEATURES), "n": np.array(lengths, np.int32)}
    proto = model([net], given, ["y"], weights_of("GRU", 1))
    with pytest.raises(KuiperError, match=r"lengths \(2,\) of 0 to 4 steps"):
        backend.prepare(proto, optimize=optimize).run(list(given.values()))


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

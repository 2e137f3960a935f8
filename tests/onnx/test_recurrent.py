"""Recurrent networks with constant weights beside onnx's own evaluator: those that become torch's layers, and others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import helper

from kuiper.onnx.reader import read_onnx
from tests.onnx.models import assert_agrees, model_of

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


def network(kind: str, direction: str, features: int = 3, hidden: int = 5, **settings: Any) -> Any:
    """One layer on sequences of any length and number."""
    directions = 2 if direction == "bidirectional" else 1
    generator = np.random.default_rng(0)
    rows = GATES[kind] * hidden
    shapes = {"W": (rows, features), "R": (rows, hidden), "B": (2 * rows,)}
    weights = {
        name: (generator.standard_normal((directions, *shape)) / 2).astype(np.float32) for name, shape in shapes.items()
    }
    node = helper.make_node(kind, ["x", "W", "R", "B"], ["y", "h"], hidden_size=hidden, direction=direction, **settings)
    outputs = [("y", ["t", directions, "n", hidden]), ("h", [directions, "n", hidden])]
    return model_of([node], [("x", ["t", "n", features])], outputs, weights)


def sequences(*sizes: int) -> list[np.ndarray]:
    return [np.random.default_rng(1).standard_normal(sizes).astype(np.float32)]


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize(("kind", "before"), [("LSTM", None), ("GRU", 0), ("GRU", 1), ("RNN", None)])
def test_recurrent_networks_with_constant_weights(kind: str, before: int | None, direction: str) -> None:
    settings = {} if before is None else {"linear_before_reset": before}
    model = network(kind, direction, **settings)
    types = {op.type for op in read_onnx(model).operators}
    assert types & {f"nn.{kind}", f"kuiper.{kind}"}
    assert_agrees(model, sequences(4, 1, 3), sequences(2, 3, 3), tolerance=1e-5)


@pytest.mark.parametrize("direction", ["forward", "bidirectional"])
def test_recurrent_networks_with_other_activations_are_onnxs_own(direction: str) -> None:
    count = 2 if direction == "bidirectional" else 1
    model = network("LSTM", direction, activations=["HardSigmoid", "Relu", "Tanh"] * count)
    assert "LSTM" in {op.type for op in read_onnx(model).operators}

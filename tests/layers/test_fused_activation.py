from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from kuiper.errors import ParameterError, ShapeError
from kuiper.expression import evaluate
from kuiper.layers.activation import Activation
from kuiper.layers.fused.activation import add_residual
from kuiper.layers.kernels.activations import FUSED
from tests.layers.one_operator import layer, run

X = np.float32([-math.inf, -100, -3, -1, -0.5, -0.0, 0, 0.3, 1, 2, 5, 7, 100, math.inf, math.nan])

SAME = [
    (Activation("relu"), "nn.ReLU", {}),
    (Activation("leaky_relu", 0.2), "nn.LeakyReLU", {"negative_slope": 0.2}),
    (Activation("clip", 0.0, 6.0), "nn.ReLU6", {}),
    (Activation("clip", -0.5, 2.0), "nn.Hardtanh", {"min_val": -0.5, "max_val": 2.0}),
    (Activation("clip", -math.inf, 2.0), "torch.clamp", {"max": 2.0}),
    (Activation("clip", 2.0, 1.0), "torch.clamp", {"min": 2.0, "max": 1.0}),
    (Activation("elu", 0.7), "nn.ELU", {"alpha": 0.7}),
    (Activation("silu"), "nn.SiLU", {}),
    (Activation("hardswish"), "nn.Hardswish", {}),
    (Activation("hardsigmoid"), "nn.Hardsigmoid", {}),
    (Activation("sigmoid"), "nn.Sigmoid", {}),
    (Activation("tanh"), "nn.Tanh", {}),
    (Activation("gelu"), "nn.GELU", {}),
    (Activation("gelu_tanh"), "nn.GELU", {"approximate": "tanh"}),
    (Activation("mish"), "nn.Mish", {}),
]


@pytest.mark.parametrize(("activation", "type_name", "params"), SAME)
def test_activation_is_that_of_the_operator(activation: Activation, type_name: str, params: dict[str, object]) -> None:
    np.testing.assert_array_equal(activation.apply(X), run(type_name, X, **params))


def test_activations_are_all_tested() -> None:
    assert {activation.name for activation, _, _ in SAME} | {"none"} == set(FUSED)


def test_activation_none_hands_the_array_on() -> None:
    assert Activation().apply(X) is X


def test_activation_of_an_unknown_name_is_refused() -> None:
    with pytest.raises(
        ParameterError, match=r"kuiper\.FusedLinear 'it': expected activation=none, relu, .*, got swish"
    ):
        layer(
            "kuiper.FusedLinear",
            {"weight": np.ones((1, 1))},
            in_features=1,
            out_features=1,
            bias=False,
            activation="swish",
        )


def test_add_residual_keeps_its_operands() -> None:
    y, residual = np.float32([[1, 2], [3, 4]]), np.float32([10, 20])
    np.testing.assert_array_equal(add_residual(y, residual), [[11, 22], [13, 24]])
    np.testing.assert_array_equal(y, [[1, 2], [3, 4]])


@pytest.mark.parametrize("residual", [3, 2.5, np.int64(3), np.array([1, 2]), np.array(2.5), np.float64([1, 2])])
def test_add_residual_is_the_expression(residual: Any) -> None:
    y = np.float32([[1, 2]])
    got, expected = add_residual(y, residual), evaluate("add(@0,@1)", [y, residual])
    np.testing.assert_array_equal(got, expected)
    assert got.dtype == expected.dtype


def test_add_residual_names_shapes_that_do_not_fit() -> None:
    with pytest.raises(ShapeError, match=r"it: expected a residual that broadcasts with \(2, 3\), got \(2, 2\)"):
        add_residual(np.zeros((2, 3), np.float32), np.zeros((2, 2), np.float32), "it")

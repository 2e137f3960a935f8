from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kuiper.errors import ShapeError, UnsupportedOperatorError
from kuiper.expression import Expression
from kuiper.layers import create
from tests.layers.wired_operator import run_wired, wired

X, Y = np.float32([7, -7]), np.float32([2, 2])


@pytest.mark.parametrize(
    ("type_name", "inputs", "expected"),
    [
        ("torch.abs", (X,), [7, 7]),
        ("aten::neg", (X,), [-7, 7]),
        ("torch.positive", (X,), [7, -7]),
        ("aten::frac", (np.float32([1.5, -1.25]),), [0.5, -0.25]),
        ("torch.mul", (X, Y), [14, -14]),
        ("aten::max", (X, Y), [7, 2]),
        ("aten::rsub", (X, 1, 2), [1 - 14, 1 + 14]),
        ("aten::add", (X, Y, 1), [9, -5]),
        ("aten::add", (X, Y, 0.5), [8, -6]),
        ("torch.sub", (X, Y), [5, -9]),
        ("aten::div", (X, Y), [3.5, -3.5]),
        ("aten::div", (X, Y, None), [3.5, -3.5]),
        ("aten::div", (X, Y, "floor"), [3, -4]),
        ("aten::div", (X, Y, "trunc"), [3, -3]),
        ("aten::round", (np.float32([2.5, -1.25]),), [2, -1]),
        ("aten::round", (np.float32([2.25, -1.35]), 1), [2.2, -1.4]),
        ("aten::round", (np.float32([25, -14]), -1), [20, -10]),
    ],
)
def test_function_as_an_operator(type_name: str, inputs: tuple[Any, ...], expected: list[float]) -> None:
    np.testing.assert_allclose(run_wired(type_name, *inputs), expected, rtol=1e-6)


def test_functions_follow_torchs_types() -> None:
    whole = np.array([7, -7])
    assert run_wired("aten::div", whole, 2).dtype == np.float32
    assert run_wired("aten::div", whole, 2, "trunc").tolist() == [3, -3]
    assert run_wired("aten::add", whole, 0.5).dtype == np.float32
    assert run_wired("aten::float_power", whole, 2).dtype == np.float64
    assert run_wired("aten::add", np.array([True]), np.array([True]), 1).dtype == np.bool_
    assert run_wired("torch.bitwise_xor", whole, np.array([1, 1])).tolist() == [6, -8]
    assert run_wired("aten::__lshift__", whole, 1).tolist() == [14, -14]
    assert run_wired("aten::add", 2, 3, 1) == 5


def test_settings_may_be_parameters() -> None:
    assert run_wired("torch.add", X, Y, alpha=3).tolist() == [13, -1]
    assert run_wired("torch.div", X, Y, rounding_mode="floor").tolist() == [3, -4]
    assert run_wired("torch.round", np.float32([0.125]), decimals=2).tolist() == [np.float32(0.12)]


def test_layer_is_an_expression_that_bears_the_operators_name() -> None:
    layer = create(wired("torch.maximum", 2, names=("input", "other")))
    assert type(layer) is Expression  # so the engine and anyone who else knows expressions knows it
    with pytest.raises(ShapeError, match=r"torch.maximum 'it': expected shapes that broadcast, got maximum"):
        layer.forward(np.zeros(2), np.zeros(3))


def test_rounding_mode_that_torch_lacks_is_refused() -> None:
    with pytest.raises(
        UnsupportedOperatorError, match=r"aten::div 'it': expected rounding_mode floor, trunc or none, got up"
    ):
        run_wired("aten::div", X, Y, "up")

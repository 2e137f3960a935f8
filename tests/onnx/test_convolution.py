"""Convolutions: constant and computed weights, borders that depend on open sizes, float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import helper

from kuiper.errors import KuiperError
from kuiper.models.onnx import backend
from tests.onnx.beside_evaluator import check, model, operator_types

RNG = np.random.default_rng(0)
node = helper.make_node


def numbers(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    return (RNG.standard_normal(shape) * 0.3).astype(dtype)


@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize(
    "settings",
    [{"auto_pad": "SAME_UPPER"}, {"auto_pad": "SAME_LOWER"}, {"auto_pad": "VALID"}, {"pads": (1, 0)}],
    ids=["upper", "lower", "valid", "uneven"],
)
def test_conv_of_open_sizes(axes: int, settings: dict[str, Any]) -> None:
    pads = {"pads": [size for size in settings["pads"] for _ in range(axes)]} if "pads" in settings else {}
    weights = {"w": numbers(4, 2, *[3] * axes), "b": numbers(4)}
    conv = node("Conv", ["x", "w", "b"], ["y"], strides=[2] * axes, **{**settings, **pads})
    small, large = ({"x": numbers(n, 2, *sizes[:axes])} for n, sizes in ((1, (6, 5, 7)), (2, (9, 8, 4))))
    shapes = {"x": ["n", 2, *"dhw"[:axes]]}
    check(model([conv], small, ["y"], weights, shapes=shapes), small, large, exact=False)
    computed = small | weights
    check(model([conv], computed, ["y"], shapes=shapes), computed, exact=False)


def test_uneven_borders_are_the_convolutions_own() -> None:
    conv = node("Conv", ["x", "w"], ["y"], pads=[0, 1, 1, 2], group=2)
    x, w = numbers(1, 4, 6, 6), numbers(4, 2, 3, 3)
    proto = model([conv], {"x": x}, ["y"], {"w": w})
    check(proto, {"x": x}, exact=False)
    assert operator_types(proto) == ["nn.Conv2d"]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"pads": [1, 0, 0, 1]},
        {"output_padding": [1, 0]},
        {"output_shape": [8, 9]},
        {"auto_pad": "SAME_UPPER"},
        {"pads": [1, 1, 1, 1], "group": 2},
    ],
)
def test_transposed_conv(settings: dict[str, Any]) -> None:
    transposed = node("ConvTranspose", ["x", "w"], ["y"], strides=[2, 2], **settings)
    x, w = {"x": numbers(1, 4, 4, 5)}, numbers(4, 3, 3, 3)
    if not {"group", "output_shape"} & set(settings):  # in which the evaluator errs
        check(model([transposed], x, ["y"], {"w": w}, shapes={"x": ["n", 4, "h", "w"]}), x, exact=False)
        check(model([transposed], x | {"w": w}, ["y"]), x | {"w": w}, exact=False)
    double = {"x": x["x"].astype(np.float64), "w": w.astype(np.float64)}
    wide = backend.run_model(model([transposed], double, ["y"]), list(double.values()))[0]
    narrow = backend.run_model(model([transposed], x, ["y"], {"w": w}), [x["x"]])[0]
    assert wide.dtype == np.float64
    np.testing.assert_allclose(wide, narrow, rtol=1e-4, atol=1e-5)


def test_conv_of_float64_and_float16() -> None:
    conv = node("Conv", ["x", "w"], ["y"], dilations=[2])
    given = {"x": numbers(2, 3, 9, dtype=np.float64), "w": numbers(4, 3, 3, dtype=np.float64)}
    check(model([conv], given, ["y"]), given, exact=False)
    half = {"x": numbers(2, 3, 9, dtype=np.float16)}
    proto = model([conv], half, ["y"], {"w": numbers(4, 3, 3, dtype=np.float16)})
    assert backend.run_model(proto, [half["x"]])[0].dtype == np.float16


@pytest.mark.parametrize(
    ("settings", "weight"),
    [({"strides": [0, 1]}, (4, 2, 3, 3)), ({"pads": [1]}, (4, 2, 3, 3)), ({"group": 3}, (4, 2, 3, 3)), ({}, (4, 2))],
)
def test_settings_that_do_not_fit_are_one_error(settings: dict[str, Any], weight: tuple[int, ...]) -> None:
    x = {"x": numbers(1, 2, 5, 5)}
    graph = helper.make_graph(
        [node("Conv", ["x", "w"], ["y"], **settings)],
        "wrong",
        [helper.make_tensor_value_info("x", 1, (1, 2, 5, 5))],
        [helper.make_tensor_value_info("y", 1, None)],
        [helper.make_tensor("w", 1, weight, numbers(*weight).ravel())],
    )
    with pytest.raises(KuiperError):
        backend.run_model(helper.make_model(graph), [x["x"]])

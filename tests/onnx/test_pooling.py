"""Pools: uneven borders, open sizes, indices, integers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import helper

from kuiper.models.onnx import backend
from tests.onnx.beside_evaluator import check, model, operator_types

RNG = np.random.default_rng(0)
node = helper.make_node
SMALL, LARGE = ({"x": RNG.standard_normal(shape).astype(np.float32)} for shape in ((1, 2, 7, 6), (2, 2, 9, 11)))
OPEN = {"x": ["n", 2, "h", "w"]}


@pytest.mark.parametrize("kind", ["MaxPool", "AveragePool", "LpPool"])
@pytest.mark.parametrize(
    "settings",
    [
        {"pads": [1, 1, 1, 1]},
        {"pads": [0, 0, 1, 1]},
        {"auto_pad": "SAME_UPPER"},
        {"auto_pad": "SAME_LOWER"},
        {"ceil_mode": 1},
        {"dilations": [2, 1]},
    ],
)
def test_pools_of_open_sizes_are_those_of_float64(kind: str, settings: dict[str, Any]) -> None:
    pool = node(kind, ["x"], ["y"], kernel_shape=[3, 2], strides=[2, 2], **settings)
    narrow, wide = (
        [
            backend.prepare(model([pool], x, ["y"], opset=22, shapes=OPEN), optimize=optimize)
            for optimize in (True, False)
        ]
        for x in (SMALL, {"x": SMALL["x"].astype(np.float64)})
    )
    for given in (SMALL["x"], LARGE["x"]):
        expected = wide[0].run([given.astype(np.float64)])[0]
        assert expected.dtype == np.float64
        for ready in narrow:
            np.testing.assert_allclose(ready.run([given])[0], expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("settings", [{"pads": [0, 1, 1, 0]}, {"pads": [1, 1, 1, 1], "ceil_mode": 1}])
def test_average_that_counts_the_border(settings: dict[str, Any]) -> None:
    pool = node("AveragePool", ["x"], ["y"], kernel_shape=[3, 3], strides=[2, 2], count_include_pad=1, **settings)
    check(model([pool], SMALL, ["y"], opset=22), SMALL, exact=False)


def test_max_pool_of_bytes_and_with_indices() -> None:
    whole = (SMALL["x"] * 40).astype(np.int8)
    pool = node("MaxPool", ["x"], ["y"], kernel_shape=[2, 2], pads=[1, 1, 1, 1])
    got = backend.run_model(model([pool], {"x": whole}, ["y"]), [whole])[0]
    numbers = whole.astype(np.float32)
    assert got.dtype == np.int8
    assert np.array_equal(got, backend.run_model(model([pool], {"x": numbers}, ["y"]), [numbers])[0])
    both = node("MaxPool", ["x"], ["y", "i"], kernel_shape=[2, 2], strides=[2, 2])
    back = node("MaxUnpool", ["y", "i"], ["z"], kernel_shape=[2, 2], strides=[2, 2])
    even = {"x": LARGE["x"][..., :8, :10].copy()}
    check(model([both, back], even, ["y", "i", "z"], opset=22), even)


@pytest.mark.parametrize("rank", [3, 4, 5])
def test_global_pools(rank: int) -> None:
    x, dims = RNG.standard_normal((2, 3, 4, 5, 6)[:rank]).astype(np.float32), tuple(range(2, rank))
    for kind, function in (("GlobalAveragePool", np.mean), ("GlobalMaxPool", np.max)):
        proto = model([node(kind, ["x"], ["y"])], {"x": x}, ["y"], opset=22)
        got = backend.run_model(proto, [x])[0]
        np.testing.assert_allclose(got, function(x, axis=dims, keepdims=True), rtol=1e-5, atol=1e-6)


def test_plain_pools_are_torchs_layers() -> None:
    pool = node("MaxPool", ["x"], ["y"], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    assert operator_types(model([pool], SMALL, ["y"], shapes=OPEN)) == ["F.max_pool2d"]


def test_boxes_at_the_border() -> None:
    boxes = {"r": np.array([[0, 0, 5, 4], [2, 2, 2, 2], [-3, -3, 20, 20]], np.float32), "b": np.zeros(3, np.int64)}
    align = node("RoiAlign", ["x", "r", "b"], ["y"], output_height=2, output_width=3, sampling_ratio=2)
    check(model([align], SMALL | boxes, ["y"], opset=16), SMALL | boxes, exact=False)
    pool = node("MaxRoiPool", ["x", "r"], ["y"], pooled_shape=[1, 1])
    given = SMALL | {"r": np.array([[0, 0, 0, 5, 6]], np.float32)}
    got = model([pool], given, ["y"], opset=22)
    assert operator_types(got) == ["MaxRoiPool"]

"""Resize and its kin: torch's layers where they compute the same, sizes that are computed, older operator sets."""

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
SMALL, LARGE = ({"x": RNG.standard_normal(shape).astype(np.float32)} for shape in ((1, 2, 4, 6), (2, 2, 5, 3)))
OPEN = {"x": ["n", 2, "h", "w"]}


@pytest.mark.parametrize(
    ("settings", "kind"),
    [
        ({"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}, "F.interpolate"),
        ({"mode": "nearest"}, "F.interpolate"),
        ({"mode": "nearest", "nearest_mode": "ceil"}, "Resize"),
        ({"mode": "linear"}, "F.interpolate"),
        ({"mode": "linear", "coordinate_transformation_mode": "pytorch_half_pixel"}, "F.interpolate"),
        ({"mode": "linear", "coordinate_transformation_mode": "align_corners"}, "F.interpolate"),
        ({"mode": "linear", "coordinate_transformation_mode": "asymmetric"}, "Resize"),
        ({"mode": "cubic"}, "F.interpolate"),
        ({"mode": "cubic", "cubic_coeff_a": -0.5, "exclude_outside": 1}, "Resize"),
    ],
)
def test_resize_by_constant_scales(settings: dict[str, Any], kind: str) -> None:
    resize = node("Resize", ["x", "", "s"], ["y"], **settings)
    proto = model([resize], SMALL, ["y"], {"s": np.array([1, 1, 2, 3], np.float32)}, opset=19, shapes=OPEN)
    check(proto, SMALL, LARGE, exact=False)
    assert operator_types(proto)[-1] == kind


@pytest.mark.parametrize("transform", ["half_pixel", "pytorch_half_pixel", "align_corners"])
def test_resize_to_the_size_of_another_tensor(transform: str) -> None:
    nodes = [
        node("Shape", ["z"], ["zs"]),
        node("Slice", ["zs", "two", "four"], ["hw"]),
        node("Shape", ["x"], ["xs"]),
        node("Slice", ["xs", "zero", "two"], ["nc"]),
        node("Concat", ["nc", "hw"], ["sizes"], axis=0),
        node("Resize", ["x", "", "", "sizes"], ["y"], mode="linear", coordinate_transformation_mode=transform),
    ]
    weights = {name: np.array([number]) for name, number in (("zero", 0), ("two", 2), ("four", 4))}
    calls = [
        given | {"z": np.zeros(shape, np.float32)} for given, shape in ((SMALL, (1, 1, 9, 5)), (LARGE, (1, 1, 3, 8)))
    ]
    shapes = OPEN | {"z": ["a", "b", "c", "d"]}
    check(model(nodes, calls[0], ["y"], weights, opset=19, shapes=shapes), *calls, exact=False)


def test_pytorch_half_pixel_takes_the_first_of_what_shrinks_to_one() -> None:
    for mode in ("linear", "cubic"):
        settings = {"mode": mode, "coordinate_transformation_mode": "pytorch_half_pixel"}
        sizes = {"s": np.array([1, 2, 1, 6], np.int64)}
        proto = model([node("Resize", ["x", "", "", "s"], ["y"], **settings)], SMALL, ["y"], sizes, opset=19)
        got = backend.run_model(proto, [SMALL["x"]])[0]
        np.testing.assert_allclose(got, SMALL["x"][:, :, :1], rtol=1e-6)


def test_align_corners_counts_whole_pixels() -> None:
    x = np.arange(1, 9, dtype=np.float32).reshape(1, 1, 2, 4)
    settings = {"mode": "linear", "coordinate_transformation_mode": "align_corners"}
    scales = {"s": np.array([1, 1, 0.6, 0.6], np.float32)}
    proto = model([node("Resize", ["x", "", "s"], ["y"], **settings)], {"x": x}, ["y"], scales, opset=19)
    assert backend.run_model(proto, [x])[0].tolist() == [[[[1, 4]]]]  # as torch and onnxruntime; the evaluator: 3.14


@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_upsample_of_old_operator_sets(mode: str) -> None:
    x = SMALL["x"]
    scales = np.array([1, 1, 2, 2], np.float32)
    by_setting = model([node("Upsample", ["x"], ["y"], mode=mode, scales=scales.tolist())], SMALL, ["y"], opset=8)
    by_input = model([node("Upsample", ["x", "s"], ["y"], mode=mode)], SMALL, ["y"], {"s": scales}, opset=9)
    resize = model([node("Resize", ["x", "s"], ["y"], mode=mode)], SMALL, ["y"], {"s": scales}, opset=10)
    settings = {"mode": mode, "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    today = model([node("Resize", ["x", "", "s"], ["y"], **settings)], SMALL, ["y"], {"s": scales}, opset=19)
    expected = backend.run_model(today, [x])[0]
    for proto in (by_setting, by_input, resize):
        np.testing.assert_allclose(backend.run_model(proto, [x])[0], expected, rtol=1e-6)


@pytest.mark.parametrize("mode", ["DCR", "CRD"])
def test_blocks_of_open_images(mode: str) -> None:
    deep, wide = ({"x": RNG.standard_normal(shape).astype(np.float32)} for shape in ((1, 8, 2, 3), (2, 8, 3, 2)))
    to_space = node("DepthToSpace", ["x"], ["y"], blocksize=2, mode=mode)
    back = node("SpaceToDepth", ["y"], ["z"], blocksize=2)
    check(model([to_space, back], deep, ["y", "z"], opset=13, shapes={"x": ["n", 8, "h", "w"]}), deep, wide)


@pytest.mark.parametrize("mode", ["linear", "nearest", "cubic"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
def test_grid_sample_of_float64_is_that_of_float32(mode: str, padding: str) -> None:
    grid = RNG.uniform(-1.5, 1.5, (1, 3, 4, 2)).astype(np.float32)
    sample = node("GridSample", ["x", "g"], ["y"], mode=mode, padding_mode=padding)
    narrow = SMALL | {"g": grid}
    double = {name: array.astype(np.float64) for name, array in narrow.items()}
    expected = backend.run_model(model([sample], narrow, ["y"], opset=20), list(narrow.values()))[0]
    got = backend.run_model(model([sample], double, ["y"], opset=20), list(double.values()))[0]
    assert got.dtype == np.float64
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)


def test_scales_and_sizes_at_once_are_one_error() -> None:
    both = {"s": np.ones(4, np.float32), "z": np.ones(4, np.int64)}
    with pytest.raises(KuiperError):
        backend.run_model(
            model([node("Resize", ["x", "", "s", "z"], ["y"])], SMALL, ["y"], both, opset=12), [SMALL["x"]]
        )

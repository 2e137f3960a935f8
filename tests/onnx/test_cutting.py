"""Pieces and borders: constant and computed bounds, open sizes, older operator sets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import helper

from kuiper.errors import KuiperError
from kuiper.models.onnx import backend
from tests.arrays import ints
from tests.onnx.beside_evaluator import check, model, operator_types

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
WIDE = np.arange(60, dtype=np.float32).reshape(5, 3, 4)
OPEN = {"x": ["n", 3, "w"]}
node = helper.make_node


@pytest.mark.parametrize(
    ("starts", "ends", "axes", "steps"),
    [
        ([1], [2**63 - 1], [0], [1]),
        ([-1, 3], [-(2**63), -9], [1, 2], [-1, -2]),
        ([0, 1], [-1, 2**31 - 1], [-1, 0], [2, 1]),
        ([3], [1], [2], [1]),
    ],
)
def test_slice_cuts_as_numpy_does(starts: list[int], ends: list[int], axes: list[int], steps: list[int]) -> None:
    bounds = {"b": ints(*starts), "e": ints(*ends), "a": ints(*axes), "s": ints(*steps)}
    nodes = [node("Slice", ["x", "b", "e", "a", "s"], ["y"])]
    check(model(nodes, {"x": X}, ["y"], bounds, shapes=OPEN), {"x": X}, {"x": WIDE})
    if bounds["b"][0] != 3:  # the engine is asked again for other bounds of the same shape
        computed = {"x": X, **bounds}
        check(model(nodes, computed, ["y"]), computed)


def test_slice_ends_at_a_computed_size() -> None:
    nodes = [
        node("Shape", ["z"], ["s"], start=0, end=1),
        node("Slice", ["x", "zero", "s", "zero"], ["y"]),
    ]
    proto = model(nodes, {"x": WIDE, "z": X[:, 0, 0]}, ["y"], {"zero": ints(0)}, shapes={"z": ["k"], "x": ["n", 3, 4]})
    check(proto, {"x": WIDE, "z": X[:, 0, 0]}, {"x": WIDE, "z": X[0, 0]})


def test_slice_and_split_have_settings_in_old_operator_sets() -> None:
    nodes = [
        node("Slice", ["x"], ["a"], starts=[0, 1], ends=[2, 9], axes=[1, 2]),
        node("Split", ["a"], ["y", "z"], axis=2, split=[1, 2]),
    ]
    check(model(nodes, {"x": X}, ["y", "z"], opset=9, shapes={"x": ["n", 3, 4]}), {"x": X}, {"x": WIDE})


def test_split_into_equal_and_computed_pieces() -> None:
    check(model([node("Split", ["x"], ["a", "b"], axis=2, num_outputs=2)], {"x": X}, ["a", "b"]), {"x": X})
    given = {"x": X, "sizes": ints(1, 3)}
    check(model([node("Split", ["x", "sizes"], ["a", "b"], axis=2)], given, ["a", "b"]), given)


def test_a_split_that_says_another_number_of_outputs_is_one_error() -> None:
    proto = model([node("Split", ["x"], ["a", "b", "c"], axis=1, num_outputs=3)], {"x": X}, ["a", "b", "c"])
    proto.graph.node[0].attribute[1].i = 2  # onnx's shape inference would end the process
    with pytest.raises(KuiperError, match="expected num_outputs=3"):
        backend.prepare(proto)


@pytest.mark.parametrize("index", [np.int64(-1), ints(0), ints(-1, 1), ints(2, 0), np.array([[0, 1], [-1, 0]])])
def test_gather_of_known_places(index: np.ndarray) -> None:
    proto = model([node("Gather", ["x", "i"], ["y"], axis=1)], {"x": X}, ["y"], {"i": index}, shapes=OPEN)
    check(proto, {"x": X}, {"x": WIDE})


def test_gather_of_neighbours_is_a_slice() -> None:
    proto = model([node("Gather", ["x", "i"], ["y"], axis=1)], {"x": X}, ["y"], {"i": ints(1, 2)})
    assert operator_types(proto) == ["Tensor.slice"]


def test_gather_of_rows_counts_from_the_end_too() -> None:
    table = np.arange(12, dtype=np.float32).reshape(4, 3)
    proto = model([node("Gather", ["t", "i"], ["y"])], {"i": ints(0, -1)}, ["y"], {"t": table}, shapes={"i": ["n"]})
    assert "F.embedding" in operator_types(proto)
    check(proto, {"i": ints(0, -1)}, {"i": ints(2, -4, 3)})
    with pytest.raises(KuiperError):
        backend.run_model(proto, [ints(4)])


@pytest.mark.parametrize("mode", ["constant", "reflect", "edge", "wrap"])
def test_pad_of_all_modes(mode: str) -> None:
    nodes = [node("Pad", ["x", "p"], ["y"], mode=mode)]
    image = np.arange(48, dtype=np.float32).reshape(1, 3, 4, 4)
    check(model(nodes, {"x": image}, ["y"], {"p": ints(0, 0, 1, 2, 0, 0, 3, 0)}), {"x": image})
    given = {"x": X, "p": ints(1, 0, 1, 0, 2, 2)}
    check(model(nodes, given, ["y"]), given)


def test_pad_cuts_off_and_names_axes() -> None:
    weights: dict[str, Any] = {"p": ints(-1, 2), "v": np.float32(7), "a": ints(-1)}
    proto = model([node("Pad", ["x", "p", "v", "a"], ["y"])], {"x": X}, ["y"], weights, shapes=OPEN)
    got = backend.run_model(proto, [X])[0]
    np.testing.assert_array_equal(got, np.pad(X[..., 1:], ((0, 0), (0, 0), (0, 2)), constant_values=7))
    whole = model([node("Pad", ["x", "p"], ["y"])], {"x": X.astype(np.int32)}, ["y"], {"p": ints(0, 1, 0, 0, 0, 0)})
    check(whole, {"x": X.astype(np.int32)})
    old = model([node("Pad", ["x"], ["y"], pads=[0, 0, 1, 0, 0, 1], value=2.0)], {"x": X}, ["y"], opset=9)
    assert backend.run_model(old, [X])[0][0, 0].tolist() == [2, 0, 1, 2, 3, 2]


def test_range_and_constant_of_shape_follow_sizes() -> None:
    nodes = [
        node("Shape", ["x"], ["s"], start=0, end=1),
        node("Squeeze", ["s"], ["n"]),
        node("Range", ["zero", "n", "one"], ["y"]),
        node("ConstantOfShape", ["s"], ["z"], value=helper.make_tensor("v", 7, [1], [3])),
    ]
    weights = {"zero": np.int64(0), "one": np.int64(1)}
    check(model(nodes, {"x": X}, ["y", "z"], weights, shapes={"x": ["n", 3, 4]}), {"x": X}, {"x": WIDE})

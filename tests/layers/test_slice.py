from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kuiper.errors import ParameterError, ShapeError, TensorIndexError
from kuiper.layers import create
from tests.layers.one_operator import run
from tests.layers.wired_operator import wired

X = np.arange(24).reshape(2, 3, 4)
END = 2147483647


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"dim": 2, "start": 1, "end": 3, "step": 1}, X[:, :, 1:3]),
        ({"dim": -1, "start": 0, "end": END, "step": 3}, X[:, :, ::3]),
        ({"dim": 2, "start": 1, "end": 2**63 - 1, "step": 1}, X[:, :, 1:]),
        ({"dim": 1, "start": -2, "end": -1, "step": 1}, X[:, -2:-1]),
        ({"dim": 1, "start": -100, "end": 100, "step": 1}, X),
        ({"dim": 1, "start": 2, "end": 1, "step": 1}, X[:, 2:1]),
        ({"dim": 0, "start": None, "end": None, "step": 1}, X),
        ({"dim": 0, "start": 1}, X[1:]),
        ({"end": 1}, X[:1]),
    ],
)
def test_slice_of_one_axis(params: dict[str, Any], expected: np.ndarray) -> None:
    out = run("Tensor.slice", X, **params)
    np.testing.assert_array_equal(out, expected)
    assert np.shares_memory(out, X) or out.size == 0


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"dims": [1, 2], "starts": [1, 0], "ends": [END, 3], "steps": [1, 2], "selects": [END, END]}, X[:, 1:, 0:3:2]),
        ({"dims": [0, 2], "starts": [0, 1], "ends": [0, END], "steps": [0, 1], "selects": [1, END]}, X[1, :, 1:]),
        ({"dims": [-1, 0], "starts": [0, 0], "ends": [0, 0], "steps": [0, 0], "selects": [-1, -2]}, X[0, :, -1]),
        ({"dims": [0, 1, 2], "starts": [0] * 3, "ends": [0] * 3, "steps": [0] * 3, "selects": [1, 2, 3]}, X[1, 2, 3]),
        ({"dims": [1, 2], "starts": [0, 0], "ends": [2, 2], "steps": [1, 1]}, X[:, :2, :2]),
        (
            {"dims": [1, 2], "starts": [1, 0], "ends": [2, 3], "steps": [1, 2], "selects": [2**63 - 1, END]},
            X[:, 1:2, 0:3:2],
        ),
    ],
)
def test_slice_of_several_axes(params: dict[str, Any], expected: np.ndarray) -> None:
    out = run("Tensor.slice", X, **params)
    assert isinstance(out, np.ndarray)
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("step", [0, -1])
def test_slice_refuses_a_step_that_does_not_go_forward(step: int) -> None:
    with pytest.raises(ParameterError, match=rf"Tensor.slice 'it': expected step >= 1, got {step}"):
        run("Tensor.slice", X, dim=0, start=0, end=2, step=step)


def test_slice_refuses_lists_of_different_lengths() -> None:
    with pytest.raises(ParameterError, match=r"expected starts with 2 entries, as dims has, got \(0,\)"):
        run("Tensor.slice", X, dims=[0, 1], starts=[0], ends=[1, 1], steps=[1, 1], selects=[END, END])


def test_slice_refuses_an_index_outside() -> None:
    with pytest.raises(TensorIndexError, match=r"expected an index within -3..2, got 3"):
        run("Tensor.slice", X, dims=[1], starts=[0], ends=[0], steps=[0], selects=[3])


def test_slice_refuses_a_missing_axis_and_one_that_comes_twice() -> None:
    with pytest.raises(ShapeError, match=r"expected dim within -3..2, got 3"):
        run("Tensor.slice", X, dim=3, start=0, end=1)
    with pytest.raises(ShapeError, match=r"expected each dim once, got \(1, -2\)"):
        run("Tensor.slice", X, dims=[1, -2], starts=[0, 0], ends=[1, 1], steps=[1, 1])


def test_slice_refuses_a_scalar() -> None:
    with pytest.raises(ShapeError, match=r"expected input with axes"):
        run("Tensor.slice", np.array(3), dim=0, start=0, end=1)


@pytest.mark.parametrize(
    "cut", [{"dim": 1, "start": 0, "end": 6}, {"dims": [0, 1], "starts": [0, 2], "ends": [END, 6]}]
)
def test_slice_refuses_another_size_where_the_export_cut_at_the_end(cut: dict[str, Any]) -> None:
    layer = create(wired("Tensor.slice", declared=(2, 6), **cut))
    assert layer.forward(np.zeros((2, 6))).shape[0] == 2
    with pytest.raises(
        ShapeError, match=r"Tensor.slice 'it': expected an axis of 6 numbers, which the file cuts at 6, got 9"
    ):
        layer.forward(np.zeros((2, 9)))


def test_slice_cuts_another_size_where_it_means_the_beginning_or_the_rest() -> None:
    first = create(wired("Tensor.slice", declared=(2, 6), dim=1, start=0, end=1))
    rest = create(wired("Tensor.slice", declared=(2, 6), dim=1, start=1, end=END))
    assert first.forward(np.zeros((2, 9))).shape == (2, 1)
    assert rest.forward(np.zeros((3, 9))).shape == (3, 8)

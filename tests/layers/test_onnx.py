"""What pnnx leaves in ONNX's spelling: settings that torch lacks, defaults of ONNX, inputs that do not fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kuiper.errors import ShapeError, TensorIndexError, UnsupportedOperatorError
from tests.layers.one_operator import run
from tests.layers.wired_operator import run_wired

X = np.arange(12, dtype=np.float32).reshape(3, 4)


def test_reductions_keep_their_axes_unless_told_otherwise() -> None:
    assert run("ReduceMax", X, axes=(1,)).tolist() == [[3], [7], [11]]
    assert run("ReduceMin", X, axes=(1,), keepdims=0).tolist() == [0, 4, 8]
    assert run("ReduceMax", X).shape == (1, 1)
    assert run("ArgMax", X).tolist() == [[2, 2, 2, 2]]
    assert run("ArgMin", X, axis=1, keepdims=0).tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("type_name", "setting", "expected"),
    [
        ("ScatterElements", {"reduction": "mean"}, "reduction none, add, mul, max, min, got mean"),
        ("ScatterND", {"reduction": "mean"}, "reduction none, add, mul, max, min, got mean"),
        ("TensorScatter", {"mode": "spiral"}, "mode linear or circular, got spiral"),
        ("Pad", {"mode": "mirror"}, "mode constant, reflect, edge, wrap, got mirror"),
    ],
)
def test_modes_that_onnx_lacks_are_refused(type_name: str, setting: dict[str, Any], expected: str) -> None:
    with pytest.raises(UnsupportedOperatorError, match=f"{type_name} 'it': expected {expected}"):
        run(type_name, X, **setting)


def test_reductions_keep_the_element_type_and_may_reduce_nothing() -> None:
    whole = X.astype(np.int32)
    assert run("ReduceMean", whole).tolist() == [[5]]
    assert run("ReduceMean", whole).dtype == np.int32
    assert run_wired("ReduceSum", whole, np.array([1]), keepdims=0).tolist() == [6, 22, 38]
    assert run("ReduceSumSquare", X, noop_with_empty_axes=1)[0].tolist() == [0, 1, 4, 9]
    assert run("ReduceMax", X[:0], axes=(0,)).tolist() == [[-np.inf] * 4]


def test_the_last_of_equals_and_totals_from_the_end() -> None:
    assert run("ArgMax", np.float32([3, 1, 3]), select_last_index=1).tolist() == [2]
    assert run_wired("CumSum", X[0], np.array(0), exclusive=1).tolist() == [0, 0, 1, 3]
    assert run_wired("CumSum", X[0], np.array(0), reverse=1).tolist() == [6, 6, 5, 3]


def test_settings_of_torch_may_be_operands() -> None:
    assert run_wired("CumSum", X, np.array(1)).tolist() == np.cumsum(X, 1).tolist()
    values, places = run_wired("TopK", X, np.array([2]), outputs=2, axis=1)
    assert (values.tolist(), places[0].tolist()) == ([[3, 2], [7, 6], [11, 10]], [3, 2])
    assert run_wired("TopK", X, 1, outputs=2, axis=0, largest=0)[0].tolist() == [[0, 1, 2, 3]]


def test_shape_is_a_vector() -> None:
    assert run("Shape", X).tolist() == [3, 4]
    assert run("Shape", X).dtype == np.int64
    assert run("Shape", X, start=-1).tolist() == [4]
    assert run("Shape", X, start=0, end=1).tolist() == [3]


def test_constant_of_shape_has_the_declared_type() -> None:
    zeros = run("ConstantOfShape", np.array([2, 3]))
    assert (zeros.shape, zeros.dtype, zeros.any()) == ((2, 3), np.float32, np.False_)


def test_slice_takes_as_operands_what_is_no_parameter() -> None:
    assert run_wired("Slice", X, np.array([3]), axes=1, starts=1, steps=1).tolist() == X[:, 1:3].tolist()
    assert run_wired("Slice", X, 1, [2], [0]).tolist() == X[1:2].tolist()
    assert run_wired("Slice", X, starts=(0, 3), ends=(2, -5), axes=(0, 1), steps=(1, -2)).tolist() == [[3, 1], [7, 5]]


def test_slice_cuts_off_the_fraction_of_a_computed_size() -> None:
    assert run_wired("Slice", X, 2.5, axes=1, starts=0).shape == (3, 2)


def test_slice_refuses_lists_that_do_not_fit() -> None:
    with pytest.raises(ShapeError, match="starts, ends, axes and steps of one length"):
        run_wired("Slice", X, starts=(0, 1), ends=2)
    with pytest.raises(ShapeError, match=r"steps other than 0, got \(0,\)"):
        run_wired("Slice", X, starts=0, ends=2, steps=0)


def test_expand_goes_both_ways() -> None:
    assert run_wired("Expand", X[:1], np.array([2, 1, 1])).shape == (2, 1, 4)
    assert run_wired("Expand", 1.5, [2]).tolist() == [1.5, 1.5]
    assert run_wired("Expand", 1.5, [2]).dtype == np.float32
    with pytest.raises(ShapeError, match=r"a shape that \(3, 4\) broadcasts with, got \(2, 4\)"):
        run_wired("Expand", X, [2, 4])


def test_pad_has_all_fronts_before_all_ends() -> None:
    assert run_wired("Pad", X, np.array([0, 1, 0, 2])).tolist() == np.pad(X, ((0, 0), (1, 2))).tolist()
    assert run_wired("Pad", X, [1, 0, 0, 0], np.array(5)).tolist()[0] == [5, 5, 5, 5]
    assert run_wired("Pad", X, [0, 1, 0, 0], mode="edge").tolist()[1] == [4, 4, 5, 6, 7]
    assert run_wired("Pad", X, [0, 0, 0, 0]).tolist() == X.tolist()
    assert run_wired("Pad", X, np.array(5), pads=[1, 0, 0, 0]).tolist()[0] == [5, 5, 5, 5]
    with pytest.raises(ShapeError, match="4 borders, two for each axis"):
        run_wired("Pad", X, [1, 1])


def test_mod_takes_the_sign_of_the_divisor_or_of_the_dividend() -> None:
    assert run_wired("Mod", np.array([-7, 7]), np.array([3, -3])).tolist() == [2, -2]
    assert run_wired("Mod", np.array([-7, 7]), np.array([3, -3]), fmod=1).tolist() == [-1, 1]
    assert run_wired("Mod", 6, 4) == 2


def test_sequences_are_lists() -> None:
    pieces = run_wired("SplitToSequence", X, np.array([1, 3]), axis=1)
    assert [piece.shape for piece in pieces] == [(3, 1), (3, 3)]
    assert [piece.shape for piece in run_wired("SplitToSequence", X, 2)] == [(2, 4), (1, 4)]
    assert run_wired("SequenceAt", pieces, np.array(-1)).tolist() == X[:, 1:].tolist()
    with pytest.raises(TensorIndexError, match="an index within 2, got 2"):
        run_wired("SequenceAt", pieces, 2)
    with pytest.raises(ShapeError, match="input with axis 2"):
        run_wired("SplitToSequence", X, 2, axis=2)

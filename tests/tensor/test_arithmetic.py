"""The functions and the operators of Tensor, on numbers that are checked by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kuiper.errors import DataTypeError, ShapeError
from kuiper.tensor import Tensor, add, axpy, div, exp_negative, mul, sub


def test_functions_combine_value_by_value() -> None:
    x, y = Tensor([[8, 6], [4, 2]]), Tensor([[2, 3], [4, 8]])
    assert add(x, y).tolist() == [[10, 9], [8, 10]]
    assert sub(x, y).tolist() == [[6, 3], [0, -6]]
    assert mul(x, y).tolist() == [[16, 18], [16, 16]]
    assert div(x, y).tolist() == [[4, 2], [1, 0.25]]


def test_one_number_per_channel_meets_the_whole_channel() -> None:
    x = Tensor([[[1, 2, 3], [4, 5, 6]], [[7, 8, 9], [10, 11, 12]]])
    scale = Tensor([10, 100]).reshape(2, 1, 1)
    expected = [[[10, 20, 30], [40, 50, 60]], [[700, 800, 900], [1000, 1100, 1200]]]
    assert mul(x, scale).tolist() == expected
    assert mul(scale, x).tolist() == expected


def test_operators_take_tensors_arrays_and_numbers_on_both_sides() -> None:
    t = Tensor([2, 4])
    array = np.array([8, 4], np.float32)
    for other in (array, Tensor(array)):
        assert (t + other).tolist() == [10, 8]
        assert (other + t).tolist() == [10, 8]
        assert (other - t).tolist() == [6, 0]
        assert (t * other).tolist() == [16, 16]
        assert (other * t).tolist() == [16, 16]
        assert (other / t).tolist() == [4, 1]
        assert isinstance(other / t, Tensor)
    for number in (2, 2.0, np.float32(2), np.int64(2)):
        assert (t + number).tolist() == [4, 6]
        assert (number + t).tolist() == [4, 6]
        assert (t - number).tolist() == [0, 2]
        assert (number - t).tolist() == [0, -2]
        assert (number * t).tolist() == [4, 8]
        assert (t / number).tolist() == [1, 2]
        assert (number / t).tolist() == [1, 0.5]
        assert isinstance(number / t, Tensor)


def test_arithmetic_leaves_the_operands_alone() -> None:
    x, y = Tensor([1, 2]), Tensor([3, 4])
    alias = x
    x += y
    assert x.tolist() == [4, 6]
    assert alias.tolist() == [1, 2]
    assert not np.shares_memory(add(y, 0).array, y.array)


def test_shapes_that_do_not_broadcast_are_named() -> None:
    expected = "expected shapes whose axes, counted from the last, are equal or 1"
    with pytest.raises(ShapeError, match=rf"^add: {expected}, got \(2, 3\) and \(2,\)$"):
        add(Tensor.zeros((2, 3)), Tensor.zeros(2))
    with pytest.raises(ShapeError, match=rf"^division: {expected}, got \(2,\) and \(3,\)$"):
        Tensor.zeros(2) / Tensor.zeros(3)


def test_other_types_are_refused_not_converted_in_silence() -> None:
    with pytest.raises(
        DataTypeError, match=r"^mul: expected float32 values, got int64; Tensor\(x\) converts with a copy$"
    ):
        mul(Tensor([1]), Tensor.wrap(np.array([1], np.int64)))
    with pytest.raises(DataTypeError, match="addition: expected float32 values, got float64"):
        Tensor([1]) + np.array([1.0])
    with pytest.raises(DataTypeError, match="multiplication: expected a Tensor, an ndarray or a number, got list"):
        Tensor([1]) * [1]  # type: ignore[operator]


def test_axpy_scales_and_adds() -> None:
    assert axpy(-2, Tensor([[1, 2, 3]]), Tensor([[10, 20, 30]])).tolist() == [[8, 16, 24]]


def test_axpy_refuses_two_shapes_and_a_that_is_no_number() -> None:
    with pytest.raises(ShapeError, match=r"axpy: expected x and y of one shape, got \(2,\) and \(1,\)"):
        axpy(1, Tensor([1, 2]), Tensor([1]))
    with pytest.raises(DataTypeError, match="axpy: expected a number as a, got str"):
        axpy("2", Tensor([1]), Tensor([1]))  # type: ignore[arg-type]


def test_exp_negative_of_known_values() -> None:
    out = exp_negative(Tensor([0, 1, -1, -math.log(10)]))
    assert out.allclose([1, 1 / math.e, math.e, 10], rtol=3e-7)

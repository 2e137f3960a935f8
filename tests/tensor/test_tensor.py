"""Tensor: construction, indexing, views and order, on small integers that are checked by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import strategies as st

from kuiper.errors import DataTypeError, ParameterError, ShapeError, TensorIndexError
from kuiper.tensor import Tensor


def counting(*shape: int, order: str = "C") -> Tensor:
    """1, 2, 3 ... in row-major order."""
    return Tensor(np.arange(1, math.prod(shape) + 1).reshape(shape), order)


# construction


def test_tensor_copies_nested_lists_as_float32() -> None:
    t = Tensor([[1, 2, 3], [4, 5, 6]])
    assert t.shape == (2, 3)
    assert t.strides == (3, 1)
    assert t.dtype == np.float32
    assert (t.ndim, t.size, t.order, len(t)) == (2, 6, "C", 2)
    assert t.tolist() == [[1, 2, 3], [4, 5, 6]]


def test_tensor_in_column_major_order_has_the_same_values_at_other_places() -> None:
    row, column = Tensor([[1, 2, 3], [4, 5, 6]]), Tensor([[1, 2, 3], [4, 5, 6]], order="column")
    assert column.order == "F"
    assert column.strides == (1, 2)
    assert column == row
    assert np.ndarray(6, np.float32, column.array.data).tolist() == [1, 4, 2, 5, 3, 6]
    assert np.ndarray(6, np.float32, row.array.data).tolist() == [1, 2, 3, 4, 5, 6]


def test_strides_lead_to_the_offset_of_every_index() -> None:
    for order in "CF":
        t = counting(2, 3, 4, order=order)
        memory = np.ndarray(24, np.float32, t.array.data)
        for index in np.ndindex(2, 3, 4):
            assert memory[sum(i * s for i, s in zip(index, t.strides, strict=True))] == t.at(*index)


def test_tensor_copies_an_array() -> None:
    array = np.ones((2, 2), np.float32)
    assert not np.shares_memory(Tensor(array).array, array)


def test_tensor_takes_a_number_and_tensors() -> None:
    assert Tensor(3).shape == ()
    assert Tensor([Tensor([1, 2]), Tensor([3, 4])]).tolist() == [[1, 2], [3, 4]]


def test_tensor_refuses_ragged_lists() -> None:
    with pytest.raises(ShapeError, match=r"^Tensor: expected nested lists of equal lengths, got ragged ones; "):
        Tensor([[1, 2], [3]])


@pytest.mark.parametrize("values", ["abc", None, [1, "2"], 1j, [b"x"]])
def test_tensor_refuses_what_is_not_a_number(values: object) -> None:
    with pytest.raises(DataTypeError, match="Tensor: expected real numbers, got values of type"):
        Tensor(values)


def test_zeros_ones_and_full_have_shape_value_and_order() -> None:
    assert Tensor.zeros((2, 3)).tolist() == [[0, 0, 0], [0, 0, 0]]
    assert Tensor.ones(2).tolist() == [1, 1]
    t = Tensor.full((2, 3, 4), 7, order="F")
    assert (t.order, t.strides, t.at(1, 2, 3)) == ("F", (1, 2, 6), 7)


@pytest.mark.parametrize("shape", [(2, -1), -3])
def test_zeros_refuses_negative_lengths(shape: object) -> None:
    with pytest.raises(ShapeError, match=r"Tensor\.full: expected a shape without negative lengths, got \("):
        Tensor.zeros(shape)  # type: ignore[arg-type]


def test_zeros_refuses_fractions_and_unknown_orders() -> None:
    with pytest.raises(DataTypeError, match=r"expected integers as shape, got \(2, 1\.5\)"):
        Tensor.zeros((2, 1.5))  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match=r"expected order 'C' or 'row' .*, got 'K'"):
        Tensor.zeros((2, 1), order="K")


def test_random_tensors_repeat_with_the_seed_in_either_order() -> None:
    for make in (Tensor.normal, Tensor.uniform):
        first = make((3, 5), seed=7)
        assert first == make((3, 5), seed=7)
        assert first == make((3, 5), seed=7, order="F")
        assert first != make((3, 5), seed=8)
        assert first.dtype == np.float32
    assert make((3, 5), seed=7, order="F").order == "F"


def test_random_tensors_follow_their_distribution() -> None:
    normal = Tensor.normal((100, 100), mean=3, std=2, seed=1).array
    assert abs(normal.mean() - 3) < 0.1
    assert abs(normal.std() - 2) < 0.1
    uniform = Tensor.uniform((100, 100), low=-2, high=4, seed=1).array
    assert uniform.min() >= -2
    assert uniform.max() <= 4
    assert abs(uniform.mean() - 1) < 0.1


# fill and values


def test_fill_with_a_number_overwrites_all_values() -> None:
    t = Tensor.zeros((2, 2))
    t.fill(3)
    assert t.tolist() == [[3, 3], [3, 3]]


def test_fill_reads_values_in_row_major_or_column_major_order() -> None:
    for order in "CF":  # how memory lies does not matter
        t = Tensor.zeros((2, 2, 3), order)
        t.fill(range(1, 13))
        assert t.tolist() == [[[1, 2, 3], [4, 5, 6]], [[7, 8, 9], [10, 11, 12]]]
        t.fill(range(1, 13), order="column")
        assert t.tolist() == [[[1, 5, 9], [3, 7, 11]], [[2, 6, 10], [4, 8, 12]]]


def test_fill_of_a_view_writes_to_the_tensor() -> None:
    t = counting(2, 2, 3)
    t.channel(1).fill(0)
    t[0, :, 1].fill([8, 9])
    assert t.tolist() == [[[1, 8, 3], [4, 9, 6]], [[0, 0, 0], [0, 0, 0]]]


def test_fill_refuses_another_number_of_values() -> None:
    expected = r"Tensor\.fill: expected one number, or a row of 6 for shape \(2, 3\), got shape \(5,\)"
    with pytest.raises(ShapeError, match=expected):
        Tensor.zeros((2, 3)).fill([1, 2, 3, 4, 5])


def test_fill_refuses_text() -> None:
    with pytest.raises(DataTypeError, match=r"Tensor\.fill: expected real numbers"):
        Tensor.zeros(2).fill("ab")  # type: ignore[arg-type]


def test_values_come_in_either_order() -> None:
    for order in "CF":
        t = counting(2, 3, order=order)
        assert t.values().tolist() == [1, 2, 3, 4, 5, 6]
        assert t.values("column").tolist() == [1, 4, 2, 5, 3, 6]
        assert not np.shares_memory(t.values(order), t.array)


# one value


def test_at_and_set_reach_one_value() -> None:
    t = counting(2, 3, 4)
    assert t.at(1, 0, 3) == 16
    assert t.at(-1, -3, -1) == 16
    t.set(1, 0, 3, value=-5)
    assert t.at(1, 0, 3) == -5
    assert isinstance(t.at(0, 0, 0), float)


def test_at_refuses_an_index_outside_with_axis_and_range() -> None:
    expected = r"Tensor\.at: expected an index within -3\.\.2 on axis 1, got 3; index \(1, 3\), shape \(2, 3\)"
    with pytest.raises(TensorIndexError, match=expected):
        counting(2, 3).at(1, 3)
    with pytest.raises(IndexError, match=r"expected an index within -2\.\.1 on axis 0, got -3"):
        counting(2, 3).at(-3, 0)
    with pytest.raises(TensorIndexError, match=r"Tensor\.at: expected 2 indices for shape \(2, 3\), got \(1,\)"):
        counting(2, 3).at(1)
    with pytest.raises(TensorIndexError, match=r"expected values on axis 0, got 0"):
        Tensor.zeros((0, 3)).at(0, 1)
    with pytest.raises(DataTypeError, match=r"Tensor\.at: expected integers as index, got \(1\.0, 2\)"):
        counting(2, 3).at(1.0, 2)  # type: ignore[arg-type]


def test_set_refuses_an_index_outside() -> None:
    with pytest.raises(TensorIndexError, match=r"Tensor\.set: expected an index within -2\.\.1 on axis 0, got 2"):
        counting(2, 3).set(2, 0, value=1)


def test_item_float_and_bool_need_one_value() -> None:
    assert Tensor([[5]]).item() == 5
    assert float(Tensor(2.5)) == 2.5
    assert Tensor([3])
    assert not Tensor(0)
    for question in (Tensor.item, float, bool):
        with pytest.raises(ShapeError, match=r"expected a tensor with one value, got shape \(2,\)"):
            question(Tensor([1, 2]))


# parts


# shapes


def test_transform_applies_a_function_to_every_value() -> None:
    t = counting(2, 3, order="F")
    seen = []
    squares = t.transform(lambda x: (seen.append(x), x * x)[1])  # type: ignore[func-returns-value]
    assert squares.tolist() == [[1, 4, 9], [16, 25, 36]]
    assert squares.order == "F"
    assert seen == [1, 2, 3, 4, 5, 6]
    assert t == counting(2, 3)


def test_copy_has_memory_of_its_own_in_the_order_asked_for() -> None:
    t = counting(2, 3, order="F")
    assert [t.copy().order, t.copy("row").order, counting(2, 3).copy("column").order] == ["F", "C", "F"]
    assert t.copy() == t
    assert not np.shares_memory(t.copy().array, t.array)


# comparison


def test_equality_is_one_bool_about_shape_and_values() -> None:
    t = counting(2, 3)
    assert t == counting(2, 3, order="F")
    assert t == Tensor.wrap(np.array([[1, 2, 3], [4, 5, 6]]))
    assert t == t.array
    assert t.array == t
    assert t != counting(3, 2)
    assert t != counting(6)
    assert t != [[1, 2, 3], [4, 5, 6]]
    assert t != "text"
    assert Tensor([math.nan]) != Tensor([math.nan])
    with pytest.raises(TypeError, match="unhashable"):
        hash(t)


def test_allclose_needs_one_shape_and_close_values() -> None:
    t = Tensor([1, 2])
    assert t.allclose([1.000001, 2])
    assert not t.allclose([1.001, 2])
    assert t.allclose([1.001, 2], rtol=1e-2)
    assert not Tensor([1, 1]).allclose([1])
    assert not Tensor([math.nan]).allclose([math.nan])
    assert Tensor([math.nan]).allclose([math.nan], equal_nan=True)


# properties, against NumPy

shapes = st.lists(st.integers(1, 4), min_size=1, max_size=4).map(tuple)

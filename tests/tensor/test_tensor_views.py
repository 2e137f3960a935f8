"""What indexing, padding, reshaping and permuting give: views where they can."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kuiper.errors import DataTypeError, ShapeError, TensorIndexError
from kuiper.tensor import Tensor
from tests.tensor.test_tensor import counting, shapes


def test_getitem_gives_views() -> None:
    t = counting(2, 3, 4)
    for part, shape in ((t[1], (3, 4)), (t[:, 1:, ::2], (2, 2, 2)), (t[..., 0], (2, 3)), (t[1, 2, 3], ())):
        assert isinstance(part, Tensor)
        assert part.shape == shape
        assert np.shares_memory(part.array, t.array)
    t[0, 0, 1].fill(99)
    assert t.at(0, 0, 1) == 99


def test_getitem_takes_masks_and_positions_also_as_tensors() -> None:
    t = counting(2, 3)
    assert t[np.array([1, 0])].tolist() == [[4, 5, 6], [1, 2, 3]]
    assert t[Tensor.wrap(np.array([1]))].tolist() == [[4, 5, 6]]
    assert t[Tensor.wrap(t.array > 4)].tolist() == [5, 6]


def test_getitem_refuses_an_index_outside() -> None:
    expected = r"Tensor\[\.\.\.\]: expected an index for shape \(2, 3\), got \(0, 3\); index 3 is out of bounds"
    with pytest.raises(TensorIndexError, match=expected):
        counting(2, 3)[0, 3]
    with pytest.raises(TensorIndexError, match="too many indices"):
        counting(2, 3)[0, 0, 0]
    with pytest.raises(TensorIndexError, match="got 'row'"):
        counting(2, 3)["row"]


def test_setitem_broadcasts_the_value() -> None:
    t = Tensor.zeros((2, 3))
    t[0] = 1
    t[:, 2] = [5, 6]
    t[1, :2] = Tensor([7, 8])
    assert t.tolist() == [[1, 1, 5], [7, 8, 6]]


def test_setitem_refuses_shapes_and_indices_that_do_not_fit() -> None:
    t = Tensor.zeros((2, 3))
    with pytest.raises(ShapeError, match=r"expected a value that broadcasts to \(3,\), got shape \(2,\)"):
        t[0] = [1, 2]
    with pytest.raises(
        TensorIndexError, match=r"expected an index for shape \(2, 3\), got 2; index 2 is out of bounds"
    ):
        t[2] = 1


def test_writing_to_read_only_memory_is_refused() -> None:
    t = Tensor.wrap(np.broadcast_to(np.float32(1), (2, 3)))
    expected = "expected memory that may be written, got a read-only view; copy"
    with pytest.raises(DataTypeError, match=expected):
        t.fill(1)
    with pytest.raises(DataTypeError, match=expected):
        t.set(0, 0, value=1)
    with pytest.raises(DataTypeError, match=expected):
        t[0] = 1
    t.copy().fill(1)


def test_iteration_gives_views_of_the_first_axis() -> None:
    t = counting(3, 2)
    rows = list(t)
    assert [row.tolist() for row in rows] == [[1, 2], [3, 4], [5, 6]]
    rows[1].fill(0)
    assert t.tolist() == [[1, 2], [0, 0], [5, 6]]
    with pytest.raises(TypeError, match=r"len\(Tensor\): expected at least one axis, got shape \(\)"):
        list(Tensor(1))


def test_channel_is_a_view_of_the_third_axis_from_the_end() -> None:
    image = counting(2, 2, 3)
    assert image.channel(1).tolist() == [[7, 8, 9], [10, 11, 12]]
    batch = counting(2, 3, 1, 2)
    assert batch.channel(-1).tolist() == [[[5, 6]], [[11, 12]]]
    batch.channel(0).fill(0)
    assert batch.tolist() == [[[[0, 0]], [[3, 4]], [[5, 6]]], [[[0, 0]], [[9, 10]], [[11, 12]]]]


def test_channel_refuses_other_ranks_and_numbers() -> None:
    with pytest.raises(
        ShapeError, match=r"Tensor\.channel: expected a tensor \(c, h, w\) or \(n, c, h, w\), got shape"
    ):
        counting(2, 3).channel(0)
    with pytest.raises(TensorIndexError, match=r"Tensor\.channel: expected an index within -2\.\.1 on axis 0, got 2"):
        counting(2, 3, 4).channel(2)


def test_padding_puts_up_bottom_left_right_where_they_belong() -> None:
    t = Tensor([[1, 2], [3, 4]])
    assert t.padding((1, 0, 0, 2)).tolist() == [[0, 0, 0, 0], [1, 2, 0, 0], [3, 4, 0, 0]]
    assert t.padding((0, 2, 1, 0), value=-1).tolist() == [[-1, 1, 2], [-1, 3, 4], [-1, -1, -1], [-1, -1, -1]]


@pytest.mark.parametrize("order", ["C", "F"])
def test_padding_leaves_outer_axes_and_order_alone(order: str) -> None:
    t = counting(2, 1, 2, 1, order=order)
    padded = t.padding((0, 1, 1, 0), value=9)
    assert padded.tolist() == [[[[9, 1], [9, 2], [9, 9]]], [[[9, 3], [9, 4], [9, 9]]]]
    assert padded.order == order
    assert not np.shares_memory(padded.array, t.array)


def test_padding_refuses_wrong_pads() -> None:
    for pads in ((1, 2, 3), (0, 0, 0, -1)):
        with pytest.raises(
            ShapeError, match=r"Tensor\.padding: expected pads \(up, bottom, left, right\), none negative"
        ):
            counting(2, 3).padding(pads)
    with pytest.raises(ShapeError, match=r"expected at least the axes \(h, w\), got \(3,\)"):
        counting(3).padding((1, 1, 1, 1))


def test_reshape_in_row_major_order_is_a_view() -> None:
    t = counting(2, 3)
    assert t.reshape(3, 2).tolist() == [[1, 2], [3, 4], [5, 6]]
    assert t.reshape((6,)).shape == (6,)
    assert np.shares_memory(t.reshape(-1, 2).array, t.array)


def test_reshape_in_column_major_order_reads_and_writes_columns_first() -> None:
    t = Tensor([[1, 2, 3], [4, 5, 6]])  # columns first: 1 4 2 5 3 6
    assert t.reshape(3, 2, order="column").tolist() == [[1, 5], [4, 3], [2, 6]]
    column_major = t.copy("F")
    assert np.shares_memory(column_major.reshape(3, 2, order="F").array, column_major.array)


def test_reshape_infers_one_length() -> None:
    assert counting(2, 3, 4).reshape(4, -1).shape == (4, 6)
    assert counting(2, 3, 4).reshape([-1]).shape == (24,)
    assert Tensor.zeros((0, 3)).reshape(3, 0).shape == (3, 0)
    assert Tensor.zeros((0, 3)).reshape(-1, 3).shape == (0, 3)


@pytest.mark.parametrize("shape", [(5, -1), (-1, -1), (4, 2), (-2, 3), (0, -1), ()])
def test_reshape_refuses_what_does_not_fit(shape: tuple[int, ...]) -> None:
    expected = r"Tensor\.reshape: expected a shape for the 6 values of \(2, 3\), with at most one -1, got \("
    with pytest.raises(ShapeError, match=expected):
        counting(2, 3).reshape(shape)


def test_flatten_merges_the_axes_between_start_and_end() -> None:
    t = counting(2, 3, 4, 5)
    assert t.flatten().shape == (120,)
    assert t.flatten(1).shape == (2, 60)
    assert t.flatten(1, 2).shape == (2, 12, 5)
    assert t.flatten(-3, -2).shape == (2, 12, 5)
    assert t.flatten(2, 2).shape == (2, 3, 4, 5)
    assert Tensor(1).flatten().shape == (1,)
    assert np.shares_memory(t.flatten(1, 2).array, t.array)
    assert t.copy("F").flatten(1, 2) == t.flatten(1, 2)


@pytest.mark.parametrize(("start", "end"), [(2, 1), (0, 4), (-5, 0)])
def test_flatten_refuses_axes_that_are_not_there(start: int, end: int) -> None:
    expected = rf"Tensor\.flatten: expected start <= end within -4\.\.3, got start={start}, end={end} for shape"
    with pytest.raises(ShapeError, match=expected):
        counting(2, 3, 4, 5).flatten(start, end)


def test_permute_moves_axes_without_a_copy() -> None:
    t = counting(2, 1, 3)
    moved = t.permute(2, 0, -2)
    assert moved.tolist() == [[[1], [4]], [[2], [5]], [[3], [6]]]
    assert np.shares_memory(moved.array, t.array)
    assert t.permute([2, 1, 0]).order == "F"
    assert counting(2, 3, 4).permute(1, 2, 0).order is None


@pytest.mark.parametrize("axes", [(0, 1), (0, 0, 1), (0, 1, 3), (0, 1, -4)])
def test_permute_refuses_what_is_not_a_permutation(axes: tuple[int, ...]) -> None:
    expected = r"Tensor\.permute: expected each of the axes 0\.\.2 of shape \(2, 3, 4\) once, got \("
    with pytest.raises(ShapeError, match=expected):
        counting(2, 3, 4).permute(*axes)


@settings(max_examples=60)
@given(shapes, st.sampled_from("CF"), st.sampled_from("CF"), st.randoms(use_true_random=False))
def test_reshape_agrees_with_numpy(shape: tuple[int, ...], memory: str, order: str, random: object) -> None:
    t = counting(*shape, order=memory)
    target = list(shape)
    random.shuffle(target)  # type: ignore[attr-defined]
    hidden = target[0]
    expected = t.array.reshape(target, order=order)  # type: ignore[call-overload]
    assert t.reshape(target, order=order) == expected
    assert t.reshape(-1, *target[1:], order=order).shape[0] == hidden
    assert t.reshape(-1, order=order).tolist() == t.values(order).tolist()


@settings(max_examples=60)
@given(
    shapes.flatmap(lambda shape: st.tuples(st.just(shape), st.permutations(range(len(shape))))), st.sampled_from("CF")
)
def test_permute_agrees_with_numpy(case: tuple[tuple[int, ...], list[int]], memory: str) -> None:
    shape, axes = case
    t = counting(*shape, order=memory)
    moved = t.permute(axes)
    assert moved == t.array.transpose(axes)
    assert moved.permute(np.argsort(axes).tolist()) == t
    assert moved.values("F").tolist() == t.array.transpose(axes).ravel("F").tolist()

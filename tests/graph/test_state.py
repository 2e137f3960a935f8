"""The memory of a session: zeros of its own for each array, side by side in large pages where there is much of it."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from kuiper.errors import ShapeError
from kuiper.graph.state import _SLAB, State
from kuiper.layers.fused.cached_attention import KEY_AXIS, PANEL, VALUE_AXIS, key_shape, value_shape
from kuiper.pages import LARGE
from kuiper.tensor_limit import get_tensor_limit, set_tensor_limit

SHAPES = {
    "small": (1, 2, 3, 5),
    **{f"layers.{i}": (1, 3, 500, 61) for i in range(60)},  # 366 kB each, in all more than a slab
    "odd": (1, 1, 1, 7),
    "large": (1, 1, _SLAB // 4, 2),
    "last": (2, 3, 100, 16),
}


def filled() -> State:
    """A state with all shapes; the array of number i is full of i."""
    state = State(max_length=500)
    for i, (key, shape) in enumerate(SHAPES.items()):
        array = state.array(key, shape)
        assert (array.shape, array.dtype, array.any()) == (shape, np.float32, False)
        array[...] = i
    return state


def where(state: State, key: str) -> int:
    """Where an array begins."""
    return int(state.array(key, SHAPES[key]).__array_interface__["data"][0])


def test_arrays_of_any_size_are_zeros_and_lie_apart() -> None:
    state = filled()
    for i, (key, shape) in enumerate(SHAPES.items()):
        assert (state.array(key, shape) == i).all()
    assert state.nbytes == sum(4 * int(np.prod(shape)) for shape in SHAPES.values())


def test_arrays_lie_side_by_side_once_they_fill_a_large_page() -> None:
    """Alone none of them would get one: NumPy asks for large pages for 4 MiB and more."""
    state = filled()
    keys = [f"layers.{i}" for i in range(60)]
    size = 4 * int(np.prod(SHAPES[keys[0]]))
    alone = -(-LARGE // size)
    gaps = [
        where(state, after) - where(state, key) for key, after in zip(keys[alone:], keys[alone + 1 :], strict=False)
    ]
    assert sum(gap == -(-size // 64) * 64 for gap in gaps) >= len(gaps) - 1  # one begins a new slab


def test_a_small_state_takes_no_large_page() -> None:
    state = State(max_length=8)
    for i in range(100):
        state.array(f"layers.{i}", (1, 2, 8, 16))
    assert len(state._slabs._rest) == 0


def test_copy_has_the_same_numbers_on_memory_of_its_own() -> None:
    state = filled()
    state.length = 3
    other = state.copy()
    for shape, key in zip(SHAPES.values(), SHAPES, strict=True):
        np.testing.assert_array_equal(other.array(key, shape), state.array(key, shape))
        other.array(key, shape)[...] = -1
        assert not (state.array(key, shape) == -1).any()
    assert (other.length, other.nbytes) == (3, state.nbytes)


@pytest.mark.parametrize("max_length", [1, 15, 16, 17, 100])
def test_copy_has_all_positions_that_are_filled_and_none_far_behind(max_length: int) -> None:
    state = State(max_length)
    forms = {
        "keys": (key_shape(1, 2, 3, max_length), KEY_AXIS, PANEL),
        "values": (value_shape(1, 2, 20, max_length), VALUE_AXIS, 1),
        "rows": ((2, 1, max_length, 5), 2, 1),
    }
    for key, (shape, axis, _) in forms.items():
        state.array(key, shape, axis)[...] = 1
    for length in range(max_length + 1):
        state.length = length
        other = state.copy()
        assert other.length == length
        for key, (shape, axis, panel) in forms.items():
            there = other.array(key, shape, axis).any(axis=tuple(i for i in range(len(shape)) if i != axis))
            needed = -(-length // panel)
            assert there[:needed].all()
            assert not there[needed + 1 :].any()


def test_arrays_of_bytes_take_a_byte_for_a_number() -> None:
    state = filled()
    before = state.nbytes
    array = state.array("bytes", (3, 100), dtype=np.int8)
    assert (array.dtype, array.any(), state.nbytes) == (np.int8, False, before + 300)
    state.array("behind", (7,))[...] = 1
    assert not array.any()


def test_memory_goes_back_with_the_state() -> None:
    state = filled()
    slab = weakref.ref(np.asarray(state._slabs._rest.base))
    del state
    gc.collect()
    assert slab() is None


def test_array_of_another_shape_than_before() -> None:
    state = State(max_length=8)
    state.array("a", (1, 8))
    with pytest.raises(ShapeError, match=r"^a: expected state of shape \(1, 8\), as in the calls before, got \(2, 8\)"):
        state.array("a", (2, 8))


def test_no_array_is_larger_than_the_limit() -> None:
    before, state = get_tensor_limit(), State(max_length=8)
    state.array("first", (LARGE // 4,))
    set_tensor_limit(4000)
    try:
        assert state.array("fits", (1000,)).size == 1000
        with pytest.raises(ShapeError, match=r"^second: expected a tensor of at most 3.9 KiB"):
            state.array("second", (1001,))
    finally:
        set_tensor_limit(before)

from __future__ import annotations

import math

import numpy as np
import pytest

from kuiper.engine.copy_plan import as_copied
from kuiper.engine.kernels.layout import Copy
from kuiper.errors import ParameterError
from tests.engine.one_step import UNTOUCHED, run_step


def numbers(**given: int) -> dict[str, int]:
    return {"source": 0, "source_binding": -1, "target": 0, "target_binding": -1, **given}


def strides(array: np.ndarray) -> list[int]:
    return [stride // 4 for stride in array.strides]


def check_copy(source: np.ndarray, target: np.ndarray) -> None:
    """Copy between two views of one shape: from the arena outwards, from outside in, and within the arena.

    What lies between the target's numbers must not change.
    """
    inside, outside = memory_of(source), memory_of(target)
    target[...] = UNTOUCHED
    before = outside.copy()
    target[...] = source
    wanted = outside.copy()

    def step(**places: int) -> Copy:
        return Copy(numbers(**places), source.shape, strides(source), strides(target))

    first, to = offset(source, inside), offset(target, outside)
    outside[:] = before
    run_step(step(source=first, target=to, target_binding=0), inside, [outside])
    np.testing.assert_array_equal(outside, wanted)

    result = run_step(step(source=first, source_binding=0, target=to), before, [inside])
    np.testing.assert_array_equal(result, wanted)

    result = run_step(step(source=first, target=len(inside) + to), np.concatenate([inside, before]))
    np.testing.assert_array_equal(result, np.concatenate([inside, wanted]))


def memory_of(view: np.ndarray) -> np.ndarray:
    """The flat array that a view looks into."""
    while view.base is not None:
        view = view.base
    return view


def offset(view: np.ndarray, memory: np.ndarray) -> int:
    return (view.ctypes.data - memory.ctypes.data) // 4


def flat(count: int) -> np.ndarray:
    return np.arange(count, dtype=np.float32)


@pytest.mark.parametrize("channels", [1, 2, 3, 4, 7, 15, 16, 17, 33])
@pytest.mark.parametrize("pixels", [(1, 1), (2, 3), (4, 4), (5, 7), (3, 17)])
def test_copy_to_and_from_channels_last(channels: int, pixels: tuple[int, int]) -> None:
    h, w = pixels
    for spare in (0, 5):
        last = flat(2 * h * w * (channels + spare)).reshape(2, h, w, channels + spare)[..., :channels]
        first = flat(2 * channels * h * w).reshape(2, channels, h, w)
        check_copy(last.transpose(0, 3, 1, 2), first)
        check_copy(first, last.transpose(0, 3, 1, 2))


@pytest.mark.parametrize("length", range(1, 20))
def test_copy_of_short_runs_writes_nothing_between_them(length: int) -> None:
    check_copy(
        flat(2 * 21 * 40).reshape(2, 21, 40)[..., 3 : 3 + length], flat(2 * 21 * 23).reshape(2, 21, 23)[..., :length]
    )


@pytest.mark.parametrize("length", [1, 2, 3, 5, 15])
def test_copy_turns_round_what_is_too_short_for_a_transpose(length: int) -> None:
    wide, high = flat(length * 70).reshape(length, 70), flat(70 * length).reshape(70, length)
    check_copy(wide.T, high)
    check_copy(high.T, wide)


def test_copy_weaves_an_image_into_a_border() -> None:
    inside = np.zeros(2 * 9 * 42 * 3, np.float32).reshape(2, 9, 42, 3)[:, 2:7, 1:40]
    check_copy(flat(2 * 3 * 5 * 39).reshape(2, 3, 5, 39), inside.transpose(0, 3, 1, 2))


@pytest.mark.parametrize("channels", [1, 3, 16, 20, 35])
def test_copy_into_a_slice_of_channels(channels: int) -> None:
    check_copy(flat(30 * channels).reshape(5, 6, channels), flat(30 * 48).reshape(5, 6, 48)[..., 7 : 7 + channels])


@pytest.mark.parametrize("axes", [(5, 4, 3, 2, 1, 0), (0, 2, 1, 4, 3, 5), (1, 2, 3, 4, 5, 0), (5, 0, 1, 2, 3, 4)])
def test_copy_permutes_six_axes(axes: tuple[int, ...]) -> None:
    source = flat(2 * 3 * 2 * 5 * 3 * 18).reshape(2, 3, 2, 5, 3, 18).transpose(axes)
    check_copy(source, flat(source.size).reshape(source.shape))


def test_copy_skips_repeats_and_reverses() -> None:
    target = flat(4 * 40).reshape(4, 40)
    check_copy(flat(9 * 100).reshape(9, 100)[1::2, 3:83:2], target)
    check_copy(np.broadcast_to(flat(40), (4, 40)), target)
    check_copy(np.broadcast_to(flat(4).reshape(4, 1), (4, 40)), target)
    check_copy(flat(160).reshape(4, 40)[::-1, ::-1], target)


def test_copy_of_one_number() -> None:
    check_copy(flat(1).reshape(1, 1), flat(1).reshape(1, 1))
    check_copy(flat(1).reshape(()), flat(1).reshape(()))


def test_copy_of_nothing() -> None:
    arena = flat(20)
    np.testing.assert_array_equal(run_step(Copy(numbers(target=10), (2, 0, 3), (3, 3, 1), (3, 3, 1)), arena), arena)


def test_copy_refuses_seven_axes() -> None:
    with pytest.raises(ParameterError, match="a copy: expected at most 6 axes, got 7"):
        Copy(numbers(), (2,) * 7, [3**i for i in range(7)], [4**i for i in range(7)])


def test_copy_keeps_nan_and_infinity() -> None:
    source = np.float32([np.nan, np.inf, -np.inf, -0.0] * 5)
    result = run_step(Copy(numbers(target=20), (20,), (1,), (1,)), np.concatenate([source, np.zeros(20, np.float32)]))
    np.testing.assert_array_equal(result[20:].view(np.int32), source.view(np.int32))


@pytest.mark.parametrize("shape", [(3, 224, 224), (40, 50, 70), (255, 20, 20), (1, 300, 300)])
def test_copy_of_many_tasks(shape: tuple[int, int, int]) -> None:
    c, h, w = shape
    first, last = flat(c * h * w).reshape(shape), flat(c * h * w).reshape(h, w, c).transpose(2, 0, 1)
    check_copy(first, last)
    check_copy(last, first)
    check_copy(flat(c * h * w), flat(c * h * w))
    assert Copy(numbers(target=first.size), shape, strides(first), strides(last)).tasks > 1


def test_as_copied_joins_neighbours() -> None:
    assert as_copied([(2, 60, 60), (3, 20, 20), (20, 1, 1)]) == [(1, 0, 0), (120, 1, 1)]
    assert as_copied([(2, 60, 60), (3, 1, 20), (20, 3, 1)]) == [(2, 60, 60), (3, 1, 20), (20, 3, 1)]


@pytest.mark.parametrize("step", [2, 3])
def test_copy_of_numbers_that_lie_apart_on_both_sides(step: int) -> None:
    for shape in ((40,), (5, 7)):
        wide = (*shape[:-1], shape[-1] * step)
        source, target = flat(math.prod(wide)), np.full(math.prod(wide), UNTOUCHED)
        check_copy(source.reshape(wide)[..., ::step], target.reshape(wide)[..., ::step])

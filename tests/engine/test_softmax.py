"""Softmax steps against the layers' softmax, along axes that lie in memory in any way."""

from __future__ import annotations

import numpy as np
import pytest

from kuiper.engine.kernels.softmax import Softmax
from kuiper.layers.operators.softmax import log_softmax, softmax
from tests.engine.one_step import UNTOUCHED, run_step


def run(
    x: np.ndarray, dim: int, order: tuple[int, ...], gap: int, logarithm: bool, in_place: bool, zeros: bool = False
) -> np.ndarray:
    """The softmax of ``x`` laid out with axes in this order and ``gap`` floats behind each stretch along the last."""
    moved = x.transpose(order)
    room = np.full((*moved.shape[:-1], moved.shape[-1] + gap), np.nan, np.float32)
    target = np.full_like(room, UNTOUCHED)
    room[..., : moved.shape[-1]] = moved
    strides = [room.strides[order.index(axis)] // 4 for axis in range(x.ndim)]
    stride = strides.pop(dim)
    shape = [size for axis, size in enumerate(x.shape) if axis != dim % x.ndim]
    numbers = {"source": 0, "target": 0 if in_place else room.size, "size": x.shape[dim], "logarithm": logarithm}
    numbers |= {"zeros": zeros}
    step = Softmax(numbers | {"source_stride": stride, "target_stride": stride}, shape, strides, strides)
    arena = run_step(step, np.concatenate([room.ravel(), target.ravel(), np.full(64, np.nan, np.float32)]))
    result = arena[: room.size] if in_place else arena[room.size : 2 * room.size]
    result = result.reshape(room.shape)
    outside = np.nan if in_place else UNTOUCHED
    np.testing.assert_array_equal(result[..., moved.shape[-1] :], outside)
    return result[..., : moved.shape[-1]].transpose(np.argsort(order))


@pytest.mark.parametrize("logarithm", [False, True])
@pytest.mark.parametrize("size", [1, 3, 15, 16, 17, 49, 64, 197, 1000])
def test_softmax_of_rows(size: int, logarithm: bool) -> None:
    x = np.random.default_rng(size).standard_normal((3, 7, size), np.float32) * 5
    wanted = (log_softmax if logarithm else softmax)(x, -1)
    for gap in (0, 5):
        for in_place in (False, True):
            result = run(x, -1, (0, 1, 2), gap, logarithm, in_place)
            assert np.abs(result - wanted).max() <= 4e-6 * max(np.abs(wanted).max(), 1e-3)


@pytest.mark.parametrize("logarithm", [False, True])
@pytest.mark.parametrize("shape", [(2, 5, 3, 4), (1, 16, 2, 6), (2, 37, 5, 1), (1, 1, 9, 8), (2, 3, 1, 5)])
@pytest.mark.parametrize("dim", [0, 1, 2, 3])
def test_softmax_along_any_axis_of_an_image(shape: tuple[int, ...], dim: int, logarithm: bool) -> None:
    x = np.random.default_rng(dim).standard_normal(shape, np.float32) * 5
    wanted = (log_softmax if logarithm else softmax)(x, dim)
    for order in ((0, 2, 3, 1), (0, 1, 2, 3)):
        result = run(x, dim, order, 3, logarithm, in_place=dim % 2 == 0)
        np.testing.assert_allclose(result, wanted, rtol=2e-6, atol=2e-7)


@pytest.mark.parametrize("dim", [1, 2])
@pytest.mark.parametrize("size", [3, 40])
@pytest.mark.parametrize("logarithm", [False, True])
def test_softmax_of_special_rows_is_as_in_torch(dim: int, size: int, logarithm: bool) -> None:
    x = np.zeros((7, size), np.float32)
    x[0] = -np.inf
    x[1, size - 1] = np.nan
    x[2, 1] = np.inf
    x[3, 0] = -np.inf
    x[4, :2] = 3e38, -3e38
    x[5, 0] = np.nan
    x[6, :3] = -100, -200, 0
    x = x[..., np.newaxis] if dim == 1 else x[:, np.newaxis]
    wanted = (log_softmax if logarithm else softmax)(x, dim)
    np.testing.assert_allclose(run(x, dim, (0, 1, 2), 2, logarithm, False), wanted, rtol=2e-6, atol=1e-37)


def test_softmax_cuts_big_work_into_tasks() -> None:
    numbers = {"source": 0, "target": 0, "size": 197, "source_stride": 1, "target_stride": 1}
    numbers |= {"logarithm": 0, "zeros": 0}
    assert Softmax(numbers, (12, 197), (197 * 208, 208), (197 * 208, 208)).tasks >= 16
    assert Softmax(numbers, (12,), (208,), (208,)).tasks == 1
    strided = numbers | {"source_stride": 64, "target_stride": 64}
    assert Softmax(strided, (100, 64), (197 * 64, 1), (197 * 64, 1)).tasks >= 16


@pytest.mark.torch
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax_agrees_with_torch(name: str) -> None:
    import torch

    x = np.random.default_rng(7).standard_normal((4, 50, 197), np.float32) * 10
    for dim, order in ((2, (0, 1, 2)), (1, (0, 1, 2)), (1, (0, 2, 1))):
        wanted = getattr(torch, name)(torch.from_numpy(x), dim).numpy()
        result = run(x, dim, order, 4, name == "log_softmax", False)
        assert np.abs(result - wanted).max() <= 1e-6 * np.abs(wanted).max()


@pytest.mark.parametrize("size", [1, 5, 8, 16, 35])
def test_softmax_makes_zeros_of_rows_without_numbers_if_asked(size: int) -> None:
    x = np.random.default_rng(0).standard_normal((1, 20, size)).astype(np.float32)
    x[0, ::3] = -np.inf
    x[0, 6, -1] = np.nan
    wanted = softmax(x, -1)
    wanted[0, [row for row in range(0, 20, 3) if row != 6]] = 0
    for in_place in (False, True):
        result = run(x, -1, (0, 1, 2), 0, False, in_place, zeros=True)
        np.testing.assert_allclose(result, wanted, rtol=1e-5, atol=1e-7)

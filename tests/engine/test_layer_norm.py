"""Layer norm and RMS norm steps against the layers' functions."""

from __future__ import annotations

import numpy as np
import pytest

from kuiper.engine.kernels.layer_norm import LayerNorm
from kuiper.layers.operators.layer_norm import layer_norm
from kuiper.layers.operators.rms_norm import rms_norm
from tests.engine.one_step import UNTOUCHED, run_step


def run(
    x: np.ndarray, weight: np.ndarray, bias: np.ndarray, eps: float, centred: bool, gap: int = 0, in_place: bool = False
) -> np.ndarray:
    """The step's output for rows that lie ``gap`` floats apart."""
    room = np.full((*x.shape[:-1], x.shape[-1] + gap), np.nan, np.float32)
    target = np.full_like(room, UNTOUCHED)
    room[..., : x.shape[-1]] = x
    strides = [stride // 4 for stride in room.strides[:-1]]
    numbers = {"source": 0, "target": 0 if in_place else room.size, "size": x.shape[-1], "centred": centred, "eps": eps}
    step = LayerNorm(numbers, weight, bias, x.shape[:-1], strides, strides)
    arena = run_step(step, np.concatenate([room.ravel(), target.ravel(), np.full(64, np.nan, np.float32)]))
    result = (arena[: room.size] if in_place else arena[room.size : 2 * room.size]).reshape(room.shape)
    np.testing.assert_array_equal(result[..., x.shape[-1] :], np.nan if in_place else UNTOUCHED)
    return result[..., : x.shape[-1]]


@pytest.mark.parametrize("size", [1, 2, 7, 15, 16, 17, 33, 64, 96, 100, 768, 1000])
@pytest.mark.parametrize("gap", [0, 5])
def test_layer_norm_and_rms_norm_of_rows(size: int, gap: int) -> None:
    rng = np.random.default_rng(size)
    x, weight, bias = (rng.standard_normal(shape, np.float32) for shape in ((3, 4, size), size, size))
    wanted = layer_norm(x, x.shape[-1:], weight, bias, 1e-5)
    power = rms_norm(x, x.shape[-1:], weight, 1e-6)
    for in_place in (False, True):
        result = run(x, weight, bias, 1e-5, True, gap, in_place)
        np.testing.assert_allclose(result, wanted, rtol=1e-5, atol=2e-6)
        result = run(x, weight, np.zeros_like(bias), 1e-6, False, gap, in_place)
        np.testing.assert_allclose(result, power, rtol=2e-6, atol=1e-7)


def test_layer_norm_far_from_zero_loses_nothing() -> None:
    x = np.random.default_rng(0).standard_normal((5, 768), np.float32) + np.float32(10_000)
    one, zero = np.ones(768, np.float32), np.zeros(768, np.float32)
    np.testing.assert_allclose(
        run(x, one, zero, 1e-5, True), layer_norm(x, x.shape[-1:], one, zero, 1e-5), rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("centred", [True, False])
def test_layer_norm_of_special_rows_is_as_in_torch(centred: bool) -> None:
    x = np.random.default_rng(1).standard_normal((6, 40), np.float32)
    x[0, 3] = np.nan
    x[1, 39] = np.inf
    x[2, :2] = np.inf, -np.inf
    x[3] = 0
    x[4] = 7.25
    weight, bias = np.ones(40, np.float32), np.zeros(40, np.float32)
    wanted = layer_norm(x, x.shape[-1:], weight, bias, 1e-5) if centred else rms_norm(x, x.shape[-1:], weight, 1e-5)
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(run(x, weight, bias, 1e-5, centred), wanted, rtol=1e-5, atol=1e-6)


def test_layer_norm_cuts_big_work_into_tasks() -> None:
    numbers = {"source": 0, "target": 0, "size": 768, "centred": 1, "eps": 1e-5}
    weight = np.ones(768, np.float32)
    assert LayerNorm(numbers, weight, weight, (8, 197), (197 * 768, 768), (197 * 768, 768)).tasks >= 8
    assert LayerNorm(numbers, weight, weight, (), (), ()).tasks == 1


@pytest.mark.torch
def test_layer_norm_agrees_with_torch() -> None:
    import torch

    rng = np.random.default_rng(2)
    x, weight, bias = (rng.standard_normal(shape, np.float32) for shape in ((20, 197), 197, 197))
    t, tw, tb = map(torch.from_numpy, (x, weight, bias))
    wanted = torch.nn.functional.layer_norm(t, (197,), tw, tb, 1e-5).numpy()
    assert np.abs(run(x, weight, bias, 1e-5, True) - wanted).max() <= 1e-6 * np.abs(wanted).max()
    wanted = torch.nn.functional.rms_norm(t, (197,), tw, 1e-6).numpy()
    result = run(x, weight, np.zeros_like(bias), 1e-6, False)
    assert np.abs(result - wanted).max() <= 1e-6 * np.abs(wanted).max()


def test_layer_norm_of_single_numbers_that_lie_side_by_side() -> None:
    one = np.ones(1, np.float32)
    step = LayerNorm(
        {"source": 0, "target": 12, "size": 1, "centred": True, "eps": 1e-5}, one, 3 * one, (3, 3), (4, 1), (4, 1)
    )
    arena = run_step(step, np.full(24 + 64, UNTOUCHED, np.float32))
    lines = arena[12:24].reshape(3, 4)
    np.testing.assert_array_equal(lines[:, :3], 3)
    np.testing.assert_array_equal(lines[:, 3], UNTOUCHED)

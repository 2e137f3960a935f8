"""Group norm steps on channels-last images against the layers' function."""

from __future__ import annotations

import numpy as np
import pytest

from kuiper.engine.kernels.group_norm import GroupNorm
from kuiper.layers.operators.group_norm import group_norm
from tests.engine.one_step import Arena, image_at, run_step


def run(x: np.ndarray, groups: int, weight: np.ndarray, bias: np.ndarray, eps: float, spare: int = 0) -> np.ndarray:
    """The step's output for an image with ``spare`` lanes behind each pixel's whole vectors."""
    n, c, h, w = x.shape
    arena = Arena()
    source, target = arena.image(x, spare), arena.target(n, c, h, w, spare)
    numbers = {
        "images": n, "pixels": h * w, "channels": c, "groups": groups, "eps": eps,
        "source": source["start"], "in_image": source["image"], "in_pixel": source["pixel"],
        "target": target["start"], "out_image": target["image"], "out_pixel": target["pixel"],
    }  # fmt: skip
    return image_at(run_step(GroupNorm(numbers, weight, bias), arena.array), target, n, c, h, w)


@pytest.mark.parametrize(
    ("channels", "groups"), [(1, 1), (6, 3), (16, 16), (24, 2), (32, 32), (40, 5), (48, 2), (64, 4), (96, 32), (33, 33)]
)
@pytest.mark.parametrize("size", [(1, 1), (3, 7), (16, 17), (23, 30)])
def test_group_norm_of_images(channels: int, groups: int, size: tuple[int, int]) -> None:
    rng = np.random.default_rng(channels)
    x = rng.standard_normal((2, channels, *size), np.float32) * 3 + 1
    weight, bias = (rng.standard_normal(channels, np.float32) for _ in range(2))
    wanted = group_norm(x, groups, weight, bias, 1e-5)
    tolerance = 2e-6 * np.abs(wanted).max()
    for spare in (0, 16):
        np.testing.assert_allclose(run(x, groups, weight, bias, 1e-5, spare), wanted, rtol=1e-5, atol=tolerance)


def test_group_norm_far_from_zero_loses_nothing() -> None:
    x = np.random.default_rng(0).standard_normal((1, 32, 40, 40), np.float32) + np.float32(10_000)
    weight, bias = np.ones(32, np.float32), np.zeros(32, np.float32)
    wanted = group_norm(x, 4, weight, bias, 1e-5)
    np.testing.assert_allclose(run(x, 4, weight, bias, 1e-5), wanted, rtol=1e-5, atol=1e-5)


def test_group_norm_survives_a_first_guess_that_is_far_off() -> None:
    x = np.random.default_rng(0).standard_normal((1, 32, 40, 40), np.float32) + np.float32(1000)
    x[:, :16, :4] = 0
    x[:, 16:, :10] -= 1000
    weight, bias = np.ones(32, np.float32), np.zeros(32, np.float32)
    for groups in (2, 32):
        wanted = group_norm(x, groups, weight, bias, 1e-5)
        np.testing.assert_allclose(run(x, groups, weight, bias, 1e-5), wanted, rtol=1e-5, atol=1e-5)


def test_group_norm_of_special_groups_is_as_in_torch() -> None:
    x = np.random.default_rng(1).standard_normal((2, 20, 3, 5), np.float32)
    x[0, 3, 0, 0], x[0, 9, 2, 4], x[1, 0] = np.nan, np.inf, 7.25
    weight, bias = np.ones(20, np.float32), np.zeros(20, np.float32)
    for groups in (20, 5):
        wanted = group_norm(x, groups, weight, bias, 1e-5)
        np.testing.assert_allclose(run(x, groups, weight, bias, 1e-5), wanted, rtol=1e-5, atol=1e-5)


def test_group_norm_cuts_big_work_into_tasks() -> None:
    numbers = {
        "images": 1, "pixels": 64 * 64, "channels": 256, "groups": 32, "eps": 1e-5, "source": 0, "in_image": 0,
        "in_pixel": 256, "target": 0, "out_image": 0, "out_pixel": 256,
    }  # fmt: skip
    weight = np.ones(256, np.float32)
    assert GroupNorm(numbers, weight, weight).tasks == 8
    assert GroupNorm(numbers | {"pixels": 4}, weight, weight).tasks == 1
    assert GroupNorm(numbers | {"groups": 1}, weight, weight).tasks == 1

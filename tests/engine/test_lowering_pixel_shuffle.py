"""Pixel shuffles in a plan."""

from __future__ import annotations

import pytest

from tests.engine.lowered import steps_of
from tests.engine.models import numbers


@pytest.mark.parametrize("r", [1, 2, 3])
@pytest.mark.parametrize("stack", [(), (1,), (2,), (2, 3)])
@pytest.mark.parametrize("channels", [1, 3, 16])
def test_pixel_shuffle_and_unshuffle_are_one_copy(channels: int, stack: tuple[int, ...], r: int) -> None:
    many, few = (*stack, channels * r * r, 5, 4), (*stack, channels, 5 * r, 4 * r)
    assert steps_of(f"nn.PixelShuffle s 1 1 x0 y upscale_factor={r}", inputs=[numbers(*many)]) == ["copy"]
    assert steps_of(f"nn.PixelUnshuffle s 1 1 x0 y downscale_factor={r}", inputs=[numbers(*few)]) == ["copy"]


def test_pixel_shuffle_goes_on_as_an_image() -> None:
    lines = (
        "nn.Conv2d a 1 1 x0 1 in_channels=3 out_channels=12 kernel_size=(1,1) bias=False @weight=(12,3,1,1)f32",
        "nn.PixelShuffle s 1 1 1 2 upscale_factor=2",
        "nn.Conv2d b 1 1 2 y in_channels=3 out_channels=4 kernel_size=(1,1) bias=False @weight=(4,3,1,1)f32",
    )
    assert steps_of(*lines, inputs=[numbers(2, 3, 5, 4)]) == ["direct", "copy", "direct"]

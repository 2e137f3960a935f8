"""Channel shuffles in a plan."""

from __future__ import annotations

import pytest

from kuiper.errors import ShapeError
from tests.engine.lowered import steps_of
from tests.engine.models import both, numbers


@pytest.mark.parametrize("shape", [(1, 12, 1, 1), (2, 12, 5, 6), (2, 96, 7, 3), (3, 12, 5), (1, 12, 2, 2, 2)])
@pytest.mark.parametrize("groups", [1, 2, 3, 12])
def test_channel_shuffle_is_one_copy(shape: tuple[int, ...], groups: int) -> None:
    line = f"nn.ChannelShuffle s 1 1 x0 y groups={groups}"
    assert steps_of(line, inputs=[numbers(*shape)]) == ["copy"]


def test_channel_shuffle_keeps_an_image_an_image() -> None:
    lines = (
        "nn.ReLU r 1 1 x0 1",
        "nn.ChannelShuffle s 1 1 1 2 groups=2",
        "torch.chunk c 1 2 2 3 4 chunks=2 dim=1",
        "nn.Conv2d a 1 1 3 5 in_channels=16 out_channels=16 kernel_size=(1,1) bias=False @weight=(16,16,1,1)f32",
        "torch.cat j 2 1 5 4 y dim=1",
    )
    assert steps_of(*lines, inputs=[numbers(2, 32, 5, 6)]) == ["clip", "copy", "direct", "copy"]


@pytest.mark.parametrize("shape", [(4, 6), (6,)])
def test_channel_shuffle_of_no_image_is_the_layers_error(shape: tuple[int, ...]) -> None:
    fast, _ = both("pnnx.Input in 0 1 x", "nn.ChannelShuffle s 1 1 x y groups=2", "pnnx.Output out 1 0 y")
    with pytest.raises(ShapeError, match=r"nn\.ChannelShuffle"):
        fast(numbers(*shape))

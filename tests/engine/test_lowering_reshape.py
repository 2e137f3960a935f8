"""Reshapes in a plan: views, copies, and inputs that come in another shape."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from kuiper.engine.lowering.reshape import common_parts
from tests.engine.lowered import steps_of
from tests.engine.models import numbers

RELU = "nn.ReLU r 1 1 x0 1"


def reshape(source: str, target: str, shape: tuple[int, ...]) -> str:
    return f"Tensor.reshape reshape_{target} 1 1 {source} {target} shape=({','.join(map(str, shape))})"


@pytest.mark.parametrize("shape", [(6, 20), (120,), (2, 3, 4, 5), (2, 3, 20), (24, 5), (1, 2, 3, 4, 5), (8, 3, 5)])
def test_reshape_of_a_permuted_tensor_is_one_copy(shape: tuple[int, ...]) -> None:
    for dims in ((0, 2, 1), (2, 1, 0), (1, 0, 2)):
        lines = (RELU, f"Tensor.permute p 1 1 1 2 dims={dims}".replace(", ", ","), reshape("2", "y", shape))
        steps = steps_of(*lines, inputs=[numbers(5, 4, 6)])
        assert steps in (["clip"], ["clip", "copy"])


@pytest.mark.parametrize("size", [(1, 1), (2, 3), (5, 6)])
@pytest.mark.parametrize("channels", [3, 16, 33])
def test_flatten_of_an_image_is_a_copy_or_a_view(channels: int, size: tuple[int, int]) -> None:
    steps = steps_of(RELU, "torch.flatten f 1 1 1 y start_dim=1 end_dim=-1", inputs=[numbers(2, channels, *size)])
    assert steps == ["clip", "copy"][: 2 - (size == (1, 1))]


def test_channels_that_are_shuffled_by_hand_stay_channels() -> None:
    lines = (
        RELU, reshape("1", "2", (2, 2, 8, 5, 6)), "torch.transpose t 1 1 2 3 dim0=1 dim1=2",
        reshape("3", "4", (2, 16, 5, 6)),
        "nn.Conv2d c 1 1 4 y in_channels=16 out_channels=4 kernel_size=(1,1) bias=False @weight=(4,16,1,1)f32",
    )  # fmt: skip
    assert steps_of(*lines, inputs=[numbers(2, 16, 5, 6)]) == ["clip", "copy", "direct"]


@pytest.mark.parametrize(("before", "after"), [((2, 12), (2, 3, 2, 2)), ((2, 3, 2, 2), (2, 12)), ((4, 6), (24,))])
def test_an_input_comes_in_its_new_shape(before: tuple[int, ...], after: tuple[int, ...]) -> None:
    assert steps_of(reshape("x0", "1", after), "nn.ReLU r 1 1 1 y", inputs=[numbers(*before)]) == ["clip"]


def test_reshape_as_takes_the_shape_of_another() -> None:
    lines = (RELU, "torch.transpose t 1 1 1 2 dim0=0 dim1=1", "Tensor.reshape_as a 2 1 2 x1 y $self=2 $other=x1")
    assert steps_of(*lines, inputs=[numbers(4, 6), numbers(2, 12)]) == ["clip", "copy"]


def test_whole_numbers_come_in_their_new_shape_without_a_step() -> None:
    assert steps_of(reshape("x0", "y", (3, 2)), inputs=[np.arange(6, dtype=np.int64)]) == []


def test_common_parts_join_to_both_shapes() -> None:
    shapes = [
        shape for n in (1, 2, 3) for shape in itertools.product((1, 2, 3, 4, 6), repeat=n) if math.prod(shape) == 24
    ]
    for a, b in itertools.product(shapes, repeat=2):
        parts = common_parts(a, b)
        if parts is None:
            continue
        assert math.prod(parts) == 24
        x = np.arange(24)
        for shape in (a, b):
            assert np.shares_memory(x.reshape(shape).reshape(parts), x)
    assert common_parts((2, 3, 4), (6, 4)) == (2, 3, 4)

"""Which copies one step can make, and where values lie that need none."""

from __future__ import annotations

import numpy as np
import pytest

from kuiper.engine.lowering.placement import can_copy
from tests.engine.lowered import steps_of
from tests.engine.models import numbers


@pytest.mark.parametrize(("axes", "expected"), [(5, True), (6, True), (7, False)])
def test_can_copy_views_of_up_to_six_axes(axes: int, expected: bool) -> None:
    source, target = np.zeros((2,) * axes, np.float32), np.zeros((2,) * axes, np.float32)
    assert can_copy(source.transpose(), target) is expected


def test_can_copy_counts_axes_that_lie_in_memory_as_one_once() -> None:
    source, target = np.zeros((2,) * 9, np.float32), np.zeros((2,) * 9, np.float32)
    assert can_copy(source, target)


# Rows of four heads side by side, as a linear layer leaves them, and heads that a product takes row by row. The product
# would copy a left factor that does not lie by rows, since it has more columns than a panel.
HEADS = (
    "pnnx.Expression z 1 1 x0 z expr=mul(@0,2.0)",
    "Tensor.reshape r 1 1 z r shape=(1,70,4,32)",
    "Tensor.permute p 1 1 r q dims=(0,2,1,3)",
)
PRODUCT = "torch.matmul m 2 1 e x1 y"


def test_turned_halves_of_heads_stay_rows() -> None:
    steps = steps_of(
        *HEADS,
        "Tensor.slice a 1 1 q a dim=3 start=0 end=16 step=1",
        "Tensor.slice b 1 1 q b dim=3 start=16 end=32 step=1",
        "pnnx.Expression n 1 1 b n expr=neg(@0)",
        "torch.cat c 2 1 n a c dim=3",
        "pnnx.Expression e 2 1 q c e expr=add(@0,mul(@1,2.0))",
        PRODUCT,
        inputs=[numbers(1, 70, 128), numbers(1, 4, 32, 90, seed=1)],
    )
    assert steps == ["mul", "neg", "copy", "mul", "product"]  # the copy is of the half that comes last


@pytest.mark.parametrize("expand", ["Tensor.expand x 1 1 l s sizes=(1,4,70,32)", "Tensor.expand_as x 2 1 l q s"])
def test_heads_divided_by_their_lengths_stay_rows(expand: str) -> None:
    steps = steps_of(
        *HEADS,
        "torch.norm n 1 1 q l dim=(3) keepdim=True",
        expand,
        "pnnx.Expression e 2 1 q s e expr=div(@0,@1)",
        PRODUCT,
        inputs=[numbers(1, 70, 128), numbers(1, 4, 32, 90, seed=1)],
    )
    assert steps == ["mul", "square", "product", "sqrt", "div", "product"]


def test_images_beside_each_other_stay_an_image() -> None:
    steps = steps_of(
        "nn.Conv2d a 1 1 x0 a in_channels=4 out_channels=16 kernel_size=(1,1) stride=(1,1) padding=(0,0) "
        "dilation=(1,1) groups=1 bias=False @weight=(16,4,1,1)f32",
        "pnnx.Expression b 1 1 x0 b expr=mul(@0,2.0)",
        "torch.cat c 2 1 a b c dim=1",
        "nn.Conv2d d 1 1 c y in_channels=20 out_channels=3 kernel_size=(1,1) stride=(1,1) padding=(0,0) "
        "dilation=(1,1) groups=1 bias=False @weight=(3,20,1,1)f32",
        inputs=[numbers(1, 4, 9, 9)],
    )
    assert steps == ["direct", "mul", "direct"]

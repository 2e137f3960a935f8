"""Convolutions along one axis in a plan."""

from __future__ import annotations

import pytest

from tests.engine.lowered import steps_of
from tests.engine.models import numbers


def conv1d(
    source: str, target: str, in_c: int, out_c: int, kernel: int = 3, groups: int = 1, more: str = "padding=1"
) -> str:
    return (
        f"nn.Conv1d conv_{target} 1 1 {source} {target} in_channels={in_c} out_channels={out_c} kernel_size=({kernel}) "
        f"groups={groups} bias=True {more} @weight=({out_c},{in_c // groups},{kernel})f32 @bias=({out_c})f32"
    )


@pytest.mark.parametrize("shape", [(1, 8, 1), (2, 8, 20), (3, 8, 7)])
@pytest.mark.parametrize("more", ["padding=1", "padding=2 stride=2", "padding=4 dilation=3", "padding=same"])
def test_conv1d_copies_its_input_once_and_convolves(shape: tuple[int, ...], more: str) -> None:
    assert steps_of(conv1d("x0", "y", 8, 20, more=more), inputs=[numbers(*shape)]) == ["copy", "direct"]


def test_conv1d_with_groups() -> None:
    assert steps_of(conv1d("x0", "y", 8, 8, groups=8), inputs=[numbers(2, 8, 9)]) == ["copy", "depthwise"]
    assert steps_of(conv1d("x0", "y", 8, 32, groups=2), inputs=[numbers(2, 8, 9)]) == ["copy", "direct"]


def test_a_chain_of_conv1d_copies_once() -> None:
    lines = (
        conv1d("x0", "1", 8, 20), "nn.ReLU r1 1 1 1 2", conv1d("2", "3", 20, 20), "nn.SiLU r2 1 1 3 4",
        conv1d("4", "5", 20, 20), "pnnx.Expression e 2 1 5 4 y expr=add(@0,@1)",
    )  # fmt: skip
    assert steps_of(*lines, inputs=[numbers(2, 8, 11)]) == ["copy", "direct", "direct", "direct"]


def test_conv1d_with_another_border_is_left_to_the_layer() -> None:
    line = conv1d("x0", "y", 8, 8, more="padding=1 padding_mode=reflect")
    assert steps_of(line, inputs=[numbers(2, 8, 9)]) == ["layer"]

"""Group norms and instance norms in a plan."""

from __future__ import annotations

import pytest

from tests.engine.lowered import steps_of
from tests.engine.models import numbers

AFFINE = "affine=True @weight=(12)f32 @bias=(12)f32"


@pytest.mark.parametrize("affine", [AFFINE, "affine=False"])
@pytest.mark.parametrize("groups", [1, 3, 12])
@pytest.mark.parametrize("shape", [(2, 12, 5, 6), (1, 12, 1, 1), (2, 12, 7), (3, 12), (2, 12, 2, 3, 2)])
def test_group_norm_is_one_step(shape: tuple[int, ...], groups: int, affine: str) -> None:
    line = f"nn.GroupNorm g 1 1 x0 y num_groups={groups} num_channels=12 {affine}"
    steps = steps_of(line, inputs=[numbers(*shape)])
    assert [step for step in steps if step != "copy"] == ["instance-norm" if groups == 12 else "group-norm"]
    assert len(shape) != 4 or len(steps) == 1


@pytest.mark.parametrize("affine", [AFFINE, "affine=False"])
@pytest.mark.parametrize("shape", [(2, 12, 5, 6), (2, 12, 7), (2, 12, 2, 3, 2)])
def test_instance_norm_is_one_step(shape: tuple[int, ...], affine: str) -> None:
    line = f"nn.InstanceNorm{len(shape) - 2}d g 1 1 x0 y num_features=12 {affine}"
    assert steps_of(line, inputs=[numbers(*shape)])[-1] == "instance-norm"


def test_instance_norm_without_a_batch_is_left_to_the_layer() -> None:
    assert steps_of("nn.InstanceNorm2d g 1 1 x0 y num_features=12", inputs=[numbers(12, 5, 6)]) == ["layer"]


def test_group_norm_writes_its_part_of_a_concatenation() -> None:
    norm = "nn.GroupNorm {0} 1 1 x{1} {0} num_groups=4 num_channels=64 affine=False #{0}=(2,64,5,6)f32"
    lines = (norm.format("a", 0), norm.format("b", 1), "torch.cat c 2 1 a b y dim=1")
    assert steps_of(*lines, inputs=[numbers(2, 64, 5, 6), numbers(2, 64, 5, 6, seed=1)]) == ["group-norm"] * 2

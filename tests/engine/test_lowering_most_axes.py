"""How many axes a lowering takes: the most that its step can walk over, and one more is left to the layer."""

from __future__ import annotations

import numpy as np
import pytest

from tests.engine.lowered import steps_of
from tests.engine.models import numbers

AXES = {
    "torch.matmul it 2 1 x0 x1 y": 6,
    "F.scaled_dot_product_attention it 3 1 x0 x1 x2 y dropout_p=0.0 is_causal=False": 6,
    "F.pad it 1 1 x0 y mode=constant pad=(1,1) value=0.5": 6,
    "F.glu it 1 1 x0 y dim=1": 6,
    "nn.GroupNorm it 1 1 x0 y num_groups=1 num_channels=2 affine=False": 6,
    "torch.sum it 1 1 x0 y dim=(1) keepdim=False": 6,
    "torch.mean it 1 1 x0 y dim=(-1) keepdim=False": 6,
    "torch.roll it 1 1 x0 y shifts=(1) dims=(2)": 6,
    "torch.stack it 2 1 x0 x1 y dim=0": 5,
    "torch.gather it 2 1 x0 i1 y dim=1": 6,
    "torch.index_select it 2 1 x0 one1 y dim=1": 6,
    "nn.Embedding it 1 1 i0 y num_embeddings=9 embedding_dim=4 @weight=(9,4)f32": 5,
    "torch.eq it 2 1 i0 i1 y": 6,
    "F.softmax it 1 1 x0 y dim=1": 7,
    "nn.LayerNorm it 1 1 x0 y normalized_shape=(2) elementwise_affine=False": 7,
    "nn.LayerNorm it 1 1 x0 y normalized_shape=(2,2) elementwise_affine=False": 7,
}


def inputs_of(line: str, axes: int) -> list[np.ndarray]:
    """Its operands by their names: x and a number for floats, i for integers, one for a single axis of those."""
    words = line.split()
    made = []
    for word in words[4 : 4 + int(words[2])]:
        shape = (2,) if word.startswith("one") else (2,) * axes
        made.append(numbers(*shape) if word.startswith("x") else np.ones(shape, np.int64))
    return made


@pytest.mark.parametrize("line", AXES)
def test_lowering_takes_the_most_axes_of_its_step_and_no_more(line: str) -> None:
    plain = line.replace("i0", "x0").replace("i1", "x1").replace("one1", "x1")
    assert "layer" not in steps_of(plain, inputs=inputs_of(line, AXES[line]))
    assert "layer" in steps_of(plain, inputs=inputs_of(line, AXES[line] + 1))


@pytest.mark.parametrize(("equation", "lowered"), [("abcdef,fg->abcdeg", True), ("abcdefg,gh->abcdefh", False)])
def test_einsum_takes_six_axes(equation: str, lowered: bool) -> None:
    inputs = [numbers(*(2 for _ in term)) for term in equation.split("->")[0].split(",")]
    steps = steps_of(f"torch.einsum it 2 1 x0 x1 y equation={equation}", inputs=inputs)
    assert ("layer" not in steps) is lowered

"""nn.MultiheadAttention in a plan: inputs, layouts, masks, weights."""

from __future__ import annotations

import numpy as np
import pytest

from tests.engine.lowered import steps_of
from tests.engine.models import numbers

ATTENTION = ["product", "softmax", "product", "direct"]


def attention(inputs: str, outputs: str = "y", embed: int = 24, kdim: int = 24, vdim: int = 24, more: str = "") -> str:
    """A line with three heads; separate weights where sizes differ."""
    if kdim == vdim == embed:
        weights = f"@in_proj_weight=({3 * embed},{embed})f32 @in_proj_bias=({3 * embed})f32"
    else:
        sizes = zip("qkv", (embed, kdim, vdim), strict=True)
        weights = " ".join(f"@{letter}_proj_weight=({embed},{size})f32" for letter, size in sizes)
    counts = f"{len(inputs.split())} {len(outputs.split())}"
    settings = f"num_heads=3 embed_dim={embed} kdim={kdim} vdim={vdim} bias=True batch_first=True {more}"
    settings = settings.replace("batch_first=True batch_first", "batch_first")
    projection = f"@out_proj.weight=({embed},{embed})f32 @out_proj.bias=({embed})f32"
    return f"nn.MultiheadAttention attention {counts} {inputs} {outputs} {settings} {weights} {projection}"


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("embed", [24, 48])
@pytest.mark.parametrize("shape", [(2, 5), (1, 17), (7,)])
def test_self_attention_projects_once(shape: tuple[int, ...], embed: int, batch_first: bool) -> None:
    line = attention("x0", embed=embed, kdim=embed, vdim=embed, more=f"batch_first={batch_first}")
    assert steps_of(line, inputs=[numbers(*shape, embed)]) == ["direct", *ATTENTION]


@pytest.mark.parametrize("batch_first", [True, False])
def test_cross_attention_projects_keys_and_values_together(batch_first: bool) -> None:
    shapes = ((2, 5, 24), (2, 7, 24)) if batch_first else ((5, 2, 24), (7, 2, 24))
    line = attention("x0 x1", more=f"batch_first={batch_first}")
    assert steps_of(line, inputs=[numbers(*shape) for shape in shapes]) == ["direct", "direct", *ATTENTION]


def test_keys_and_values_may_have_other_sizes() -> None:
    inputs = [numbers(2, 5, 24), numbers(2, 7, 10), numbers(2, 7, 30)]
    assert steps_of(attention("x0 x1 x2", kdim=10, vdim=30), inputs=inputs) == ["direct"] * 3 + ATTENTION


@pytest.mark.parametrize("shape", ["(5,5)", "(6,5,5)"])
def test_a_stored_mask_is_added(shape: str) -> None:
    lines = (
        f"pnnx.Attribute m 0 1 m @data={shape}f32",
        attention("x0 m", more="$query=x0 $attn_mask=m"),
    )
    expected = ["direct", "product", "add", "softmax", "product", "direct"]
    assert steps_of(*lines, inputs=[numbers(2, 5, 24)]) == expected


def test_a_computed_mask_is_left_to_the_layer() -> None:
    line = attention("x0 x1", more="$query=x0 $attn_mask=x1")
    assert steps_of(line, inputs=[numbers(2, 5, 24), np.tri(5) == 0]) == ["layer"]


@pytest.mark.parametrize("shape", [(2, 5, 24), (17, 24)])
def test_averaged_weights_are_one_more_product(shape: tuple[int, ...]) -> None:
    lines = (attention("x0", "1 2"), "prim::TupleConstruct pair 2 1 1 2 y")
    steps = steps_of(*lines, inputs=[numbers(*shape)])
    assert steps == ["direct", "product", "softmax", "product", "product", "direct", "layer"]  # the layer is the tuple


def test_a_transformer_encoder_layer_has_no_stop() -> None:
    norm = "normalized_shape=(24) @weight=(24)f32 @bias=(24)f32"
    lines = (
        f"nn.LayerNorm n1 1 1 x0 1 {norm}",
        attention("1", "2"),
        "pnnx.Expression a1 2 1 x0 2 3 expr=add(@0,@1)",
        f"nn.LayerNorm n2 1 1 3 4 {norm}",
        "nn.Linear f1 1 1 4 5 in_features=24 out_features=50 bias=True @weight=(50,24)f32 @bias=(50)f32",
        "nn.GELU g 1 1 5 6",
        "nn.Linear f2 1 1 6 7 in_features=50 out_features=24 bias=True @weight=(24,50)f32 @bias=(24)f32",
        "pnnx.Expression a2 2 1 3 7 y expr=add(@0,@1)",
    )
    for shape in ((1, 9, 24), (3, 20, 24)):
        steps = steps_of(*lines, inputs=[numbers(*shape)])
        assert steps == ["layer-norm", "direct", *ATTENTION, "add", "layer-norm", "direct", "direct"]

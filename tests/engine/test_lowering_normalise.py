"""Layer norms and RMS norms in a plan."""

from __future__ import annotations

import pytest

from tests.engine.lowered import steps_of
from tests.engine.models import numbers

SHAPES = [(3, 40), (2, 3, 17), (2, 5, 3, 4), (1, 6, 1, 1), (1, 2, 3, 2, 32)]


def layer_norm(shape: tuple[int, ...], affine: bool = True) -> str:
    text = ",".join(map(str, shape))
    weights = f"@weight=({text})f32 @bias=({text})f32" if affine else ""
    return f"nn.LayerNorm norm 1 1 x0 y normalized_shape=({text}) eps=1e-3 elementwise_affine={affine} {weights}"


@pytest.mark.parametrize("affine", [False, True])
@pytest.mark.parametrize(("shape", "axes"), [(shape, axes) for shape in SHAPES for axes in range(1, len(shape))])
def test_layer_norm_is_one_step(shape: tuple[int, ...], axes: int, affine: bool) -> None:
    steps = steps_of(layer_norm(shape[-axes:], affine), inputs=[numbers(*shape)])
    assert steps in (["layer-norm"], ["copy", "layer-norm"])  # an image is copied to rows


@pytest.mark.parametrize("shape", SHAPES)
def test_rms_norm_is_one_step(shape: tuple[int, ...]) -> None:
    line = f"nn.RMSNorm norm 1 1 x0 y normalized_shape=({shape[-1]}) elementwise_affine=True @weight=({shape[-1]})f32"
    steps = steps_of(line, inputs=[numbers(*shape)])
    assert steps[-1:] == ["RMS-norm"]


def test_layer_norm_over_the_channels_of_an_image_copies_nothing() -> None:
    lines = (
        "nn.ReLU r 1 1 x0 1",
        "Tensor.permute p 1 1 1 2 dims=(0,2,3,1)",
        layer_norm((20,)).replace("x0 y", "2 3"),
        "Tensor.permute q 1 1 3 y dims=(0,3,1,2)",
    )
    assert steps_of(*lines, inputs=[numbers(2, 20, 5, 3)]) == ["clip", "layer-norm"]


def test_layer_norm_takes_stored_operands() -> None:
    lines = (
        "pnnx.Attribute w 0 1 w @data=(17)f32",
        "pnnx.Attribute b 0 1 b @data=(17)f32",
        "F.layer_norm norm 3 1 x0 w b y normalized_shape=(17) $input=x0 $weight=w $bias=b",
    )
    assert steps_of(*lines, inputs=[numbers(2, 3, 17)]) == ["layer-norm"]


def test_layer_norm_leaves_computed_weights_to_the_layer() -> None:
    line = "F.layer_norm norm 2 1 x0 x1 y normalized_shape=(17) $input=x0 $weight=x1"
    assert steps_of(line, inputs=[numbers(2, 3, 17), numbers(17)]) == ["layer"]


@pytest.mark.parametrize("n", [1, 2])
def test_layer_norm_of_columns_makes_rows_of_them(n: int) -> None:
    lines = (
        "nn.ReLU r 1 1 x0 1",
        "torch.transpose t 1 1 1 2 dim0=1 dim1=2",
        layer_norm((5,)).replace("x0 y", "2 y"),
    )
    assert steps_of(*lines, inputs=[numbers(n, 5, 7)]) == ["clip", "copy", "layer-norm"]


def test_layer_norm_of_single_numbers_takes_any_layout() -> None:
    lines = ("nn.ReLU r 1 1 x0 1", "torch.transpose t 1 1 1 2 dim0=1 dim1=2", layer_norm((1,)).replace("x0 y", "2 y"))
    assert steps_of(*lines, inputs=[numbers(3, 1, 7)]) == ["clip", "layer-norm"]

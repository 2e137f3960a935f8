"""Receptive fields against what outputs really depend on: a NaN in one row of the input spreads as far as it is read.

Each image of a batch has its NaN in another row, so one run tells what every row of every value depends on.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import kuiper
from kuiper.explore.windows import receptive_fields
from kuiper.graph.schedule import depth_first_order
from kuiper.models import bundled
from tests.explore.nets import net

if TYPE_CHECKING:
    from kuiper.explore.fields import Field
    from kuiper.graph import RuntimeGraph

WHOLE_HEAD = Path(__file__).parents[1] / "fixtures/models/digits_yolo_moduleop.pnnx.param"

IN = "pnnx.Input in 0 1 x #x=(?,2,?,?)f32"
CONV = "bias=True dilation=(1,1) groups=1 in_channels=2 kernel_size=(3,3) out_channels=2 padding=(1,1) stride=(1,1)"
WEIGHTS = "@bias=(2)f32 @weight=(2,2,3,3)f32"

NETS = {
    "dilated, strided": [
        f"nn.Conv2d a 1 1 x y {CONV.replace('dilation=(1,1)', 'dilation=(2,1)')} {WEIGHTS}".replace(
            "stride=(1,1)", "stride=(2,3)"
        )
    ],
    "same": [f"nn.Conv2d a 1 1 x y {CONV.replace('padding=(1,1)', 'padding=same')} {WEIGHTS}"],
    "transposed": [
        f"nn.ConvTranspose2d a 1 1 x y {CONV.replace('stride=(1,1)', 'stride=(2,2)')} output_padding=(1,1) {WEIGHTS}"
    ],
    "transposed, dilated": [
        "nn.ConvTranspose2d a 1 1 x y bias=True dilation=(2,2) groups=1 in_channels=2 kernel_size=(2,2) out_channels=2 "
        "padding=(0,0) stride=(3,3) output_padding=(0,0) @bias=(2)f32 @weight=(2,2,2,2)f32"
    ],
    "pooling, sticking out": [
        "nn.MaxPool2d a 1 1 x y ceil_mode=True dilation=(1,1) kernel_size=(3,3) padding=(1,1) return_indices=False "
        "stride=(2,2)"
    ],
    "average": [
        "nn.AvgPool2d a 1 1 x y ceil_mode=False count_include_pad=True kernel_size=(2,3) padding=(0,1) stride=(2,1)"
    ],
    "adaptive": ["nn.AdaptiveAvgPool2d a 1 1 x y output_size=(5,3)"],
    "nearest": ["nn.Upsample a 1 1 x y mode=nearest scale_factor=(2.0,3.0)"],
    "bilinear": ["nn.Upsample a 1 1 x y align_corners=False mode=bilinear scale_factor=(2.0,1.5)"],
    "corners": ["nn.Upsample a 1 1 x y align_corners=True mode=bilinear size=(19,7)"],
    "bicubic": ["nn.Upsample a 1 1 x y align_corners=False mode=bicubic scale_factor=(2.0,2.0)"],
    "smaller": ["nn.Upsample a 1 1 x y align_corners=False mode=bilinear scale_factor=(0.4,0.4)"],
    "unshuffled": ["nn.PixelUnshuffle a 1 1 x y downscale_factor=2"],
    "padded": ["F.pad a 1 1 x y mode=constant pad=(1,2,3,0) value=0.0"],
    "cropped": ["F.pad a 1 1 x y mode=constant pad=(-1,-2,-3,0) value=0.0"],
    "a block": [
        f"nn.Conv2d a 1 1 x p {CONV} {WEIGHTS}",
        "nn.ReLU b 1 1 p q",
        f"nn.Conv2d c 1 1 q r {CONV} {WEIGHTS}",
        "pnnx.Expression d 2 1 r x y expr=add(@0,@1)",
    ],
    "two scales": [
        f"nn.Conv2d a 1 1 x p {CONV.replace('stride=(1,1)', 'stride=(2,2)')} {WEIGHTS}",
        f"nn.Conv2d b 1 1 p q {CONV} {WEIGHTS}",
        "nn.Upsample c 1 1 q r mode=nearest scale_factor=(2.0,2.0)",
        "torch.cat d 2 1 r x y dim=1",
    ],
}


def fields_of(graph: RuntimeGraph, x: np.ndarray) -> tuple[dict[int, Field | None], dict[int, np.ndarray]]:
    """The fields of all values, and the values themselves."""
    values: dict[int, np.ndarray] = {graph.input_operators[0].outputs[0].index: x}
    graph.forward(
        x, observer=lambda op, outputs, _: values.update({o.index: v for o, v in zip(op.outputs, outputs, strict=True)})
    )
    source = graph.input_operators[0].outputs[0].index
    shapes = {index: getattr(value, "shape", None) for index, value in values.items()}
    return receptive_fields(depth_first_order(graph.operators), shapes, source), values


def check(graph: RuntimeGraph, channels: int, height: int, width: int, wanted: int, step: int = 1) -> None:
    """Compare the fields of at least ``wanted`` pictures, rows and columns, with what NaNs reach.

    Every ``step``-th row and column gets a NaN; if all do, the first and the last that an output depends on must be
    those of its field, else all of its field that have one.
    """
    compared = 0
    for axis, size in ((2, height), (3, width)):
        places = np.arange(0, size, step)
        x = np.zeros((len(places), channels, height, width), np.float32)
        for image, place in enumerate(places):
            x[(image, slice(None), place) if axis == 2 else (image, slice(None), slice(None), place)] = np.nan
        fields, values = fields_of(graph, x)
        for index, value in values.items():
            field = fields[index]
            if field is None or field.whole or not isinstance(value, np.ndarray) or value.ndim != 4:
                continue
            own = field.rows if axis == 2 else field.columns
            reached = np.isnan(value).any(axis=(1, 5 - axis))  # (image, place in the output)
            for out in range(value.shape[axis]):
                depends = places[reached[:, out]]
                first, last = int(own.first[out]), int(own.last[out])
                if step == 1:
                    assert (first, last) == ((depends[0], depends[-1]) if len(depends) else (1, 0)), (index, axis, out)
                else:
                    inside = places[(first <= places) & (places <= last)]
                    assert depends.tolist() == inside.tolist(), (index, axis, out)
                # the textbook's numbers hold it, too, cut to the picture
                assert not len(depends) or own.step * out + own.low <= depends[0] + 1e-4
                assert not len(depends) or own.step * out + own.high >= depends[-1] - 1e-4
            compared += 1
    assert compared >= wanted


@pytest.mark.parametrize("name", NETS)
def test_receptive_fields_are_what_the_output_depends_on(name: str) -> None:
    check(net(IN, *NETS[name], "pnnx.Output out 1 0 y"), 2, 12, 14, wanted=4)


@pytest.mark.parametrize(
    ("param", "side", "pictures"),
    [(bundled("cifar_resnet20"), 32, 80), (bundled("shapes_unet"), 32, 60), (WHOLE_HEAD, 64, 200)],
)
def test_receptive_fields_of_bundled_models_are_what_their_values_depend_on(
    param: Path, side: int, pictures: int
) -> None:
    check(kuiper.load(param, optimize=False), 3, side, side, wanted=pictures, step=7)


def test_receptive_field_of_two_convolutions_has_the_textbooks_numbers() -> None:
    graph = net(
        IN,
        f"nn.Conv2d a 1 1 x p {CONV.replace('stride=(1,1)', 'stride=(2,2)')} {WEIGHTS}",
        f"nn.Conv2d b 1 1 p y {CONV} {WEIGHTS}",
        "pnnx.Output out 1 0 y",
    )
    fields, _ = fields_of(graph, np.zeros((1, 2, 16, 16), np.float32))
    field = fields[graph.output_operators[0].inputs[0].index]
    assert field is not None
    table = field.table()
    assert (table["size"], table["step"], table["start"]) == ([7.0, 7.0], [2.0, 2.0], [-3.0, -3.0])


def test_receptive_fields_behind_a_mixture_are_the_whole_input() -> None:
    graph = net(
        IN,
        "nn.InstanceNorm2d a 1 1 x p affine=False eps=1.0e-05 num_features=2 track_running_stats=False",
        "pnnx.Output out 1 0 p",
    )
    fields, _ = fields_of(graph, np.zeros((1, 2, 5, 6), np.float32))
    field = fields[graph.output_operators[0].inputs[0].index]
    assert field is not None
    assert field.whole
    assert (field.rows.first.tolist(), field.columns.last.tolist()) == ([0] * 5, [5] * 6)


def test_receptive_fields_of_constants_are_none() -> None:
    graph = net(
        IN,
        "pnnx.Attribute k 0 1 c @data=(1,2,1,1)f32 #c=(1,2,1,1)f32",
        "pnnx.Expression a 2 1 x c y expr=mul(@0,@1)",
        "pnnx.Output out 1 0 y",
    )
    fields, _ = fields_of(graph, np.zeros((1, 2, 5, 6), np.float32))
    by_name = {op.name: fields[op.outputs[0].index] for op in graph.operators if op.outputs}
    assert by_name["k"] is None
    product = by_name["a"]
    assert product is not None
    assert product.rows.first.tolist() == [0, 1, 2, 3, 4]

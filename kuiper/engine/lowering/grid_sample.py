"""F.grid_sample of images: one step; cubic interpolation and volumes are left to the layer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.engine.declined import decline_if
from kuiper.engine.kernels.convolution import LANES
from kuiper.engine.kernels.grid_sample import PADDINGS
from kuiper.engine.kernels.grid_sample import GridSample as GridSampleStep
from kuiper.engine.lowering.placement import in_c_order
from kuiper.engine.lowering.registry import lowers
from kuiper.engine.transfers import dense, import_into
from kuiper.engine.values import AnyValue, PythonValue, Value
from kuiper.layers.operators.grid_sample import GridSample

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.builder import Builder
    from kuiper.engine.step import Step
    from kuiper.layers.grid_taps import Sampling

# Channels that are read in one go from an image of few, and then written by planes.
_FEW = 4


@lowers(GridSample)
def lower_grid_sample(layer: GridSample, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """F.grid_sample, bilinear and nearest."""
    shape, points = inputs[0].shape, inputs[1].shape
    fits = len(shape) == len(points) == 4 and points[0] == shape[0] and points[3] == 2
    decline_if(not fits or layer.sampling.mode not in ("bilinear", "nearest") or shape[2] * shape[3] >= 1 << 22)
    n, c, h, w = shape
    by_plane = c <= _FEW and LANES > 1
    x = _few_channels(builder, inputs[0]) if by_plane else builder.image_of(inputs[0])
    grid = dense(builder, in_c_order(builder, inputs[1]))
    out_shape = (n, c, *points[1:3])
    out = builder.rows(out_shape, fixed=True, padded=False) if by_plane else builder.image(out_shape)
    zeros = builder.zeros(max(c, _FEW))

    def make() -> Step:
        numbers = {
            "images": n, "points": points[1] * points[2], "channels": c,
            "source": x.offset, "in_image": x.strides[0], "in_pixel": x.strides[3],
            "grid": grid.offset, "grid_image": grid.strides[0],
            "target": out.offset, "out_image": out.strides[0],
            "out_pixel": out.strides[3], "out_plane": out.strides[1] if by_plane else 0,
            "zeros": zeros.offset, "taps": 1 if layer.sampling.mode == "nearest" else 4,
        }  # fmt: skip
        return GridSampleStep(numbers, _axis(layer.sampling, h), _axis(layer.sampling, w))

    builder.emit(
        f"{layer.sampling.mode} sampling",
        make,
        reads=[x, grid, Value(zeros, zeros.placeholder)],
        writes=[out],
        relocatable=True,
        flops=0 if layer.sampling.mode == "nearest" else 8 * out.view.size,
    )
    return [out]


def _axis(sampling: Sampling, size: int) -> dict[str, float]:
    """How a coordinate from -1 to 1 becomes a place on an axis of this size; see ``Sampling``."""
    low, span = (0.0, size - 1) if sampling.align_corners else (-0.5, size)
    # an axis of one pixel at its centre: any span does, as all places become that pixel in the end
    return {
        "scale": span / 2,
        "shift": -low,
        "low": low,
        "span": span or 1,
        "highest": size - 1,
        "padding": PADDINGS[sampling.padding],
        "size": size,
    }


def _few_channels(builder: Builder, value: AnyValue) -> Value:
    """An image with few channels, those of a pixel side by side; four numbers can be read from each."""
    if not isinstance(value, PythonValue) or value.constant or builder.has_imported(value):
        return builder.image_of(value)
    decline_if(not builder.is_float_tensor(value))
    n, c, h, w = value.shape

    def make() -> Value:
        pixels = builder.rows((n, h, w, _FEW), fixed=True, padded=False)
        target = Value(pixels.buffer, pixels.view[..., :c].transpose(0, 3, 1, 2))
        import_into(builder, value, target)
        return target

    return builder.in_form(value, "few channels", make)

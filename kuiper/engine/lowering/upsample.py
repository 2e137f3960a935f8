"""Resampling of images, rows and volumes.

image (n, c, h, w)         one step
image of bytes             a copy of each pixel to several, if all sizes are whole multiples
volume, blended            its images (n d, c, h, w), channels last, then the depth of one image (n, c, d, h w)
volume, nearest            its rows by an index, then (d, h) of images in which the numbers of a row are the channels
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.engine.declined import decline_if
from kuiper.engine.lowering.byte_values import BYTES, as_byte_image, byte_image, bytes_on_arena
from kuiper.engine.lowering.pick import pick_along
from kuiper.engine.lowering.placement import memory_by_rows
from kuiper.engine.lowering.registry import lowers
from kuiper.engine.lowering.resampling import emit_resampling
from kuiper.engine.lowering.typed_numbers import emit_typed
from kuiper.engine.transfers import copy_into, import_into
from kuiper.engine.values import AnyValue, PythonValue, Value
from kuiper.layers.operators.upsample import Upsample
from kuiper.layers.resampled_axis import Axis, nearest_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.builder import Builder


@lowers(Upsample)
def lower_upsample(layer: Any, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """nn.Upsample and F.interpolate, by all modes but area."""
    rank = len(inputs[0].shape)
    example = inputs[0].view if isinstance(inputs[0], Value) else inputs[0].example
    if getattr(example, "dtype", None) in BYTES:
        return [_repeated(layer, bytes_on_arena(builder, inputs[0]), builder)]
    blends = {3: ("linear",), 4: ("bilinear", "bicubic"), 5: ("trilinear",)}.get(rank, ())
    decline_if(layer.mode not in ("nearest", "nearest-exact", *blends) or rank not in (3, 4, 5))
    if rank == 4:
        return [_image(layer, builder.image_of(inputs[0]), builder)]
    axes = [*[Axis(1, 1)] * (5 - rank), *layer.axes(inputs[0].shape[2:])]
    if layer.mode in blends:
        return [_blended(builder, _as_images(builder, inputs[0]), layer.mode, axes, inputs[0].shape)]
    return [_nearest(builder, builder.on_arena(inputs[0]), layer.mode, axes)]


def _image(layer: Any, x: Value, builder: Builder) -> Value:
    rows, columns = layer.axes(x.shape[2:])
    out = builder.image((*x.shape[:2], rows.size_out, columns.size_out))
    emit_resampling(builder, x, out, rows, columns, layer.mode)
    return out


def _repeated(layer: Any, x: Value, builder: Builder) -> Value:
    """An image of bytes, each pixel of which becomes a block of them."""
    decline_if(not layer.mode.startswith("nearest") or len(x.shape) != 4)
    axes = layer.axes(x.shape[2:])
    for axis in axes:
        blocks = np.repeat(np.arange(axis.size_in), -(-axis.size_out // axis.size_in))
        decline_if(not np.array_equal(nearest_table(axis, layer.mode == "nearest-exact"), blocks))
    rows, columns = axes
    image = as_byte_image(builder, x)
    pixels = image.view.transpose(0, 2, 3, 1)[:, :, None, :, None]
    n, h, _, w, _, c = pixels.shape
    out = byte_image(builder, (n, c, rows.size_out, columns.size_out), pixels.dtype)
    blocks_of_out = out.view.transpose(0, 2, 3, 1).reshape(n, h, rows.size_out // h, w, columns.size_out // w, c)
    emit_typed(builder, "copy", Value(out.buffer, blocks_of_out), [Value(image.buffer, pixels)])
    return out


def _as_images(builder: Builder, value: AnyValue) -> Value:
    """(n, c, w) or (n, c, d, h, w) as n or n d images, channels last."""
    shape = value.shape
    n, c, *sizes = shape
    d, h, w = (*[1] * (3 - len(sizes)), *sizes)
    is_outside = isinstance(value, PythonValue) and not value.constant and builder.is_float_tensor(value)
    x = value if is_outside else builder.on_arena(value)

    def made() -> Value:
        images = builder.image((n * d, c, h, w), fixed=True)
        spread = Value(images.buffer, images.view.reshape(n, d, c, h, w).swapaxes(1, 2).reshape(shape))
        if isinstance(x, Value):
            copy_into(builder, x, spread)
        else:
            import_into(builder, x, spread)
        return images

    return builder.in_form(x, "images", made)


def _blended(builder: Builder, images: Value, mode: str, axes: Sequence[Axis], shape: tuple[int, ...]) -> Value:
    """The row or volume of this shape whose images these are: each image, then the depth."""
    depth, rows, columns = axes
    n, c = shape[:2]
    x = builder.image((len(images.view), c, rows.size_out, columns.size_out), fixed=True)
    emit_resampling(builder, images, x, rows, columns, mode)
    if depth.size_in != depth.size_out:
        pixels = x.view.transpose(0, 2, 3, 1).reshape(n, depth.size_in, -1, c).transpose(0, 3, 1, 2)
        along = Axis(pixels.shape[3], pixels.shape[3])
        source, x = Value(x.buffer, pixels), builder.image((n, c, depth.size_out, pixels.shape[3]), fixed=True)
        emit_resampling(builder, source, x, depth, along, mode)
    whole = (n, *(axis.size_out for axis in axes[-(len(shape) - 2) :]), c)
    found = np.moveaxis(x.view.transpose(0, 2, 3, 1).reshape(whole), -1, 1)
    out = memory_by_rows(builder, found.shape)
    copy_into(builder, Value(x.buffer, found), out)
    return out


def _nearest(builder: Builder, x: Value, mode: str, axes: Sequence[Axis]) -> Value:
    """A row or volume (n, c, ..., w): each row by an index, then whole rows."""
    depth, rows, columns = axes
    n, c, *sizes, _ = x.shape
    table = nearest_table(columns, mode == "nearest-exact")
    lines = pick_along(builder, x, x.view.ndim - 1, table, builder.rows((*x.shape[:-1], len(table)), fixed=True))
    if not sizes:
        return lines
    out = builder.rows((n, c, depth.size_out, rows.size_out, len(table)), fixed=True)  # n and c must join
    source, target = (
        Value(value.buffer, value.view.reshape(n * c, *value.shape[2:]).transpose(0, 3, 1, 2)) for value in (lines, out)
    )
    emit_resampling(builder, source, target, depth, rows, mode)
    return out

"""Resampling of images, rows and volumes.

image (n, c, h, w)         one step
volume, blended            its images (n d, c, h, w), channels last, then the depth of one image (n, c, d, h w)
volume, nearest            its rows by an index, then (d, h) of images in which the numbers of a row are the channels
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.engine.lowering.pick import pick_along
from kuiper.engine.lowering.placement import memory_by_rows
from kuiper.engine.lowering.registry import lowers
from kuiper.engine.lowering.resampling import emit_resampling
from kuiper.engine.transfers import copy_into, import_into
from kuiper.engine.values import AnyValue, HostValue, Value
from kuiper.layers.operators.upsample import Upsample
from kuiper.layers.resampled_axis import Axis, nearest_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.planner import Planner


@lowers(Upsample)
def lower_upsample(layer: Any, inputs: list[AnyValue], planner: Planner) -> Sequence[AnyValue] | None:
    """nn.Upsample and F.interpolate, by all modes but area."""
    rank = len(inputs[0].shape)
    blends = {3: ("linear",), 4: ("bilinear", "bicubic"), 5: ("trilinear",)}.get(rank, ())
    if layer.mode not in ("nearest", "nearest-exact", *blends) or rank not in (3, 4, 5):
        return None
    if rank == 4:
        return _image(layer, planner.image_of(inputs[0]), planner)
    axes = [*[Axis(1, 1)] * (5 - rank), *layer.axes(inputs[0].shape[2:])]
    if layer.mode in blends:
        images = _as_images(planner, inputs[0])
        return None if images is None else [_blended(planner, images, layer.mode, axes, inputs[0].shape)]
    x = planner.on_arena(inputs[0])
    return None if x is None else [_nearest(planner, x, layer.mode, axes)]


def _image(layer: Any, x: Value | None, planner: Planner) -> list[Value] | None:
    if x is None:
        return None
    rows, columns = layer.axes(x.shape[2:])
    out = planner.image((*x.shape[:2], rows.size_out, columns.size_out))
    emit_resampling(planner, x, out, rows, columns, layer.mode)
    return [out]


def _as_images(planner: Planner, value: AnyValue) -> Value | None:
    """(n, c, w) or (n, c, d, h, w) as n or n d images, channels last; None if it is no float32 tensor."""
    shape = value.shape
    n, c, *sizes = shape
    d, h, w = (*[1] * (3 - len(sizes)), *sizes)
    is_outside = isinstance(value, HostValue) and not value.constant and planner.is_float_tensor(value)
    x = None if is_outside else planner.on_arena(value)

    def made() -> Value:
        images = planner.image((n * d, c, h, w), output=None)
        spread = images.view.reshape(n, d, c, h, w).swapaxes(1, 2).reshape(shape)
        if isinstance(x, Value):
            copy_into(planner, x, Value(images.storage, spread))
        elif isinstance(value, HostValue):
            import_into(planner, value, Value(images.storage, spread))
        return images

    if isinstance(value, HostValue) and is_outside:
        return planner.imported_as(value, "images", made)
    return None if x is None else planner.in_form(x, "images", made)


def _blended(planner: Planner, images: Value, mode: str, axes: Sequence[Axis], shape: tuple[int, ...]) -> Value:
    """The row or volume of this shape whose images these are: each image, then the depth."""
    depth, rows, columns = axes
    n, c = shape[:2]
    x = planner.image((len(images.view), c, rows.size_out, columns.size_out), output=None)
    emit_resampling(planner, images, x, rows, columns, mode)
    if depth.size_in != depth.size_out:
        pixels = x.view.transpose(0, 2, 3, 1).reshape(n, depth.size_in, -1, c).transpose(0, 3, 1, 2)
        along = Axis(pixels.shape[3], pixels.shape[3])
        source, x = Value(x.storage, pixels), planner.image((n, c, depth.size_out, pixels.shape[3]), output=None)
        emit_resampling(planner, source, x, depth, along, mode)
    whole = (n, *(axis.size_out for axis in axes[-(len(shape) - 2) :]), c)
    found = np.moveaxis(x.view.transpose(0, 2, 3, 1).reshape(whole), -1, 1)
    out = memory_by_rows(planner, found.shape)
    copy_into(planner, Value(x.storage, found), out)
    return out


def _nearest(planner: Planner, x: Value, mode: str, axes: Sequence[Axis]) -> Value:
    """A row or volume (n, c, ..., w): each row by an index, then whole rows."""
    depth, rows, columns = axes
    n, c, *sizes, _ = x.shape
    table = nearest_table(columns, mode == "nearest-exact")
    lines = pick_along(planner, x, x.view.ndim - 1, table, planner.rows((*x.shape[:-1], len(table)), output=None))
    if not sizes:
        return lines
    out = planner.rows((n, c, depth.size_out, rows.size_out, len(table)), output=None)  # n and c must join
    source, target = (
        Value(value.storage, value.view.reshape(n * c, *value.shape[2:]).transpose(0, 3, 1, 2))
        for value in (lines, out)
    )
    emit_resampling(planner, source, target, depth, rows, mode)
    return out

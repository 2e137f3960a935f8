"""nn.Upsample and F.interpolate: a sequence, an image or a volume at another size."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ParameterError
from kuiper.layers.blocks import runs_in_cache
from kuiper.layers.layer import Array, Layer
from kuiper.layers.operators.adaptive_avg_pool2d import adaptive_avg_pool2d
from kuiper.layers.planes import as_planes
from kuiper.layers.reads import Reads, adaptive_reads, resampled_reads
from kuiper.layers.registry import register
from kuiper.layers.resampled_axis import Axis, cubic_table, exact_scale, linear_table, nearest_table

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator

    Table = tuple[Array, Array]
    """Of one axis: the neighbours of each output, and what they count; (taps, outputs) both."""

# How many neighbours each mode looks at on one axis, and how many axes the input must have (else 3 to 5).
_TAPS = {"nearest": 1, "nearest-exact": 1, "linear": 2, "bilinear": 2, "trilinear": 2, "bicubic": 4, "area": 0}
_RANKS = {"linear": (3,), "bilinear": (4,), "bicubic": (4,), "trilinear": (5,), "area": (3, 4)}
_SMALL_IMAGE = 128  # torch takes another kernel for nearest up to this height plus width
_LETTERS = {3: "(n, c, w)", 4: "(n, c, h, w)", 5: "(n, c, d, h, w)"}

# Operators that say in their type what others say in their parameters: mode and align_corners.
_FIXED = {
    "nn.UpsamplingNearest2d": ("nearest", False),
    "nn.UpsamplingBilinear2d": ("bilinear", True),
    "F.upsample_nearest": ("nearest", False),
    "F.upsample_bilinear": ("bilinear", True),
}


@register("nn.Upsample", "F.upsample", "F.interpolate", *_FIXED)
class Upsample(Layer):
    """The image (n, c, h, w), the row (n, c, w) or the volume (n, c, d, h, w) at ``size`` or times ``scale_factor``.

    Modes: nearest, nearest-exact, linear, bilinear, trilinear, bicubic, area. With ``single_is_first``, what ONNX calls
    pytorch_half_pixel, an axis that shrinks to one pixel keeps its first. Source: torch.nn.functional.interpolate.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        mode, corners = _FIXED.get(op.type, (op.str_param("mode", "nearest"), op.bool_param("align_corners", False)))
        if mode not in _TAPS:
            raise self.unsupported(f"mode {', '.join(_TAPS)}", mode)
        if op.bool_param("antialias", False):
            raise self.unsupported("antialias=False", True)
        if corners and _TAPS[mode] < 2:
            raise ParameterError(op.where, f"align_corners=None for mode {mode}", corners)
        self.mode, self.align_corners = mode, corners
        self.single_is_first = op.bool_param("single_is_first", False)
        self.recompute = op.bool_param("recompute_scale_factor", False)
        self.size = op.ints_param("size", ())
        scales = op.floats_param("scale_factor", ())
        if bool(self.size) == bool(scales):
            raise ParameterError(op.where, "either size or scale_factor", f"size={self.size}, scale_factor={scales}")
        if not all(0 < scale < math.inf for scale in scales):
            raise ParameterError(op.where, "scale_factor above 0", scales)
        self.scales = tuple(exact_scale(scale) for scale in scales)

    def reads(self, sizes: list[tuple[int, int]]) -> list[Reads] | None:
        if self.mode == "area":
            return [adaptive_reads(i, o) for i, o in sizes]
        return [self._reads_of(axis) for axis in self.axes(tuple(i for i, _ in sizes))]

    def _reads_of(self, axis: Axis) -> Reads:
        """Of an interpolation, by the tables that its kernel reads."""
        if self.mode.startswith("nearest"):
            table = nearest_table(axis, self.mode == "nearest-exact")[None]
        else:
            table = (cubic_table if self.mode == "bicubic" else linear_table)(axis)[0]
        start = 0.0 if axis.align_corners or self.mode == "nearest" else axis.step() / 2 - 0.5
        return resampled_reads(table, axis.step(), start)

    def forward(self, x: Array) -> Array:
        ranks = _RANKS.get(self.mode, (3, 4, 5))
        self.expect_rank(x, ranks, " or ".join(_LETTERS[rank] for rank in ranks))
        axes = self.axes(x.shape[2:])
        if x.ndim == 5:
            return interpolate_volume(x, axes, self.mode, self.op.where)
        if x.ndim == 4:
            return interpolate(x, axes[0], axes[1], self.mode, self.op.where)
        return interpolate(x[:, :, None, :], Axis(1, 1), axes[0], self.mode, self.op.where)[:, :, 0, :]

    def axes(self, sizes: tuple[int, ...]) -> list[Axis]:
        """How each axis of an image of these sizes is resampled."""
        size = self.size[2:] if len(self.size) == len(sizes) + 2 else self.size  # ONNX gives those of (n, c), too
        given = size or self.scales
        self.expect(len(given) in (1, len(sizes)), f"input with {len(given)} axes behind (n, c)", sizes)
        repeat = len(sizes) // len(given)
        if size:
            axes = [Axis(i, o, None, self.align_corners) for i, o in zip(sizes, size * repeat, strict=True)]
        else:
            axes = [self._scaled(size, scale) for size, scale in zip(sizes, self.scales * repeat, strict=True)]
        self.expect(all(axis.size_out >= 1 for axis in axes), "input that makes an output of at least one pixel", sizes)
        if self.single_is_first:
            axes = [replace(axis, align_corners=axis.align_corners or axis.size_out == 1) for axis in axes]
        small = len(axes) == 2 and axes[0].size_out + axes[1].size_out <= _SMALL_IMAGE
        return [replace(axis, of_small_image=small) for axis in axes]

    def _scaled(self, size: int, scale: float) -> Axis:
        return Axis(size, int(size * scale), None if self.recompute else scale, self.align_corners)

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        if self.mode == "area":
            return math.prod(inputs[0])
        taps = _TAPS[self.mode] ** (len(inputs[0]) - 2)
        return math.prod(outputs[0]) * (2 * taps if taps > 1 else 0)


def interpolate(x: Array, axis_h: Axis, axis_w: Axis, mode: str, where: str = "interpolate") -> Array:
    """``x`` (n, c, h, w) resampled to (n, c, axis_h.size_out, axis_w.size_out).

    >>> import numpy as np
    >>> x = np.float32([[[[1, 2]]]])
    >>> interpolate(x, Axis(1, 1), Axis(2, 4), "nearest")
    array([[[[1., 1., 2., 2.]]]], dtype=float32)
    >>> interpolate(x, Axis(1, 1), Axis(2, 4), "bilinear")
    array([[[[1.  , 1.25, 1.75, 2.  ]]]], dtype=float32)

    Raises
    ------
    ShapeError
        If ``x`` is no image.
    """
    if mode == "area":
        return adaptive_avg_pool2d(x, (axis_h.size_out, axis_w.size_out), where)
    is_copied = _TAPS[mode] == 1  # quantised numbers may be, too
    planes = x.reshape(-1, *x.shape[2:]) if is_copied and x.dtype in (np.uint8, np.int8) else as_planes(x, where)
    if is_copied:
        rows, columns = (nearest_table(axis, mode == "nearest-exact") for axis in (axis_h, axis_w))
        out = planes.take(rows, 1).take(columns, 2)
    else:
        table = cubic_table if mode == "bicubic" else linear_table
        out = _blend_planes(planes, table(axis_h), table(axis_w))
    return out.reshape(*x.shape[:2], *out.shape[1:])


def _blend_planes(planes: Array, rows: Table, columns: Table) -> Array:
    """Weighted sums of neighbours in ``planes`` (c, h, w): down, then across.

    As many planes at a time as stay in the cache. Each axis in turn stands first: then a neighbour is a row, and rows
    are copied and added much faster than single numbers.
    """
    out = np.empty((len(planes), rows[0].shape[1], columns[0].shape[1]), np.float32)
    for some in runs_in_cache(len(out), max(out.size, planes.size) // max(1, len(out))):
        down = _blend(planes[some].swapaxes(0, 1), *rows)  # (out_h, c, w)
        out[some] = _blend(down.transpose(2, 1, 0), *columns).transpose(1, 2, 0)
    return out


def _blend(x: Array, indices: Array, weights: Array) -> Array:
    """Weighted sums of neighbours along the first of three axes; ``indices`` and ``weights`` are (taps, outputs)."""
    x = np.ascontiguousarray(x)
    total: Array = x[indices[0]]
    total *= weights[0][:, None, None]
    for places, weight in zip(indices[1:], weights[1:], strict=True):
        part = x[places]
        part *= weight[:, None, None]
        total += part
    return total


def interpolate_volume(x: Array, axes: list[Axis], mode: str, where: str = "interpolate") -> Array:
    """``x`` (n, c, d, h, w) resampled: first each of its images, then along the depth.

    >>> import numpy as np
    >>> x = np.float32([1, 3]).reshape(1, 1, 2, 1, 1)
    >>> interpolate_volume(x, [Axis(2, 4), Axis(1, 1), Axis(1, 1)], "trilinear").ravel()
    array([1. , 1.5, 2.5, 3. ], dtype=float32)

    Raises
    ------
    ShapeError
        If ``x`` is no volume.
    """
    n, c, d, h, w = x.shape
    axis_d, axis_h, axis_w = axes
    in_plane = "bilinear" if mode == "trilinear" else mode
    images = interpolate(x.reshape(n, c * d, h, w), axis_h, axis_w, in_plane, where)
    volume = images.reshape(n, c, d, axis_h.size_out, axis_w.size_out)
    if _TAPS[mode] == 1:
        return volume.take(nearest_table(axis_d, mode == "nearest-exact"), axis=2)
    if axis_d.size_in == axis_d.size_out:
        return volume
    (before, after), weights = linear_table(axis_d)
    of_before, of_after = weights[:, :, None, None]
    result: Array = volume[:, :, before] * of_before + volume[:, :, after] * of_after
    return result

"""ONNX's Resize: every mode on any number of axes, one axis after the other. Upsample is the same with fewer modes.

A place of the output is taken to a place of the input, as ``coordinate_transformation_mode`` says; the pixels around
that are weighted as ``mode`` says. With ``antialias`` the weights reach further where the image becomes smaller.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ParameterError
from kuiper.layers.axes import axes as counted_axes
from kuiper.layers.layer import Array, Layer
from kuiper.layers.operators.onnx_cells import words
from kuiper.layers.registry import register
from kuiper.tensor_limit import check_size

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator

INPUTS = ("X", "roi", "scales", "sizes")
MODES = ("nearest", "linear", "cubic")
TRANSFORMS = (
    "half_pixel",
    "half_pixel_symmetric",
    "pytorch_half_pixel",
    "align_corners",
    "asymmetric",
    "tf_crop_and_resize",
)
ROUNDINGS = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "simple")
POLICIES = ("stretch", "not_larger", "not_smaller")


@dataclass(frozen=True)
class ResizedAxis:
    """An axis before and after, the factor between them, and the part of the input that is read, from 0 to 1."""

    size_in: int
    size_out: int
    scale: float
    start: float = 0.0
    end: float = 1.0

    @property
    def stays(self) -> bool:
        """Whether nothing is to be done."""
        return self.size_in == self.size_out and self.scale == 1 and (self.start, self.end) == (0, 1)

    def places(self, transform: str) -> Array:
        """Where each output lies in the input, float32.

        >>> ResizedAxis(2, 4, 2.0).places("half_pixel").tolist()
        [-0.25, 0.25, 0.75, 1.25]
        """
        x, scale, last = np.arange(self.size_out, dtype=np.float32), np.float32(self.scale), self.size_in - 1
        if transform == "align_corners":
            return np.asarray(x * np.float32(last) / np.float32(max(self.size_out - 1, 1)))
        if transform == "asymmetric":
            return np.asarray(x / scale)
        if transform == "tf_crop_and_resize":
            if self.size_out == 1:
                return np.full(1, 0.5 * (self.start + self.end) * last, np.float32)
            step = (self.end - self.start) * last / (self.size_out - 1)
            return np.asarray(self.start * last + x * step, np.float32)
        if transform == "pytorch_half_pixel" and self.size_out == 1:
            return np.zeros(1, np.float32)
        offset = np.float32(0)
        if transform == "half_pixel_symmetric":
            offset = np.float32(self.size_in / 2 * (1 - self.size_out / (self.scale * self.size_in)))
        return np.asarray(offset + (x + np.float32(0.5)) / scale - np.float32(0.5))


@register("Resize")
class OnnxResize(Layer):
    """X with each of ``axes`` at another size, which ``scales`` or ``sizes`` give; the parameter ``inputs`` names them.

    Source: ONNX, Resize.
    """

    data_inputs = None

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.given = words(op, "inputs", INPUTS, len(op.inputs))
        self.mode = self._word("mode", MODES)
        self.transform = self._word("coordinate_transformation_mode", TRANSFORMS)
        self.rounding = self._word("nearest_mode", ROUNDINGS)
        self.policy = self._word("keep_aspect_ratio_policy", POLICIES)
        self.antialias, self.inside = op.bool_param("antialias", False), op.bool_param("exclude_outside", False)
        self.cubic, self.outside = op.float_param("cubic_coeff_a", -0.75), op.float_param("extrapolation_value", 0.0)
        if self.antialias and self.mode == "nearest":
            raise self.unsupported("antialias with mode linear or cubic", self.mode)

    def forward(self, *inputs: Array) -> Array:
        given = dict(zip(self.given, inputs, strict=True))
        x = given["X"]
        dims = counted_axes(self.op.ints_param("axes", tuple(range(x.ndim))), x.ndim, self.op.where)
        axes = self.axes(x.shape, dims, given)
        made = list(x.shape)
        for dim, axis in zip(dims, axes, strict=True):
            made[dim] = axis.size_out
        check_size(made, 8, self.op.where)
        is_whole = self.transform != "tf_crop_and_resize"
        if tuple(made) == x.shape and is_whole:  # torch and onnxruntime copy, whatever the scales say
            return x
        out = x
        for dim, axis in zip(dims, axes, strict=True):
            if not (axis.stays or (self.antialias and is_whole and axis.size_in == axis.size_out)):
                out = self._along(out, dim, axis)
        if out.dtype != x.dtype:
            if x.dtype.kind in "iu":
                out = np.clip(np.rint(out), np.iinfo(x.dtype).min, np.iinfo(x.dtype).max)
            out = out.astype(x.dtype)
        return out

    def axes(self, shape: tuple[int, ...], dims: tuple[int, ...], given: dict[str, Array]) -> list[ResizedAxis]:
        """How each of the axes ``dims`` is resized."""
        roi = given.get("roi", np.zeros(0))
        if self.transform != "tf_crop_and_resize" or roi.size == 0:
            roi = np.repeat([0.0, 1.0], len(dims))
        scales, sizes = given.get("scales", np.zeros(0)).ravel(), given.get("sizes", np.zeros(0)).ravel()
        both = (scales.size, sizes.size)
        self.expect(sorted(both) == [0, len(dims)] and roi.size == 2 * len(dims), f"{len(dims)} scales or sizes", both)
        lengths = [shape[dim] for dim in dims]
        self.expect(0 not in lengths or not dims, "an input with pixels", shape)
        spans = [(float(a), float(b)) for a, b in zip(roi[: len(dims)], roi[len(dims) :], strict=True)]
        if sizes.size:
            outputs, factors = self._by_sizes(lengths, [int(size) for size in sizes])
        else:
            factors = [float(scale) for scale in scales]
            self.expect(all(0 < scale < math.inf for scale in factors), "scales above 0", factors)
            outputs = [
                int(np.float32(size) * np.float32(end - start) * np.float32(scale))
                for size, scale, (start, end) in zip(lengths, factors, spans, strict=True)
            ]
        self.expect(min(outputs, default=1) >= 0, "sizes of at least 0", outputs)
        columns = zip(lengths, outputs, factors, spans, strict=True)
        return [ResizedAxis(size, made, scale, *span) for size, made, scale, span in columns]

    def _by_sizes(self, lengths: list[int], sizes: list[int]) -> tuple[list[int], list[float]]:
        """The sizes that are asked for, as the policy understands them, and the factors to them."""
        factors = [wanted / size for wanted, size in zip(sizes, lengths, strict=True)]
        if self.policy == "stretch" or not sizes:
            return sizes, factors
        scale = min(factors) if self.policy == "not_larger" else max(factors)
        return [math.floor(scale * size + 0.5) for size in lengths], [scale] * len(lengths)

    def _along(self, x: Array, dim: int, axis: ResizedAxis) -> Array:
        """``x`` with one axis resized; float64 if its numbers are blended."""
        places = axis.places(self.transform)
        if self.mode == "nearest":
            out: Array = x.take(np.clip(self._rounded(places, axis.scale), 0, axis.size_in - 1), dim)
        else:
            out = self._blended(x, dim, axis, places)
        if self.transform == "tf_crop_and_resize":
            outside = (places < 0) | (places > axis.size_in - 1)
            filling = np.asarray(self.outside).astype(out.dtype)
            out = np.where(outside.reshape(-1, *(1,) * (x.ndim - dim - 1)), filling, out)
        return out

    def _rounded(self, places: Array, scale: float) -> Array:
        """Places as integers."""
        rounding = self.rounding
        if rounding == "simple":  # of old operator sets
            rounding = "ceil" if scale < 1 else "floor"
        if rounding == "round_prefer_floor":
            places = np.ceil(places - np.float32(0.5))
        elif rounding == "round_prefer_ceil":
            places = np.floor(places + np.float32(0.5))
        else:
            places = np.ceil(places) if rounding == "ceil" else np.floor(places)
        return np.asarray(places, np.intp)

    def _blended(self, x: Array, dim: int, axis: ResizedAxis, places: Array) -> Array:
        """Weighted sums of the pixels around each place; at the border the outermost pixel stands for those outside."""
        shrink = min(axis.scale, 1.0) if self.antialias else 1.0
        reach = 1 if self.mode == "linear" else 2
        start = math.floor(-reach / shrink) + 1
        taps = np.arange(start, 2 - start)
        check_size((axis.size_out, len(taps)), 8, self.op.where)
        first = np.ceil(places).astype(np.int64) - 1
        distance = np.abs((taps - (places.astype(np.float64) - first)[:, None]) * shrink)
        weights = np.maximum(1 - distance, 0) if self.mode == "linear" else cubic(distance, self.cubic)
        pixels = first[:, None] + taps
        if self.inside:
            weights = np.where((pixels >= 0) & (pixels < axis.size_in), weights, 0)
        if self.antialias or self.inside:
            total = weights.sum(1, keepdims=True)
            weights = weights / np.where(total == 0, 1, total)
        pixels = np.clip(pixels, 0, axis.size_in - 1)
        out = np.zeros((*x.shape[:dim], axis.size_out, *x.shape[dim + 1 :]))
        for k in range(len(taps)):
            out += x.take(pixels[:, k], dim) * weights[:, k].reshape(-1, *(1,) * (x.ndim - dim - 1))
        return out

    def _word(self, key: str, known: tuple[str, ...]) -> str:
        """A parameter that is one of the known words, by default the first."""
        word = self.op.str_param(key, known[0])
        if word not in known:
            raise ParameterError(self.op.where, f"{key}={', '.join(known)}", word)
        return word


def cubic(distance: Array, a: float) -> Array:
    """The cubic kernel at these distances.

    Source: R. Keys, "Cubic Convolution Interpolation for Digital Image Processing", IEEE Trans. ASSP 1981, equation 4.
    """
    near = ((a + 2) * distance - (a + 3)) * distance * distance + 1
    far = ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a
    return np.where(distance <= 1, near, np.where(distance < 2, far, 0))

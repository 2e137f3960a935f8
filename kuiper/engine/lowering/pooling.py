"""Pooling of all kinds: one kernel, told by tables where each window begins and ends."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.engine.declined import decline_if
from kuiper.engine.kernels.pooling import Pooling
from kuiper.engine.lowering.image_numbers import image_numbers
from kuiper.engine.lowering.reduction import lower_reduction
from kuiper.engine.lowering.registry import lowers
from kuiper.engine.values import AnyValue, Value, whole_vectors
from kuiper.layers.operators.adaptive_avg_pool2d import AdaptiveAvgPool2d, adaptive_bounds
from kuiper.layers.operators.adaptive_max_pool2d import AdaptiveMaxPool2d
from kuiper.layers.operators.avg_pool2d import AvgPool2d, divisors
from kuiper.layers.operators.max_pool2d import MaxPool2d
from kuiper.layers.operators.mean import Mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.builder import Builder
    from kuiper.engine.step import Step
    from kuiper.layers.layer import Array
    from kuiper.layers.window import Window


@dataclass(frozen=True, slots=True)
class Windows:
    """Where windows lie, (2, outputs) for each axis, and what their sums are divided by; no divisors: maxima."""

    rows: Array
    columns: Array
    divisor_h: Array | None = None
    divisor_w: Array | None = None
    dilation: tuple[int, int] = (1, 1)

    @property
    def by_rows(self) -> tuple[int, int]:
        """The greatest distance from one window's first row to the next one's, and the most rows that one covers."""
        first, end = self.rows
        return int(np.diff(first).max(initial=1)), int((end - first).max())


@lowers(MaxPool2d)
def lower_max_pool(layer: Any, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """nn.MaxPool2d without indices."""
    x = builder.image_of(inputs[0])
    decline_if(layer.return_indices or not _fits(layer.window, x))
    rows, columns = _bounds(layer.window, x)
    return [_emit(builder, x, Windows(rows, columns, dilation=layer.window.dilation), "max pooling")]


@lowers(AvgPool2d)
def lower_avg_pool(layer: Any, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """nn.AvgPool2d."""
    x = builder.image_of(inputs[0])
    decline_if(layer.window.dilation != (1, 1) or not _fits(layer.window, x))
    h, w = x.shape[2:]
    by_row, by_column = divisors(layer.window, (h, w), layer.count_include_pad, layer.divisor_override)
    return [_emit(builder, x, Windows(*_bounds(layer.window, x), by_row, by_column), "average pooling")]


@lowers(AdaptiveAvgPool2d)
def lower_adaptive_avg_pool(layer: Any, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """nn.AdaptiveAvgPool2d, of which the global average is one."""
    x = builder.image_of(inputs[0])
    return [_means(builder, x, layer.output_size)]


@lowers(AdaptiveMaxPool2d)
def lower_adaptive_max_pool(layer: Any, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """nn.AdaptiveMaxPool2d, if nobody reads its indices."""
    assert builder.op is not None
    x, indices = builder.image_of(inputs[0]), builder.op.outputs[1:]
    decline_if(any(operand.consumers for operand in indices))
    maxima = _emit(builder, x, Windows(*_shared_out(x, layer.output_size)), "max pooling")
    return [maxima, *(builder.python_value(None) for _ in indices)]


@lowers(Mean)
def lower_mean(layer: Any, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """torch.mean: over both axes of an image the global average."""
    if len(inputs[0].shape) != 4 or layer.dtype is not None or {dim % 4 for dim in layer.dims} != {2, 3}:
        return lower_reduction(layer, inputs, builder, mean=True)
    x = builder.image_of(inputs[0])
    mean = _means(builder, x, (1, 1))
    return [mean if layer.keepdim else Value(mean.buffer, mean.view[:, :, 0, 0])]


def _means(builder: Builder, x: Value, output_size: tuple[int, int]) -> Value:
    rows, columns = _shared_out(x, output_size)
    lengths = [np.diff(bounds, axis=0)[0].astype(np.float32) for bounds in (rows, columns)]
    return _emit(builder, x, Windows(rows, columns, *lengths), "average pooling")


def _shared_out(x: Value, output_size: tuple[int, int]) -> tuple[Array, Array]:
    """The bounds of windows that share out an image; an output size of 0 keeps the input's."""
    rows, columns = (adaptive_bounds(size, asked or size) for size, asked in zip(x.shape[2:], output_size, strict=True))
    return rows, columns


def _fits(window: Window, x: Value) -> bool:
    """Whether the window is not larger than the image; the layer says so otherwise."""
    reach = (span - 2 * pad for span, pad in zip(window.span, window.before, strict=True))
    return all(size >= needed for size, needed in zip(x.shape[2:], reach, strict=True))


def _bounds(window: Window, x: Value) -> tuple[Array, Array]:
    h, w = x.shape[2:]
    out_h, out_w = window.output_size((h, w))
    return window.bounds(0, h, out_h), window.bounds(1, w, out_w)


def _emit(builder: Builder, x: Value, windows: Windows, algorithm: str) -> Value:
    n, c, h, w = x.shape
    out_h, out_w = windows.rows.shape[1], windows.columns.shape[1]
    out = builder.image((n, c, out_h, out_w))
    ones = (np.ones(out_h, np.float32), np.ones(out_w, np.float32))

    def make() -> Step:
        numbers = {
            "images": n, "in_h": h, "in_w": w, "out_h": out_h, "out_w": out_w, "channels": whole_vectors(c),
            **image_numbers(x, out),
            "dilation_h": windows.dilation[0], "dilation_w": windows.dilation[1],
            "maximum": windows.divisor_h is None,
        }  # fmt: skip
        rows, columns = (np.ascontiguousarray(table, np.intp) for table in (windows.rows, windows.columns))
        divisor_h = ones[0] if windows.divisor_h is None else windows.divisor_h
        divisor_w = ones[1] if windows.divisor_w is None else windows.divisor_w
        return Pooling(numbers, rows, columns, divisor_h, divisor_w)

    loads = int(np.diff(windows.rows, axis=0).sum() * np.diff(windows.columns, axis=0).sum()) * n * c
    builder.emit(
        algorithm,
        make,
        reads=[x],
        writes=[out],
        flops=loads // math.prod(windows.dilation),
        window=windows.by_rows,
        relocatable=True,
    )
    return out

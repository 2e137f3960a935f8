"""Pooling in ONNX's spelling, on any number of axes and of any type: what torch's layers do not take."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.errors import ParameterError, TensorIndexError
from kuiper.layers.layer import Array, Layer
from kuiper.layers.onnx_window import read_onnx_window
from kuiper.layers.registry import register
from kuiper.layers.window import Sizes, Window
from kuiper.tensor_limit import check_size

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


class OnnxPool(Layer):
    """The base: ``kernel_shape``, and a window that moves over all axes behind (n, c)."""

    data_inputs = None

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.window = read_onnx_window(op, op.ints_param("kernel_shape"))

    def forward(self, x: Array) -> Any:
        axes = len(self.window.written.kernel)
        self.expect(x.ndim == axes + 2, f"input with {axes + 2} axes", x.shape)
        window = self.window.placed(x.shape[2:])
        return self.pool(x, window, window.output_size(x.shape[2:], self.op.where))

    def pool(self, x: Array, window: Window, outputs: Sizes) -> Any:
        """The results for a window whose borders are known."""
        raise NotImplementedError

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return math.prod(outputs[0]) * math.prod(self.window.written.kernel)


@register("MaxPool")
class OnnxMaxPool(OnnxPool):
    """The largest number of every window, and where it lies in the flattened input; borders never win.

    ``storage_order`` 1 counts the places of an image, or a volume, column by column.

    Source: ONNX, MaxPool.
    """

    def pool(self, x: Array, window: Window, outputs: Sizes) -> Array | tuple[Array, Array]:
        lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
        taps = list(window.taps(window.padded(x, lowest, outputs, self.op.where), outputs))
        if len(self.op.outputs) < 2:
            best = taps[0][1].copy()
            for _, numbers in taps[1:]:
                np.maximum(best, numbers, out=best)
            return np.asarray(best)
        places = self._places(x)
        inside = window.taps(window.padded(places, -1, outputs, self.op.where), outputs)
        best, where = (
            np.full((*x.shape[:2], *outputs), lowest, x.dtype),
            np.full((*x.shape[:2], *outputs), -1, np.int64),
        )
        for (_, numbers), (_, there) in zip(taps, inside, strict=True):
            wins = (there >= 0) & ((where < 0) | (numbers > best) | (np.isnan(numbers) & ~np.isnan(best)))
            best, where = np.where(wins, numbers, best), np.where(wins, there, where)
        return best, where

    def _places(self, x: Array) -> Array:
        """The place of each number in the flattened input, (n, c, ...)."""
        order = "F" if self.op.int_param("storage_order", 0) else "C"
        plane = np.arange(math.prod(x.shape[2:]), dtype=np.int64).reshape(x.shape[2:], order=order)  # type: ignore[call-overload]
        starts = np.arange(math.prod(x.shape[:2]), dtype=np.int64).reshape(*x.shape[:2], *(1,) * plane.ndim)
        return np.asarray(starts * plane.size + plane)


@register("AveragePool")
class OnnxAveragePool(OnnxPool):
    """The mean of every window: of the numbers of the input, or with ``count_include_pad`` of the borders' zeros, too.

    Source: ONNX, AveragePool.
    """

    def pool(self, x: Array, window: Window, outputs: Sizes) -> Array:
        counted = np.ones((1, 1, *x.shape[2:]), x.dtype)
        if self.op.bool_param("count_include_pad", False):
            pads = zip(window.before, window.after, strict=True)
            counted = np.ones(
                (1, 1, *(size + sum(pair) for size, pair in zip(x.shape[2:], pads, strict=True))), x.dtype
            )
            bare = Window(window.kernel, window.stride, dilation=window.dilation)
            counts = bare.taps(bare.padded(counted, 0, outputs, self.op.where), outputs)
        else:
            counts = window.taps(window.padded(counted, 0, outputs, self.op.where), outputs)
        count = sum(part for _, part in counts)
        return np.asarray(added(x, window, outputs, self.op.where) / count, x.dtype)


@register("LpPool")
class OnnxLpPool(OnnxPool):
    """The p-norm of every window.

    Source: ONNX, LpPool.
    """

    def pool(self, x: Array, window: Window, outputs: Sizes) -> Array:
        p = self.op.int_param("p", 2)
        if p < 1:
            raise ParameterError(self.op.where, "p of at least 1", p)
        return np.asarray(added(np.abs(x) ** p, window, outputs, self.op.where) ** (1 / p), x.dtype)


def added(x: Array, window: Window, outputs: Sizes, where: str) -> Array:
    """The sum of every window."""
    total = np.zeros((*x.shape[:2], *outputs), x.dtype)
    for _, numbers in window.taps(window.padded(x, 0, outputs, where), outputs):
        total += numbers
    return total


@register("GlobalLpPool")
class OnnxGlobalLpPool(Layer):
    """The p-norm over all axes behind (n, c).

    Source: ONNX, GlobalLpPool.
    """

    def forward(self, x: Array) -> Array:
        p = self.op.int_param("p", 2)
        if p < 1:
            raise ParameterError(self.op.where, "p of at least 1", p)
        self.expect(x.ndim > 1, "input (n, c, ...)", x.shape)
        total = np.sum(np.abs(x) ** p, axis=tuple(range(2, x.ndim)), keepdims=True)
        return np.asarray(total ** (1 / p), x.dtype)


@register("MaxUnpool")
class MaxUnpool(Layer):
    """Zeros, with each number at the place that MaxPool's second output names; a third input may say their shape.

    Source: ONNX, MaxUnpool.
    """

    data_inputs = None

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.window = read_onnx_window(op, op.ints_param("kernel_shape")).written

    def forward(self, x: Array, indices: Array, output_shape: Array | None = None) -> Array:
        window = self.window
        fits = x.ndim == len(window.kernel) + 2 and x.shape == indices.shape
        self.expect(fits, f"two inputs with {len(window.kernel) + 2} axes of the same sizes", (x.shape, indices.shape))
        parts = zip(x.shape[2:], window.stride, window.kernel, window.before, window.after, strict=True)
        sizes = [(size - 1) * stride + kernel - before - after for size, stride, kernel, before, after in parts]
        inner = (*x.shape[:2], *sizes)
        shape = inner if output_shape is None else tuple(int(size) for size in output_shape.ravel())
        self.expect(len(shape) == x.ndim and min(*shape, *inner) >= 0, f"output_shape of {x.ndim} sizes", shape)
        for wanted in (inner, shape):
            check_size(wanted, x.itemsize, self.op.where)
        flat = np.zeros(math.prod(inner), x.dtype)
        if indices.size and not 0 <= indices.min() <= indices.max() < flat.size:
            raise TensorIndexError(self.op.where, f"indices within {flat.size}", (indices.min(), indices.max()))
        flat[indices.ravel()] = x.ravel()
        result = np.zeros(shape, x.dtype)
        shared = tuple(slice(min(pair)) for pair in zip(inner, shape, strict=True))
        result[shared] = flat.reshape(inner)[shared]
        return result

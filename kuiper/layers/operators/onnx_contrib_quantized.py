"""onnxruntime's operators on bytes with a scale and a zero point: sums, products, activations, pools.

Each computes what its kernels compute, to the last bit, on a CPU with AVX2.

Source: onnxruntime, ContribOperators.md; ``core/mlas/lib`` for the roundings.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.errors import ParameterError
from kuiper.layers.axes import axes as counted_axes
from kuiper.layers.axes import axis as counted_axis
from kuiper.layers.layer import Array, Layer
from kuiper.layers.onnxruntime_functions import logistic
from kuiper.layers.operators.onnx_pool import OnnxAveragePool
from kuiper.layers.quantized_numbers import Quantized, by_table, quantize, rounded
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


class QLinear(Layer):
    """The base: inputs by ONNX's names, in groups of bytes, scale and zero point."""

    data_inputs = None

    def forward(self, *inputs: Any) -> Any:
        return self.compute(dict(zip(self.op.input_names, map(np.asarray, inputs), strict=True)))

    def compute(self, given: dict[str, Array]) -> Array:
        """The output of inputs with these names."""
        raise NotImplementedError

    def quantized(self, given: dict[str, Array], name: str, prefix: str = "") -> Quantized:
        """An input with its scale and zero point, ``A``, ``A_scale`` and ``A_zero_point``."""
        numbers = given[name]
        self.expect(numbers.dtype in (np.uint8, np.int8), f"{name} of int8 or uint8", numbers.dtype)
        return Quantized(numbers, *self.scale_and_zero(given, prefix or name))

    def scale_and_zero(self, given: dict[str, Array], prefix: str) -> tuple[np.float32, int]:
        """The scale of an input or the output, and its zero point, which is 0 if the file has none."""
        scale, zero_point = given[f"{prefix}_scale"], given.get(f"{prefix}_zero_point", np.zeros(1, np.uint8))
        self.expect(scale.size == zero_point.size == 1, f"one scale and zero point of {prefix}", scale.shape)
        return np.float32(scale.reshape(-1)[0]), int(zero_point.reshape(-1)[0])


@register("QLinearAdd", "QLinearMul")
class QLinearArithmetic(QLinear):
    """The sum or the product of two tensors of bytes, which broadcast.

    Source: as the module.
    """

    def compute(self, given: dict[str, Array]) -> Array:
        a, b = self.quantized(given, "A"), self.quantized(given, "B")
        try:
            np.broadcast_shapes(a.numbers.shape, b.numbers.shape)
        except ValueError:
            self.expect(False, "inputs that broadcast", (a.numbers.shape, b.numbers.shape))
        scale, zero_point = self.scale_and_zero(given, "C")
        function = sum_of_bytes if self.op.type == "QLinearAdd" else product_of_bytes
        return function(a, b, scale, zero_point)


def sum_of_bytes(a: Quantized, b: Quantized, scale: np.float32, zero_point: int) -> Array:
    """``a + b`` in bytes of a scale: two fused multiplications and additions in float32, on top of all zero points."""
    if a.numbers.size == 1 and b.numbers.size > 1:
        a, b = b, a
    ratio_a, ratio_b = a.scale / scale, b.scale / scale
    fixed = np.float32(zero_point) - fused(ratio_a, a.zero_point, ratio_b * np.float32(b.zero_point))
    total = fused(b.numbers, ratio_b, fixed)
    return rounded(fused(a.numbers, ratio_a, total), 0, a.numbers.dtype)


def product_of_bytes(a: Quantized, b: Quantized, scale: np.float32, zero_point: int) -> Array:
    """``a * b`` in bytes of a scale."""
    product = (a.numbers.astype(np.int32) - a.zero_point) * (b.numbers.astype(np.int32) - b.zero_point)
    steps = product.astype(np.float32) * (a.scale * b.scale / scale) + np.float32(zero_point)
    return rounded(steps, 0, a.numbers.dtype)


def fused(a: Any, b: Any, c: Any) -> Array:
    """``a * b + c`` of float32 numbers, rounded once: float64 holds the product."""
    return (np.asarray(a, np.float64) * np.asarray(b, np.float64) + np.asarray(c, np.float64)).astype(np.float32)


@register("QLinearSigmoid", "QLinearLeakyRelu")
class QLinearActivation(QLinear):
    """An activation of bytes.

    Source: as the module.
    """

    def compute(self, given: dict[str, Array]) -> Array:
        x, (scale, zero_point) = self.quantized(given, "X"), self.scale_and_zero(given, "Y")
        if self.op.type == "QLinearSigmoid":
            return by_table(x, logistic, scale, zero_point)
        alpha = np.float32(self.op.float_param("alpha", 0.01))
        return by_table(x, lambda row: np.where(row >= 0, row, row * alpha), scale, zero_point)


@register("QLinearConcat")
class QLinearConcat(QLinear):
    """Tensors of bytes joined along ``axis``, all in the scale of the output.

    Source: as the module.
    """

    def forward(self, *inputs: Any) -> Array:
        y_scale, y_zero, *rest = map(np.asarray, inputs)
        self.expect(len(rest) > 2 and len(rest) % 3 == 0, "three inputs for each tensor", len(rest))
        scale, zero_point = self.scale_and_zero({"Y_scale": y_scale, "Y_zero_point": y_zero}, "Y")
        parts = []
        for place in range(0, len(rest), 3):
            given = dict(zip(("X", "X_scale", "X_zero_point"), rest[place : place + 3], strict=True))
            parts.append(by_table(self.quantized(given, "X"), lambda row: row, scale, zero_point))
        along = counted_axis(self.op.int_param("axis"), parts[0].ndim, self.op.where)
        others = {(*part.shape[:along], *part.shape[along + 1 :]) for part in parts}
        self.expect(len(others) == 1, f"tensors that differ in axis {along} only", [part.shape for part in parts])
        return np.concatenate(parts, along)


@register("QLinearSoftmax")
class QLinearSoftmax(QLinear):
    """The softmax along ``axis``; of an ``opset`` before 13 over all axes from that one on.

    Exponentials are those of a table in which the largest number always stands at the same place.

    Source: as the module.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.flattens = op.int_param("opset", 13) < 13
        self.axis = op.int_param("axis", 1 if self.flattens else -1)

    def compute(self, given: dict[str, Array]) -> Array:
        x, (scale, zero_point) = self.quantized(given, "X"), self.scale_and_zero(given, "Y")
        self.expect(bool(x.scale > 0), "a scale above 0", x.scale)
        along = counted_axis(self.axis, x.numbers.ndim, self.op.where)
        if self.flattens:
            rows = x.numbers.reshape(math.prod(x.numbers.shape[:along]), math.prod(x.numbers.shape[along:]))
            flat = softmax_of_bytes(x._replace(numbers=rows), scale, zero_point)
            return np.asarray(flat.reshape(x.numbers.shape))
        last = x._replace(numbers=np.moveaxis(x.numbers, along, -1))
        return np.asarray(np.moveaxis(softmax_of_bytes(last, scale, zero_point), -1, along))


def softmax_of_bytes(x: Quantized, scale: np.float32, zero_point: int) -> Array:
    """The softmax along the last axis."""
    numbers, limits = x.numbers.astype(np.int32), np.iinfo(x.numbers.dtype)
    if numbers.size == 0:
        return np.asarray(x.numbers)
    powers = exponentials(x.scale, numbers.shape[-1])[255 - numbers.max(-1, keepdims=True) + numbers]
    total = np.cumsum(powers, axis=-1, dtype=np.float32)[..., -1:]  # one after the other, as the kernel adds
    steps = np.rint(powers * np.floor(np.float32(1) / scale) / total).astype(np.int64) + zero_point
    return np.asarray(np.clip(steps, limits.min, limits.max), x.numbers.dtype)


def exponentials(scale: np.float32, count: int) -> Array:
    """Powers of e, float32 (256), for rows of ``count`` bytes, whose largest one stands at the end of the table.

    They are as large as float32 allows for their sum, so that small ones do not vanish.
    """
    room = max(0.0, math.log(float(np.finfo(np.float32).max) / count) - 5) / float(scale)
    return np.exp((np.arange(256, dtype=np.float64) - 255 + room) * float(scale)).astype(np.float32)


@register("QLinearGlobalAveragePool")
class QLinearGlobalAveragePool(QLinear):
    """The mean over all axes but those of batch and channels, which are the last if ``channels_last`` is 1.

    Source: as the module.
    """

    def compute(self, given: dict[str, Array]) -> Array:
        x, (scale, zero_point) = self.quantized(given, "X", "x"), self.scale_and_zero(given, "y")
        self.expect(x.numbers.ndim > 2, "input (n, c, ...)", x.numbers.shape)
        first = 1 if self.op.bool_param("channels_last", False) else 2
        across = tuple(range(first, first + x.numbers.ndim - 2))
        count = math.prod(x.numbers.shape[axis] for axis in across)
        total = np.sum(x.numbers, axis=across, keepdims=True, dtype=np.int64) - count * x.zero_point
        ratio = x.scale / (scale * np.float32(count))
        return rounded(total.astype(np.float32) * ratio, zero_point, x.numbers.dtype)


@register("QLinearReduceMean")
class QLinearReduceMean(QLinear):
    """The mean over ``axes``, over all without them.

    Source: as the module; onnxruntime has no kernel of it for CPUs, so the mean is that of ReduceMean.
    """

    def compute(self, given: dict[str, Array]) -> Array:
        x, (scale, zero_point) = self.quantized(given, "data"), self.scale_and_zero(given, "reduced")
        dims = self.op.ints_param("axes", tuple(range(x.numbers.ndim)))
        across = counted_axes(dims, x.numbers.ndim, self.op.where)
        mean = np.mean(x.dequantized(), axis=across, keepdims=self.op.bool_param("keepdims", True), dtype=np.float32)
        return quantize(np.asarray(mean), scale, zero_point, x.numbers.dtype)


@register("QLinearAveragePool")
class QLinearAveragePool(OnnxAveragePool):
    """The mean of every window of bytes; channels are the last axis if ``channels_last`` is 1.

    Source: as the module.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.channels_last = op.bool_param("channels_last", False)
        self.bytes = QLinear(op)
        if set(self.window.written.dilation) != {1}:
            raise ParameterError(op.where, "dilations of 1", self.window.written.dilation)

    def forward(self, *inputs: Any) -> Array:
        given = dict(zip(self.op.input_names, map(np.asarray, inputs), strict=True))
        x, (scale, zero_point) = self.bytes.quantized(given, "X", "x"), self.bytes.scale_and_zero(given, "y")
        floats = x.dequantized()
        mean = super().forward(np.moveaxis(floats, -1, 1) if self.channels_last and floats.ndim > 2 else floats)
        mean = np.moveaxis(mean, 1, -1) if self.channels_last else mean
        return rounded(mean / scale + np.float32(zero_point), 0, x.numbers.dtype)

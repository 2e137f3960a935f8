"""Your functions as layers of the engine: what ``kuiper race`` puts into a real network in place of kuiper's own.

The exercises are the inner loops. Around each the engine wants a layer: a class that is made from an operator of the
model file, reads its settings, and turns an input array into an output array. Nothing here needs to be edited; it is
worth reading, though, because this is how exercise 3.1 looks in earnest.

``load_exercise`` finds your file, or the reference where that was asked for; "fast" compiles a .pyx without the checks
that its tests run with. A setting that an exercise does not cover is refused, never computed wrongly.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from kuiper.course import load_exercise
from kuiper.errors import DataTypeError
from kuiper.layers import Layer
from kuiper.layers.operators import upsample
from kuiper.layers.operators.adaptive_avg_pool2d import read_output_size

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator

Array = np.ndarray


class Activation(Layer):
    """A function of exercise 3.2, applied to every number of an array of any shape."""

    function: ClassVar[str]

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.compute = getattr(load_exercise("3.2", "fast"), self.function)

    def forward(self, x: Array) -> Array:
        check_float32(x, self.op.where)
        out = np.empty(x.shape, np.float32)
        self.compute(x.reshape(-1), out.reshape(-1))
        return out

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return math.prod(outputs[0])


class ReLU(Activation):
    """nn.ReLU with your loop."""

    function = "relu"


class Sigmoid(Activation):
    """nn.Sigmoid with your loop."""

    function = "sigmoid"


class SiLU(Activation):
    """nn.SiLU with your loop."""

    function = "silu"


class MaxPool2d(Layer):
    """nn.MaxPool2d with your loops from exercise 3.3."""

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        exercise = load_exercise("3.3", "fast")
        self.output_size, self.max_pool = exercise.output_size, exercise.max_pool
        self.kernel = op.pair_param("kernel_size")
        self.stride = op.pair_param("stride") if op.ints_param("stride", ()) else self.kernel
        self.padding = op.pair_param("padding", (0, 0))
        if op.pair_param("dilation", (1, 1)) != (1, 1):
            raise self.unsupported("dilation 1 in exercise 3.3", op.pair_param("dilation"))
        for name in ("ceil_mode", "return_indices"):
            if op.bool_param(name, False):
                raise self.unsupported(f"{name}=False in exercise 3.3", True)

    def forward(self, x: Array) -> Array:
        self.expect_rank(x, (4,), "(n, c, h, w)")
        check_float32(x, self.op.where)
        sizes = [
            self.output_size(x.shape[2 + axis], self.kernel[axis], self.stride[axis], self.padding[axis])
            for axis in (0, 1)
        ]
        out = np.empty((*x.shape[:2], *sizes), np.float32)
        self.max_pool(x, out, *self.kernel, *self.stride, *self.padding)
        return out

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return math.prod(outputs[0]) * math.prod(self.kernel)


class Conv2d(Layer):
    """nn.Conv2d with your function from exercise 3.5, which stands on your im2col from 3.4."""

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.conv2d = load_exercise("3.5", "fast").conv2d
        self.weight = op.attr("weight")
        self.bias = op.attr("bias") if op.bool_param("bias", "bias" in op.attrs) else None
        if op.has_param("padding") and isinstance(op.params["padding"].value, str):
            raise self.unsupported("padding in numbers in exercise 3.5", op.str_param("padding"))
        if op.str_param("padding_mode", "zeros") != "zeros":
            raise self.unsupported("padding_mode zeros in exercise 3.5", op.str_param("padding_mode"))
        self.stride, self.padding = op.pair_param("stride", (1, 1)), op.pair_param("padding", (0, 0))
        self.dilation, self.groups = op.pair_param("dilation", (1, 1)), op.int_param("groups", 1)

    def forward(self, x: Array) -> Array:
        self.expect_rank(x, (4,), "(n, c, h, w)")
        check_float32(x, self.op.where)
        result: Array = self.conv2d(x, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)
        return result

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        multiply_adds = math.prod(outputs[0]) * math.prod(self.weight.shape[1:])
        return 2 * multiply_adds + (math.prod(outputs[0]) if self.bias is not None else 0)


class OwnProductConv2d(Conv2d):
    """nn.Conv2d on your own matrix product, exercise 3.13: by Winograd where it can, else by im2col."""

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        exercise = load_exercise("3.13", "fast")
        self.conv2d, self.winograd = exercise.conv2d, exercise.winograd
        ones = self.stride, self.dilation, (self.groups, self.groups)
        self.is_winograd = self.weight.shape[2:] == (3, 3) and set(ones) == {(1, 1)}

    def forward(self, x: Array) -> Array:
        if not self.is_winograd:
            return super().forward(x)
        self.expect_rank(x, (4,), "(n, c, h, w)")
        check_float32(x, self.op.where)
        result: Array = self.winograd(x, self.weight, self.bias, self.padding)
        return result


class BatchNorm2d(Layer):
    """nn.BatchNorm2d with your function from exercise 3.6."""

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.batch_norm = load_exercise("3.6", "fast").batch_norm
        self.mean, self.var = op.attr("running_mean"), op.attr("running_var")
        self.gamma, self.beta = (op.attr(name) if name in op.attrs else None for name in ("weight", "bias"))
        self.eps = op.float_param("eps", 1e-5)

    def forward(self, x: Array) -> Array:
        self.expect_rank(x, (4,), "(n, c, h, w)")
        check_float32(x, self.op.where)
        result: Array = self.batch_norm(x, self.mean, self.var, self.gamma, self.beta, self.eps)
        return result

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return 2 * math.prod(outputs[0])


class Bilinear(upsample.Upsample):
    """nn.Upsample and F.interpolate in mode bilinear with your loops from exercise 3.12."""

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        if self.mode != "bilinear":
            raise self.unsupported("mode bilinear in exercise 3.12", self.mode)
        self.resample = load_exercise("3.12", "fast").resample

    @staticmethod
    def covers(op: RuntimeOperator) -> bool:
        """Whether the exercise is about this operator: only about pictures that are mixed from four neighbours."""
        return op.str_param("mode", "nearest") == "bilinear"

    def forward(self, x: Array) -> Array:
        self.expect_rank(x, (4,), "(n, c, h, w)")
        check_float32(x, self.op.where)
        axes = self.axes(x.shape[2:])
        for axis in axes:
            if not self.align_corners and axis.scale is not None and axis.size_in * axis.scale != axis.size_out:
                raise self.unsupported("a scale_factor that gives whole pixels in exercise 3.12", self.scales)
        out = np.empty((*x.shape[:2], *(axis.size_out for axis in axes)), np.float32)
        self.resample(x, out, self.align_corners)
        return out


class LayerNorm(Layer):
    """nn.LayerNorm with your function from exercise 3.11."""

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.layer_norm = load_exercise("3.11", "fast").layer_norm
        self.normalized_shape = op.ints_param("normalized_shape")
        self.weight, self.bias = (op.attr(name) if name in op.attrs else None for name in ("weight", "bias"))
        self.eps = op.float_param("eps", 1e-5)

    def forward(self, x: Array) -> Array:
        last = ", ".join(map(str, self.normalized_shape))
        self.expect(x.shape[-len(self.normalized_shape) :] == self.normalized_shape, f"input (..., {last})", x.shape)
        check_float32(x, self.op.where)
        result: Array = self.layer_norm(x, len(self.normalized_shape), self.weight, self.bias, self.eps)
        return result

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return 8 * math.prod(outputs[0])


class GroupNorm(Layer):
    """nn.GroupNorm with your function from exercise 3.11."""

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.group_norm = load_exercise("3.11", "fast").group_norm
        self.groups = op.int_param("num_groups")
        self.weight, self.bias = (op.attr(name) if name in op.attrs else None for name in ("weight", "bias"))
        self.eps = op.float_param("eps", 1e-5)

    def forward(self, x: Array) -> Array:
        self.expect(x.ndim >= 2, "input (n, c, ...)", x.shape)
        check_float32(x, self.op.where)
        result: Array = self.group_norm(x, self.groups, self.weight, self.bias, self.eps)
        return result

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return 8 * math.prod(outputs[0])


class AdaptiveAvgPool2d(Layer):
    """nn.AdaptiveAvgPool2d with your function from exercise 3.7."""

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.adaptive_avg_pool2d = load_exercise("3.7", "fast").adaptive_avg_pool2d
        self.output_size = read_output_size(op)

    def forward(self, x: Array) -> Array:
        self.expect_rank(x, (4,), "(n, c, h, w)")
        check_float32(x, self.op.where)
        result: Array = self.adaptive_avg_pool2d(x, self.output_size)
        return result

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return math.prod(inputs[0])


def check_float32(x: Array, where: str) -> None:
    """Raise DataTypeError unless the numbers are float32: the exercises know no other."""
    if x.dtype != np.float32:
        raise DataTypeError(where, "float32 input", x.dtype)

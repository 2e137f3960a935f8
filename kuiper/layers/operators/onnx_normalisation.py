"""Normalisations and softmaxes in ONNX's spelling, in any float type: what torch's layers do not take."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from kuiper.errors import ParameterError
from kuiper.layers.axes import axis as counted_axis
from kuiper.layers.layer import Array, Layer
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


class OnnxNormalisation(Layer):
    """The base: ``epsilon``, and inputs in ONNX's order."""

    data_inputs: ClassVar[None] = None

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.epsilon = op.float_param("epsilon", 1e-5)

    def by_channel(self, weight: Array, x: Array) -> Array:
        """A weight (c), or one for each number of a sample, so that it broadcasts with ``x`` (n, c, ...)."""
        fits = weight.shape in (x.shape[1:2], x.shape[1:])
        self.expect(x.ndim > 1 and fits, f"a weight of shape {x.shape[1:2]}", weight.shape)
        return weight.reshape(-1, *(1,) * (x.ndim - 2)) if weight.ndim == 1 else weight

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return 8 * math.prod(outputs[0])


@register("BatchNormalization")
class OnnxBatchNorm(OnnxNormalisation):
    """``(x - mean) / sqrt(var + epsilon) * scale + bias``, with the input's own statistics when ``training_mode`` is 1.

    The other two outputs in training are the mean and the variance, moved by ``momentum`` towards the input's.

    Source: ONNX, BatchNormalization.
    """

    def forward(self, x: Array, scale: Array, bias: Array, mean: Array, var: Array) -> Array | tuple[Array, ...]:
        training, momentum = self.op.bool_param("training_mode", False), self.op.float_param("momentum", 0.9)
        moved = []
        if training:
            self.expect(x.ndim > 1, "input (n, c, ...)", x.shape)
            others = (0, *range(2, x.ndim))
            own = (x.mean(others, np.float64), x.var(others, np.float64))
            moved = [
                np.asarray(old * momentum + new * (1 - momentum), old.dtype)
                for old, new in zip((mean, var), own, strict=True)
            ]
            mean, var = own
        scale, bias, mean, var = (
            self.by_channel(np.asarray(w), x).astype(np.float64) for w in (scale, bias, mean, var)
        )
        factor = scale / np.sqrt(var + self.epsilon)
        y = np.asarray(x * factor + (bias - mean * factor), x.dtype)
        return (y, *moved) if len(self.op.outputs) > 1 else y


@register("InstanceNormalization", "GroupNormalization")
class OnnxGroupNorm(OnnxNormalisation):
    """Mean 0 and variance 1 in each of ``num_groups`` groups of channels of a sample, then scale and bias.

    These are for each channel, or for each group, as GroupNormalization had it in operator set 18. Without num_groups,
    every channel is a group.

    Source: ONNX, GroupNormalization and InstanceNormalization.
    """

    def forward(self, x: Array, scale: Array, bias: Array) -> Array:
        self.expect(x.ndim > 1, "input (n, c, ...)", x.shape)
        n, channels = x.shape[:2]
        count = self.op.int_param("num_groups", channels)
        self.expect(count > 0 and channels % count == 0, f"channels that make {count} groups", x.shape)
        groups = x.reshape(n, count, -1).astype(np.float64)
        spread = np.sqrt(groups.var(2, keepdims=True) + self.epsilon)
        normal = ((groups - groups.mean(2, keepdims=True)) / spread).reshape(x.shape)
        if scale.shape == bias.shape == (count,):
            scale, bias = (np.repeat(weight, channels // count) for weight in (scale, bias))
        scale, bias = self.by_channel(scale, x), self.by_channel(bias, x)
        return np.asarray(normal * scale + bias, x.dtype)


@register("LayerNormalization", "RMSNormalization")
class OnnxLayerNorm(OnnxNormalisation):
    """Mean 0 and variance 1, or a root mean square of 1, over the axes from ``axis`` on; then scale and bias.

    LayerNormalization may also put out the mean and the reciprocal of the spread, in the type of ``stash_type``.

    Source: ONNX, LayerNormalization and RMSNormalization.
    """

    def forward(self, x: Array, scale: Array, bias: Array | None = None) -> Array | tuple[Array, ...]:
        first = counted_axis(self.op.int_param("axis", -1), x.ndim, self.op.where)
        axes, numbers = tuple(range(first, x.ndim)), x.astype(np.float64)
        mean = numbers.mean(axes, keepdims=True) if self.op.type == "LayerNormalization" else np.zeros(())
        numbers = numbers - mean
        inverse = 1 / np.sqrt((numbers * numbers).mean(axes, keepdims=True) + self.epsilon)
        for weight in (scale, bias):
            shape = x.shape if weight is None else np.broadcast_shapes(weight.shape, x.shape)
            self.expect(shape == x.shape, f"weights that broadcast to {x.shape}", shape)
        y = np.asarray(numbers * inverse * scale + (0 if bias is None else bias), x.dtype)
        stash = np.float64 if self.op.int_param("stash_type", 1) == 11 else np.float32
        outputs = (y, mean.astype(stash), inverse.astype(stash))
        return y if len(self.op.outputs) == 1 else outputs[: len(self.op.outputs)]


@register("LRN")
class OnnxLrn(Layer):
    """``x / (bias + alpha / size * s)**beta``, where s is the sum of the squares in ``size`` channels around.

    Source: ONNX, LRN.
    """

    def forward(self, x: Array) -> Array:
        size = self.op.int_param("size")
        self.expect(x.ndim > 1 and size >= 1, "input (n, c, ...) and size of at least 1", (x.shape, size))
        squares = np.concatenate([np.zeros_like(x[:, :1]), np.cumsum(x * x, axis=1, dtype=np.float64)], axis=1)
        channel = np.arange(x.shape[1])
        first = np.maximum(channel - (size - 1) // 2, 0)
        end = np.minimum(channel + size // 2 + 1, x.shape[1])
        total = squares[:, end] - squares[:, first]
        alpha, beta, bias = (self.op.float_param(*pair) for pair in (("alpha", 1e-4), ("beta", 0.75), ("bias", 1.0)))
        return np.asarray(x / (bias + alpha / size * total) ** beta, x.dtype)


@register("LpNormalization")
class OnnxLpNorm(Layer):
    """The input divided by its norm along ``axis``; zeros stay zeros.

    Source: ONNX, LpNormalization.
    """

    def forward(self, x: Array) -> Array:
        p = self.op.int_param("p", 2)
        if p not in (1, 2):
            raise ParameterError(self.op.where, "p=1 or 2", p)
        along = counted_axis(self.op.int_param("axis", -1), x.ndim, self.op.where)
        length = np.linalg.norm(x.astype(np.float64), p, along, keepdims=True)
        return np.asarray(x / np.where(length == 0, 1, length), x.dtype)


@register("Softmax", "LogSoftmax", "Hardmax")
class OnnxSoftmax(Layer):
    """The softmax along ``axis``, its logarithm, or 1 at the first of the largest numbers and 0 elsewhere.

    Source: ONNX, Softmax, LogSoftmax and Hardmax since operator set 13.
    """

    def forward(self, x: Array) -> Array:
        along = counted_axis(self.op.int_param("axis", -1), x.ndim, self.op.where)
        if self.op.type == "Hardmax":
            best = np.expand_dims(np.argmax(x, along), along)
            places = np.arange(x.shape[along]).reshape(-1, *(1,) * (x.ndim - along - 1))
            return np.asarray(places == best, x.dtype)
        shifted = x - x.max(along, keepdims=True, initial=-np.inf)
        total = np.exp(shifted).sum(along, keepdims=True)
        return np.asarray(shifted - np.log(total) if self.op.type == "LogSoftmax" else np.exp(shifted) / total, x.dtype)

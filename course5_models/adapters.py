"""The students' functions as layers: what ``kuiper race`` puts in the place of the engine's."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from kuiper.course import load_exercise
from kuiper.graph.runtime_operator import RuntimeOperator
from kuiper.graph.state import OperatorState, State
from kuiper.layers import Layer
from kuiper.layers.layer import StatefulLayer
from kuiper.layers.operators import linear, rotary, yolo_detect
from kuiper.layers.operators.causal_attention import check_heads
from kuiper.models.text.sampling import Sampler


class YoloDetect(yolo_detect.YoloDetect):
    """models.yolo.Detect with the formulas of exercise 5.4; the convolutions in front of them are the engine's."""

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.detect = load_exercise("5.4").detect

    def forward(self, *maps: np.ndarray) -> np.ndarray | tuple[np.ndarray, ...]:
        """The boxes of all maps, and the maps themselves where the file returns them."""
        convolved = [yolo_detect.convolve(x, level) for level, x in zip(self.levels, maps, strict=True)]
        channels_first = [yolo_detect.as_map(z, 4) for z in convolved]
        anchors, strides = [level.anchors for level in self.levels], [level.stride for level in self.levels]
        boxes: np.ndarray = self.detect(channels_first, anchors, strides)
        if len(self.ranks) == 1:
            return boxes
        left = iter(convolved)
        return tuple(boxes if rank == 3 else yolo_detect.as_map(next(left), rank) for rank in self.ranks)


class RMSNorm(Layer):
    """nn.RMSNorm over the last axis with your function from exercise 5.11."""

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.rms_norm = load_exercise("5.11").rms_norm
        self.width = op.ints_param("normalized_shape")
        if len(self.width) != 1:
            raise self.unsupported("one axis in exercise 5.11", self.width)
        self.eps = op.float_param("eps", float(np.finfo(np.float32).eps))
        has_weight = op.bool_param("elementwise_affine", True)
        self.weight = op.attr("weight") if has_weight else np.ones(self.width, np.float32)

    def forward(self, x: np.ndarray) -> np.ndarray:
        self.expect(x.shape[-1:] == self.width, f"input (..., {self.width[0]})", x.shape)
        result: np.ndarray = self.rms_norm(x, self.weight, self.eps)
        return result

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return 4 * math.prod(outputs[0])


class RotaryAngles(rotary.RotaryAngles):
    """kuiper.RotaryAngles with your function from exercise 5.11."""

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.angles = load_exercise("5.11").rotary_angles

    def forward(self, positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        cosines, sines = self.angles(positions, self.frequencies, self.scale)
        return cosines, sines


class Rotary(rotary.Rotary):
    """kuiper.Rotary with your function from exercise 5.11."""

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.rotate = load_exercise("5.11").rotate

    def forward(self, x: np.ndarray, cosines: np.ndarray, sines: np.ndarray) -> np.ndarray:
        rotary.check_angles(x.shape, cosines.shape, sines.shape, self.op.where)
        result: np.ndarray = self.rotate(x, cosines, sines)
        return result


class Cache(StatefulLayer):
    """kuiper.Cache with your class from exercise 5.12: one of your caches for each text that is being read.

    The engine pads the tokens of a call and goes back behind it, and a text can be rewound: so your cache is rewound to
    the length that the state tells before anything is appended.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.new_cache = load_exercise("5.12").Cache
        self.caches: WeakKeyDictionary[State, Any] = WeakKeyDictionary()

    def forward(self, x: np.ndarray, state: OperatorState) -> np.ndarray:
        self.expect_rank(x, (4,), "(b, h, s, d)")
        b, h, _, d = x.shape
        cache = self.caches.get(state.state)
        if cache is None:
            if state.length:
                raise self.unsupported("a text that was not forked, in exercise 5.12", f"{state.length} positions")
            cache = self.caches[state.state] = self.new_cache(b, h, state.max_length, d)
        if cache.length != state.length:
            cache.rewind(state.length)
        rows: np.ndarray = cache.append(x)
        return rows


class CausalAttention(Layer):
    """kuiper.CausalAttention with your function from exercise 5.12."""

    data_inputs = ("query", "key", "value")

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.attention = load_exercise("5.12").causal_attention
        if op.float_param("scale", None) is not None:
            raise self.unsupported("the scale 1 / sqrt(d) in exercise 5.12", op.float_param("scale", None))

    def forward(self, query: np.ndarray, key: np.ndarray, value: np.ndarray) -> np.ndarray:
        check_heads(query.shape, key.shape, value.shape, self.op.where)
        result: np.ndarray = self.attention(query, key, value)
        return result

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return math.prod(outputs[0][:-1]) * inputs[1][-2] * (4 * inputs[0][-1] + 5)


class QuantizedLinear(linear.Linear):
    """nn.Linear with weights of 8 bits and your product from exercise 5.14, row by row; the bias is added behind it."""

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.product = load_exercise("5.14").product
        if self.quantized is None or self.quantized.bits != 8 or self.quantized.in_groups:
            raise self.unsupported("a weight of 8 bits with a scale for each row in exercise 5.14", "another")
        self.numbers = np.ascontiguousarray(self.quantized.data)
        self.scales = np.ascontiguousarray(self.quantized.scales, np.float32)

    @staticmethod
    def covers(op: RuntimeOperator) -> bool:
        """Whether the exercise is about this operator: only where each row of the weight has 8 bits and a scale."""
        weight = op.quantized("weight")
        return weight is not None and weight.bits == 8 and not weight.in_groups

    def forward(self, x: np.ndarray) -> np.ndarray:
        self.expect(
            x.ndim > 0 and x.shape[-1] == self.numbers.shape[1], f"input (..., {self.numbers.shape[1]})", x.shape
        )
        rows = np.ascontiguousarray(x, np.float32).reshape(-1, self.numbers.shape[1])
        out = np.empty((len(rows), len(self.numbers)), np.float32)
        for row, result in zip(rows, out, strict=True):
            self.product(self.numbers, self.scales, row, result)
        if self.bias is not None:
            out += self.bias
        return out.reshape(*x.shape[:-1], len(self.numbers))


class NextToken:
    """What draws the next token, with your function from exercise 5.13; the chance comes from the same seed as kuiper's."""

    def __init__(self, sampler: Sampler) -> None:
        self.next_token = load_exercise("5.13").next_token
        self.settings = sampler.temperature, sampler.top_k, sampler.top_p, sampler.repetition_penalty
        self.random = np.random.default_rng(sampler.seed)

    def __call__(self, scores: np.ndarray, text: Iterable[int] = ()) -> int:
        chance = float(self.random.random()) if self.settings[0] else 0.0
        return int(self.next_token(scores, list(text), *self.settings, chance))

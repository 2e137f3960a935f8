"""kuiper.RotaryAngles and kuiper.Rotary: queries and keys turned by an angle that grows with their position."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ShapeError
from kuiper.layers.layer import Array, Layer
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("kuiper.RotaryAngles")
class RotaryAngles(Layer):
    """Positions (s,) -> cosines (s, r) and sines (s, r) of position times frequency, both times ``scale``.

    The attribute ``frequencies`` (r,) has the angle of one step for each pair of numbers: theta**(-i / r) in the paper,
    other ones where a model was stretched to longer texts. The product is rounded to float32, as it is in transformers.

    Source: J. Su et al., "RoFormer: Enhanced Transformer with Rotary Position Embedding", 2021.
    """

    data_inputs = ("positions",)

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.frequencies = op.attr("frequencies")
        self.expect(self.frequencies.ndim == 1, "frequencies (r,)", self.frequencies.shape)
        self.scale = op.float_param("scale", 1.0)

    def forward(self, positions: Array) -> tuple[Array, Array]:
        self.expect_rank(positions, (1,), "positions (s,)")
        angles = np.multiply.outer(positions.astype(np.float32), self.frequencies).astype(np.float64)
        cosines, sines = self.scale * np.cos(angles), self.scale * np.sin(angles)
        return cosines.astype(np.float32), sines.astype(np.float32)

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return 3 * math.prod(outputs[0])


@register("kuiper.Rotary")
class Rotary(Layer):
    """x (b, h, s, d), cosines and sines (s, r), 2 * r <= d -> x with its pairs turned, (b, h, s, d).

    Number i of a head and number ``r + i`` are a pair, as in Hugging Face's Llama: (x, y) becomes
    (x cos - y sin, y cos + x sin). Numbers from ``2 * r`` on stay as they are.

    Source: as RotaryAngles; ``apply_rotary_pos_emb`` of Hugging Face's transformers for which numbers are a pair.
    """

    data_inputs = ("input", "cosines", "sines")

    def forward(self, x: Array, cosines: Array, sines: Array) -> Array:
        return rotary(x, cosines, sines, self.op.where)

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        b, h, s, _ = outputs[0]
        return 6 * b * h * s * inputs[1][-1]


def rotary(x: Array, cosines: Array, sines: Array, where: str = "rotary") -> Array:
    """Pairs of numbers of each head turned; see ``Rotary``.

    >>> x = np.float32([1, 0, 5]).reshape(1, 1, 1, 3)
    >>> rotary(x, np.float32([[0]]), np.float32([[1]]))  # a quarter turn of the first pair
    array([[[[0., 1., 5.]]]], dtype=float32)

    Raises
    ------
    ShapeError
        If the three do not fit together.
    """
    check_angles(x.shape, cosines.shape, sines.shape, where)
    r = cosines.shape[1]
    first, second = x[..., :r], x[..., r : 2 * r]
    turned = (first * cosines - second * sines, second * cosines + first * sines, x[..., 2 * r :])
    return np.concatenate(turned, axis=-1)


def check_angles(x: tuple[int, ...], cosines: tuple[int, ...], sines: tuple[int, ...], where: str) -> None:
    """Raise unless x is (b, h, s, d) and the others (s, r) with 2 * r <= d.

    Raises
    ------
    ShapeError
        If they are not.
    """
    if len(x) != 4 or len(cosines) != 2 or cosines != sines or cosines[0] != x[2] or 2 * cosines[1] > x[3]:
        raise ShapeError(where, "x (b, h, s, d), cosines and sines (s, r), 2 * r <= d", f"{x}, {cosines}, {sines}")

"""ONNX's Dropout in training mode, which a model may ask for when it is run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.layers.layer import Array, Layer
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("Dropout")
class OnnxDropout(Layer):
    """The input with a share of its numbers set to 0 and the others enlarged, and the mask of those that are kept.

    Inputs are the numbers, the share, and whether to drop anything; ``seed`` makes every call drop the same.

    Source: ONNX, Dropout.
    """

    data_inputs = None

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.seed = op.int_param("seed", 0)

    def forward(self, x: Array, ratio: Array, training: Array) -> tuple[Array, Array]:
        share = float(ratio)
        self.expect(0 <= share < 1, "a ratio from 0 to less than 1", share)
        if not training or share == 0:
            return x, np.ones(x.shape, np.bool_)
        kept = np.random.RandomState(self.seed % 2**32).uniform(0, 1, x.shape) >= share
        return (kept * x * (1 / (1 - share))).astype(x.dtype), kept

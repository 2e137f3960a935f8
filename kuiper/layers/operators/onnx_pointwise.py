"""Functions of each number in ONNX's spelling, for the types that torch's layers do not take: float64, integers.

Activations with settings that torch does not have are here, too.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.layers.layer import Array, Layer
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from collections.abc import Callable

    from kuiper.graph.runtime_operator import RuntimeOperator


def celu(x: Array, alpha: float = 1.0) -> Array:
    """x above 0, below it ``alpha * (exp(x / alpha) - 1)``."""
    return np.asarray(np.maximum(x, 0) + np.minimum(alpha * np.expm1(x / alpha), 0))


def elu(x: Array, alpha: float = 1.0) -> Array:
    """x above 0, below it ``alpha * (exp(x) - 1)``."""
    return np.where(x > 0, x, alpha * np.expm1(x))


def selu(x: Array, alpha: float, gamma: float) -> Array:
    """``gamma`` times the elu."""
    return gamma * elu(x, alpha)


def shrink(x: Array, lambd: float = 0.5, bias: float = 0.0) -> Array:
    """x + bias below -lambd, x - bias above lambd, 0 between."""
    return np.where(x < -lambd, x + bias, np.where(x > lambd, x - bias, 0))


def softplus(x: Array) -> Array:
    """ln(1 + exp(x)), without an overflow."""
    return np.asarray(np.logaddexp(x, 0))


def power(base: Array, exponent: Array) -> Array:
    """base ** exponent, computed in the wider of the two types."""
    if exponent.dtype.kind == "u" or base.dtype.kind == "f" or exponent.dtype.kind == "f" or (exponent >= 0).all():
        return np.asarray(np.power(base, exponent))
    return np.asarray(np.power(base.astype(np.float64), exponent))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "Celu": celu,
    "Elu": elu,
    "HardSwish": lambda x: x * np.clip(x / 6 + 0.5, 0, 1),
    "LeakyRelu": lambda x, alpha: np.where(x < 0, alpha * x, x),
    "Mish": lambda x: x * np.tanh(softplus(x)),
    "PRelu": lambda x, slope: np.where(x < 0, x * slope, x),
    "Pow": power,
    "Relu": lambda x: np.maximum(x, 0),
    "Selu": selu,
    "Shrink": shrink,
    "Sigmoid": lambda x: np.exp(-softplus(-x)),
    "Softplus": softplus,
    "Softsign": lambda x: x / (1 + np.abs(x)),
    "Tanh": np.tanh,
    "ThresholdedRelu": lambda x, alpha: np.where(x > alpha, x, 0),
}


@register(*FUNCTIONS)
class OnnxFunction(Layer):
    """The function of ONNX's operator, whose settings are its parameters, in the element type of the first input.

    Source: ONNX, the operator of this name.
    """

    data_inputs = None

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.settings = {key: one.value for key, one in op.params.items()}

    def forward(self, *inputs: Array) -> Array:
        result = np.asarray(FUNCTIONS[self.op.type](*inputs, **self.settings))
        return result.astype(inputs[0].dtype, copy=False)

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return math.prod(outputs[0])

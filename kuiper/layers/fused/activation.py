"""What the fused operators share: an addition and an activation behind a convolution or a linear layer, in one step.

    y = activation(layer(x) + residual)

Graph passes make these operators; no file has them. On their own they compute what the separate operators computed.
What fusion is good for is an engine that does all of it while a tile of the output is still in registers, so that the
output goes to memory once and not three times.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.errors import ParameterError, ShapeError
from kuiper.layers.layer import Array, Layer
from kuiper.layers.operators.elu import elu
from kuiper.layers.operators.gelu import gelu
from kuiper.layers.operators.hardsigmoid import hardsigmoid
from kuiper.layers.operators.hardswish import hardswish
from kuiper.layers.operators.hardtanh import hardtanh
from kuiper.layers.operators.leaky_relu import leaky_relu
from kuiper.layers.operators.mish import mish
from kuiper.layers.operators.relu import relu
from kuiper.layers.operators.sigmoid import sigmoid
from kuiper.layers.operators.silu import silu
from kuiper.layers.operators.tanh import tanh
from kuiper.layers.promotion import promoted

if TYPE_CHECKING:
    from collections.abc import Callable

    from kuiper.graph.runtime_operator import RuntimeOperator

_FUNCTIONS: dict[str, Callable[[Array, float, float, str], Array]] = {
    "none": lambda x, alpha, beta, where: x,
    "relu": lambda x, alpha, beta, where: relu(x, where),
    "leaky_relu": lambda x, alpha, beta, where: leaky_relu(x, alpha, where),
    "clip": lambda x, alpha, beta, where: hardtanh(x, alpha, beta, where),
    "elu": lambda x, alpha, beta, where: elu(x, alpha, where),
    "silu": lambda x, alpha, beta, where: silu(x, where),
    "hardswish": lambda x, alpha, beta, where: hardswish(x, where),
    "hardsigmoid": lambda x, alpha, beta, where: hardsigmoid(x, where),
    "sigmoid": lambda x, alpha, beta, where: sigmoid(x, where),
    "tanh": lambda x, alpha, beta, where: tanh(x, where),
    "gelu": lambda x, alpha, beta, where: gelu(x, "none", where),
    "gelu_tanh": lambda x, alpha, beta, where: gelu(x, "tanh", where),
    "mish": lambda x, alpha, beta, where: mish(x, where),
}

ACTIVATIONS = tuple(_FUNCTIONS)
"""The names that the parameter ``activation`` of a fused operator may have."""


@dataclass(frozen=True, slots=True)
class Activation:
    """An activation and its settings.

    ``alpha`` is the slope of leaky_relu, the factor of elu, the low end of clip; ``beta`` is the high end of clip.

    >>> Activation("clip", 0.0, 6.0).apply(np.float32([-1, 3, 8]))
    array([0., 3., 6.], dtype=float32)
    """

    name: str = "none"
    alpha: float = 0.0
    beta: float = 0.0

    @classmethod
    def read(cls, op: RuntimeOperator) -> Activation:
        """The activation of a fused operator, from ``activation``, ``activation_alpha`` and ``activation_beta``.

        Raises
        ------
        ParameterError
            If there is no activation of that name.
        """
        name = op.str_param("activation", "none")
        if name not in _FUNCTIONS:
            raise ParameterError(op.where, f"activation={', '.join(ACTIVATIONS)}", name)
        return cls(name, op.float_param("activation_alpha", 0.0), op.float_param("activation_beta", 0.0))

    def apply(self, x: Array, where: str = "activation") -> Array:
        """The activation of each number, by the function that the operator of its own would call."""
        return _FUNCTIONS[self.name](x, self.alpha, self.beta, where)


class WithActivation(Layer):
    """Stands before the class of a layer and makes it a fused one: ``class FusedConv2d(WithActivation, Conv2d)``.

    The second input, if there is one, is the residual: it is added to the output of the layer, before the activation.
    """

    data_inputs = ("input", "residual")

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.activation = Activation.read(op)

    def forward(self, x: Array, residual: Any = None) -> Array:
        y = super().forward(x)
        if residual is not None:
            y = add_residual(y, residual, self.op.where)
        return self.activation.apply(y, self.op.where)

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        extra = (len(inputs) > 1) + (self.activation.name != "none")
        return super().flops(inputs, outputs) + extra * math.prod(outputs[0])


def add_residual(y: Array, residual: Any, where: str = "residual") -> Array:
    """``y + residual`` with the broadcasting and the element type of the expression ``add(@0,@1)``.

    >>> add_residual(np.float32([[1, 2], [3, 4]]), np.float32([10, 20]))
    array([[11., 22.],
           [13., 24.]], dtype=float32)

    Raises
    ------
    ShapeError
        If the shapes do not broadcast.
    """
    dtype = promoted([y, residual])
    try:
        return np.asarray(y.astype(dtype, copy=False) + np.asarray(residual, dtype))
    except ValueError:
        raise ShapeError(where, f"a residual that broadcasts with {y.shape}", np.shape(residual)) from None

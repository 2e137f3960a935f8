"""What the normalisations share: ``eps``, and weights that the file holds (nn.X) or that arrive as operands (F.x)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from kuiper.layers.blocks import runs_in_cache
from kuiper.layers.layer import Array, Layer

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


class Normalisation(Layer):
    """The base of the normalisations.

    A subclass names its operands in torch's order, says which of them the file holds, and computes in ``normalise``,
    which gets them by name; what the model does not have is left out.
    """

    operands: ClassVar[tuple[str, ...]] = ("weight", "bias")
    data_inputs = ("input", "running_mean", "running_var", "weight", "bias")
    flops_per_number: ClassVar[int] = 8
    """x - mean, its square, two sums, times 1 / deviation, times weight, plus bias; and about one for the rest."""

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.eps = op.float_param("eps", 1e-5)
        self.weights: dict[str, Array] = {}
        given = op.input_names[1 : len(op.inputs)]
        self._names = [name or default for name, default in zip(given, self.operands, strict=False)]

    def read_weights(self, names: tuple[str, ...], shape: tuple[int, ...]) -> None:
        """Take these weights from the file."""
        for name in names:
            self.weights[name] = self.op.attr(name)
            self.expect(self.weights[name].shape == shape, f"{name} of shape {shape}", self.weights[name].shape)

    def forward(self, x: Array, *operands: Array | None) -> Array:
        given = {name: operand for name, operand in zip(self._names, operands, strict=True) if operand is not None}
        return self.normalise(x, **self.weights, **given)

    def normalise(self, x: Array, **weights: Array) -> Array:
        """Compute the output; the keywords are some of ``operands``."""
        raise NotImplementedError

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return self.flops_per_number * math.prod(outputs[0])


def normalised(rows: Array, eps: float) -> Array:
    """``rows`` (count, size) with mean 0 and variance 1 each, in float32: ``(x - mean) / sqrt(var + eps)``.

    >>> normalised(np.float32([[1, 3], [10, 10]]), 3.0)
    array([[-0.5,  0.5],
           [ 0. ,  0. ]], dtype=float32)
    """
    y = np.empty_like(rows)
    with np.errstate(all="ignore"):  # as in torch, inf - inf is NaN without a word
        for some in runs_in_cache(*rows.shape):
            np.subtract(rows[some], rows[some].mean(1, keepdims=True), out=y[some])
            y[some] -= y[some].mean(1, keepdims=True)  # a mean that is large beside the deviation was rounded
            y[some] *= inverse_root(y[some], eps)
    return y


def inverse_root(rows: Array, eps: float) -> Array:
    """One over the root mean square of each row (count, 1), with ``eps`` added to the mean."""
    return np.asarray(1 / np.sqrt(np.square(rows).mean(1, keepdims=True) + np.float32(eps)))

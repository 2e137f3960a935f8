"""Numbers from a generator, in ONNX's spelling: RandomNormal, RandomUniform, Bernoulli, Multinomial.

ONNX promises no particular numbers, with a seed or without. Here they follow from the seed (0 if there is none) and the
shape alone, so that a model gives the same answer each time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.errors import ParameterError
from kuiper.layers.layer import Array, Layer
from kuiper.layers.registry import register
from kuiper.tensor_limit import check_size

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


class _Drawn(Layer):
    """What draws numbers: the generator, started anew for each call."""

    data_inputs = None

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.seed = int(np.float64(op.float_param("seed", 0.0)).view(np.uint64))

    def generator(self) -> np.random.Generator:
        """A generator that begins as in every call."""
        return np.random.Generator(np.random.PCG64(self.seed))


@register("RandomNormal", "RandomUniform")
class RandomNumbers(_Drawn):
    """float32 of the shape that the input says: around ``mean``, ``scale`` wide, or between ``low`` and ``high``.

    Source: ONNX, RandomNormal, RandomUniform.
    """

    def forward(self, shape: Any) -> Array:
        sizes = tuple(int(size) for size in np.asarray(shape).ravel())
        self.expect(min(sizes, default=0) >= 0, "sizes >= 0", sizes)
        check_size(sizes, 4, self.op.where)
        if self.op.type == "RandomUniform":
            low, high = self.op.float_param("low", 0.0), self.op.float_param("high", 1.0)
            return np.asarray(low + (high - low) * self.generator().random(sizes), np.float32)
        mean, scale = self.op.float_param("mean", 0.0), self.op.float_param("scale", 1.0)
        return np.asarray(mean + scale * self.generator().standard_normal(sizes), np.float32)


@register("Bernoulli")
class Bernoulli(_Drawn):
    """1 with the probability that the input says, else 0, in the input's element type.

    Source: ONNX, Bernoulli.
    """

    def forward(self, x: Array) -> Array:
        return np.asarray(self.generator().random(x.shape) < x, x.dtype)


@register("Multinomial")
class Multinomial(_Drawn):
    """``sample_size`` classes for each row of the input (n, classes), which has logarithms of probabilities; int64.

    Source: ONNX, Multinomial.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.count = op.int_param("sample_size", 1)
        if self.count < 0:
            raise ParameterError(op.where, "sample_size >= 0", self.count)

    def forward(self, x: Array) -> Array:
        self.expect(x.ndim == 2 and x.shape[1] > 0, "input (n, classes)", x.shape)
        check_size((len(x), self.count), 8, self.op.where)
        top = np.max(x, axis=1, keepdims=True)
        shares = np.exp(np.asarray(x, np.float64) - np.where(np.isfinite(top), top, 0))
        below = np.cumsum(shares, axis=1)
        wanted = self.generator().random((len(x), self.count)) * below[:, -1:]
        found = [np.searchsorted(row, places, side="right") for row, places in zip(below, wanted, strict=True)]
        return np.asarray(np.minimum(np.array(found, np.int64).reshape(wanted.shape), x.shape[1] - 1))

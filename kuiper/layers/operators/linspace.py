"""torch.linspace and torch.eye: numbers at even distances, and the unit matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ParameterError
from kuiper.layers.element_type import dtype_param
from kuiper.layers.layer import Array, Layer
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("torch.linspace")
class Linspace(Layer):
    """``steps`` numbers at even distances, the first ``start``, the last ``end``; float32 unless ``dtype`` says else.

    Source: torch.linspace.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        start, end, steps = op.float_param("start"), op.float_param("end"), op.int_param("steps")
        if steps < 0:
            raise ParameterError(op.where, "steps >= 0", steps)
        self.numbers = np.linspace(start, end, steps).astype(dtype_param(op) or np.float32)

    def forward(self) -> Array:
        return self.numbers


@register("torch.eye")
class Eye(Layer):
    """A matrix of ``n`` rows and ``m`` columns, as many if there is no ``m``: 1 on the diagonal and 0 elsewhere.

    Source: torch.eye.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        n = op.int_param("n")
        m = op.int_param("m", None)
        if min(n, n if m is None else m) < 0:
            raise ParameterError(op.where, "n >= 0 and m >= 0", (n, m))
        self.matrix = np.eye(n, m, dtype=dtype_param(op) or np.float32)

    def forward(self) -> Array:
        return self.matrix


@register("EyeLike")
class EyeLike(Layer):
    """The same of the input's shape, and of its element type; ``k`` counts the diagonal up from the main one.

    Source: the ONNX operator EyeLike.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.k = op.int_param("k", 0)
        if op.has_param("dtype"):
            raise self.unsupported("the input's element type", op.params["dtype"].value)

    def forward(self, x: Array) -> Array:
        self.expect_rank(x, (2,), "(n, m)")
        rows, columns = x.shape
        return np.asarray(np.eye(rows, columns, self.k), x.dtype)

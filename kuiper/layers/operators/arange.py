"""torch.arange: evenly spaced numbers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ParameterError
from kuiper.layers.element_type import dtype_param
from kuiper.layers.layer import Array, Layer
from kuiper.layers.operators.clamp import number_param
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("torch.arange")
class Arange(Layer):
    """start, start + step, ... up to ``end``, which is not among them. No inputs.

    int64 if all three are whole, else float32; unless the file names a ``dtype``.

    Source: torch.arange.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        start, end, step = (number_param(op, key) for key in ("start", "end", "step"))
        if end is None:
            raise ParameterError(op.where, "a parameter 'end'", "none")
        start, step = 0 if start is None else start, 1 if step is None else step
        if not all(map(math.isfinite, (start, end, step))) or step == 0 or (end - start) / step < 0:
            expected = "an end that start reaches in steps"
            raise ParameterError(op.where, expected, f"{start} to {end} in steps of {step}")
        self.numbers = arange(start, end, step, dtype_param(op))

    def forward(self) -> Array:
        return self.numbers


def arange(start: float, end: float, step: float = 1, dtype: np.dtype | None = None) -> Array:
    """The numbers from ``start`` to before ``end``.

    >>> arange(2, 9, 3), arange(0, 1, 0.5)
    (array([2, 5, 8]), array([0. , 0.5], dtype=float32))
    """
    is_float = any(isinstance(number, float) for number in (start, end, step))
    count = math.ceil((end - start) / step)
    counted: Array = np.arange(count, dtype=np.float64 if is_float else np.int64)
    return np.asarray(start + counted * step, dtype or (np.float32 if is_float else np.int64))

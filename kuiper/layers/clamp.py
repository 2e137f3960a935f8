"""torch.clamp: entries kept between two bounds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.errors import ParameterError
from kuiper.layers.layer import Array, Layer
from kuiper.layers.promotion import promoted
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator

Bound = Array | float | None


@register("torch.clamp", "torch.clip", "Tensor.clamp", "torch.clamp_min", "torch.clamp_max")
class Clamp(Layer):
    """min(max(x, ``min``), ``max``); a bound may be absent, a number, or a tensor.

    Source: torch.clamp.
    """

    data_inputs = ("input", "self", "min", "max")

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.bounds = {key: number_param(op, key) for key in ("min", "max")}
        if not any(op.has_param(key) or key in op.input_names for key in self.bounds):
            raise ParameterError(op.where, "a bound, min or max", "none")

    def forward(self, x: Array, *bounds: Any) -> Array:
        given = dict(zip(self.op.input_names[1:], bounds, strict=True))
        return clamp(x, **{**self.bounds, **given})

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return math.prod(outputs[0])


def number_param(op: RuntimeOperator, key: str) -> float | None:
    """A number as the file gives it, whole or not; None where it gives none."""
    number = op.float_param(key, None)
    return op.int_param(key) if number is not None and isinstance(op.params[key].value, int) else number


def clamp(x: Array, min: Bound = None, max: Bound = None) -> Array:  # noqa: A002 (torch's names)
    """min(max(x, min), max), in the element type that torch promotes them to; NaN stays NaN.

    Where ``min`` is above ``max`` the result is ``max``.

    >>> clamp(np.array([-2, 0, 5]), min=-1, max=3)
    array([-1,  0,  3])
    """
    arrays = [x, *(np.asarray(bound) for bound in (min, max) if bound is not None)]
    dtype = promoted(arrays)
    if dtype.kind == "f" and x.dtype.kind != "f" and not any(a.dtype.kind == "f" and a.ndim for a in arrays):
        dtype = np.dtype(np.float32)
    x = x.astype(dtype, copy=False)
    if min is not None:
        x = np.maximum(x, np.asarray(min, dtype))
    return x if max is None else np.minimum(x, np.asarray(max, dtype))

"""Operators in ONNX's spelling, ``TopK``: some are those of torch with other words for settings."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.errors import TensorIndexError
from kuiper.graph.pnnx.ir import ParameterType
from kuiper.graph.runtime_operator import RuntimeParameter
from kuiper.layers.layer import Array, Layer
from kuiper.layers.operators.onnx_reductions import LastArgMax
from kuiper.layers.operators.onnx_shapes import integers
from kuiper.layers.operators.split import equal_sizes, split
from kuiper.layers.registry import create, register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator

_SEARCHED = {"axis": ("dim", 0), "keepdims": ("keepdim", 1)}
_KNOWN_AS: dict[str, tuple[str, dict[str, tuple[str, Any]], list[str]]] = {
    "ArgMax": ("torch.argmax", _SEARCHED, ["input"]),
    "ArgMin": ("torch.argmin", _SEARCHED, ["input"]),
    "GatherElements": ("torch.gather", {"axis": ("dim", 0)}, ["input", "index"]),
    "TopK": ("torch.topk", {"axis": ("dim", -1), "largest": ("largest", 1)}, ["input", "k"]),
}
"""The type whose layer runs an operator; by ONNX's word for a setting torch's and ONNX's default; the operands."""


@register(*_KNOWN_AS)
def layer_of_onnx_operator(op: RuntimeOperator) -> Layer:
    """The layer of the operator's other name, with torch's words for the settings."""
    if op.type in ("ArgMax", "ArgMin") and op.bool_param("select_last_index", False):
        return LastArgMax(op)
    known_as, settings, names = _KNOWN_AS[op.type]
    params = {
        ours: op.params[theirs] if op.has_param(theirs) else RuntimeParameter(ParameterType.OTHER, default)
        for theirs, (ours, default) in settings.items()
    }
    if op.type == "GatherElements":
        params["from_end"] = RuntimeParameter(ParameterType.BOOL, True)
    return create(replace(op, type=known_as, params=params, input_names=names[: len(op.inputs)]))


@register("Mod")
class Mod(Layer):
    """What is left of a division: with the sign of the divisor, or with ``fmod`` that of the number divided.

    Source: ONNX, Mod.
    """

    data_inputs = None

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.fmod = op.bool_param("fmod", False)

    def forward(self, x: Any, y: Any) -> Any:
        return np.fmod(x, y) if self.fmod else x % y


@register("SplitToSequence")
class SplitToSequence(Layer):
    """The list of the pieces along ``axis`` whose sizes the second input says: one for all of them, or each.

    Source: ONNX, SplitToSequence.
    """

    data_inputs = None

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.axis = op.int_param("axis", 0)

    def forward(self, x: Array, sizes: Any) -> list[Array]:
        self.expect(-x.ndim <= self.axis < x.ndim, f"input with axis {self.axis}", x.shape)
        pieces = integers(sizes) if np.ndim(sizes) else equal_sizes(x.shape[self.axis], int(sizes))
        return list(split(x, pieces, self.axis, self.op.where))


@register("SequenceAt")
class SequenceAt(Layer):
    """One entry of a list.

    Source: ONNX, SequenceAt.
    """

    data_inputs = None

    def forward(self, sequence: list[Array], index: Any) -> Array:
        place = int(index)
        if not -len(sequence) <= place < len(sequence):
            raise TensorIndexError(self.op.where, f"an index within {len(sequence)}", place)
        return sequence[place]

"""Operators that pnnx left in ONNX's spelling, ``ReduceMax``: most are those of torch with other words for settings."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.errors import ShapeError, TensorIndexError, UnsupportedOperatorError
from kuiper.graph.boundary import input_dtype
from kuiper.graph.pnnx.ir import ParameterType
from kuiper.graph.runtime_operator import RuntimeParameter
from kuiper.layers.layer import Array, Layer
from kuiper.layers.operators.aten_placing import scatter_reduce
from kuiper.layers.operators.pad import pad
from kuiper.layers.operators.slice import part_of
from kuiper.layers.operators.split import equal_sizes, split
from kuiper.layers.promotion import promoted
from kuiper.layers.registry import create, register
from kuiper.tensor_limit import check_size

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator

_REDUCED = {"axes": ("dim", ()), "keepdims": ("keepdim", 1)}
_SEARCHED = {"axis": ("dim", 0), "keepdims": ("keepdim", 1)}
_KNOWN_AS: dict[str, tuple[str, dict[str, tuple[str, Any]], list[str]]] = {
    "ReduceMax": ("torch.amax", _REDUCED, ["input"]),
    "ReduceMin": ("torch.amin", _REDUCED, ["input"]),
    "ArgMax": ("torch.argmax", _SEARCHED, ["input"]),
    "ArgMin": ("torch.argmin", _SEARCHED, ["input"]),
    "CumSum": ("torch.cumsum", {}, ["input", "dim"]),
    "GatherElements": ("torch.gather", {"axis": ("dim", 0)}, ["input", "index"]),
    "ScatterElements": ("torch.scatter", {"axis": ("dim", 0)}, ["input", "index", "src"]),
    "TopK": ("torch.topk", {"axis": ("dim", -1), "largest": ("largest", 1)}, ["input", "k"]),
}
"""The type whose layer runs an operator; by ONNX's word for a setting torch's and ONNX's default; the operands."""

_NOT_IN_TORCH = {"select_last_index": 0, "exclusive": 0, "reverse": 0, "reduction": "none", "noop_with_empty_axes": 0}
_REDUCTIONS = {"mul": "prod", "max": "amax", "min": "amin"}
_PAD_MODES = {"constant": "constant", "reflect": "reflect", "edge": "replicate", "wrap": "circular"}
_BOUNDS = ("starts", "ends", "axes", "steps")


@register(*_KNOWN_AS)
def layer_of_onnx_operator(op: RuntimeOperator) -> Layer:
    """The layer of the operator's other name, with torch's words for the settings.

    Raises
    ------
    UnsupportedOperatorError
        If a setting that torch does not have is given another value than its default.
    """
    if op.type == "ScatterElements" and op.str_param("reduction", "none") == "add":
        params = {"dim": RuntimeParameter(ParameterType.INT, op.int_param("axis", 0))}
        return create(replace(op, type="torch.scatter_add", params=params, input_names=["input", "index", "src"]))
    if op.type == "ScatterElements" and op.str_param("reduction", "none") in _REDUCTIONS:
        return ScatterReduced(op)
    for key, neutral in _NOT_IN_TORCH.items():
        if key in op.params and op.params[key].value not in (None, neutral):
            raise UnsupportedOperatorError(op.where, f"{key}={neutral}", op.params[key].value)
    known_as, settings, names = _KNOWN_AS[op.type]
    params = {
        ours: op.params[theirs] if op.has_param(theirs) else RuntimeParameter(ParameterType.OTHER, default)
        for theirs, (ours, default) in settings.items()
    }
    return create(replace(op, type=known_as, params=params, input_names=names[: len(op.inputs)]))


class ScatterReduced(Layer):
    """ScatterElements with a product, the largest or the smallest of what comes to a place and what is there.

    Source: ONNX, ScatterElements.
    """

    data_inputs = None

    def forward(self, x: Array, index: Array, source: Array) -> Array:
        how = _REDUCTIONS[self.op.str_param("reduction")]
        return scatter_reduce(x, self.op.int_param("axis", 0), index, source, how)


@register("Shape")
class Shape(Layer):
    """The sizes of the axes from ``start`` up to ``end`` as a vector, int64.

    Source: ONNX, Shape.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.axes = slice(op.int_param("start", None), op.int_param("end", None))

    def forward(self, x: Array) -> Array:
        return np.array(x.shape[self.axes], np.int64)


@register("ConstantOfShape")
class ConstantOfShape(Layer):
    """One number in the shape that the input says: the weight ``value``, or 0 of the type that the file declares.

    Source: ONNX, ConstantOfShape.
    """

    data_inputs = None

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.value = op.attribute("value").data if "value" in op.attrs else np.zeros(1, input_dtype(op.outputs[0]))

    def forward(self, shape: Any) -> Array:
        sizes = _ints(shape)
        self.expect(min(sizes, default=0) >= 0, "sizes >= 0", sizes)
        check_size(sizes, self.value.itemsize, self.op.where)
        return np.full(sizes, self.value[0])


@register("Range")
class Range(Layer):
    """``start``, ``start + delta``, ... up to ``limit``, which is not among them, in their element type.

    Source: ONNX, Range.
    """

    data_inputs = None

    def forward(self, start: Any, limit: Any, delta: Any) -> Array:
        first, end, step = (np.asarray(value).reshape(-1) for value in (start, limit, delta))
        self.expect(first.size == end.size == step.size == 1, "three numbers", (first.shape, end.shape, step.shape))
        self.expect(step[0] != 0, "a delta other than 0", step[0])
        lengths = (end[0].item() - first[0].item()) / step[0].item()
        self.expect(math.isfinite(lengths), "a finite range", (start, limit, delta))
        count = max(math.ceil(lengths), 0)
        check_size((count,), first.itemsize, self.op.where)
        return np.asarray(first[0] + np.arange(count, dtype=first.dtype) * step[0], first.dtype)


@register("Slice")
class OnnxSlice(Layer):
    """``starts``, ``ends``, ``axes`` and ``steps``: parameters, or operands in this order where they are none.

    Source: ONNX, Slice.
    """

    data_inputs = None

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.known = {key: op.ints_param(key) for key in _BOUNDS if op.has_param(key)}
        self.computed = [key for key in _BOUNDS if key not in self.known][: len(op.inputs) - 1]

    def forward(self, x: Array, *operands: Any) -> Array:
        given = self.known | {key: _ints(value) for key, value in zip(self.computed, operands, strict=True)}
        starts = given.get("starts", ())
        axes = given.get("axes", tuple(range(len(starts))))
        columns = [starts, given.get("ends", ()), given.get("steps", (1,) * len(starts))]
        self.expect(len({len(axes), *map(len, columns)}) == 1, "starts, ends, axes and steps of one length", given)
        self.expect(0 not in columns[2], "steps other than 0", columns[2])
        return part_of(x, axes, tuple(slice(*cut) for cut in zip(*columns, strict=True)), self.op.where)


@register("Expand")
class OnnxExpand(Layer):
    """The input, or a number, broadcast with the shape that the second input says.

    Source: ONNX, Expand.
    """

    data_inputs = None

    def forward(self, x: Array | float, shape: Any) -> Array:
        old, wanted = np.shape(x), _ints(shape)
        try:
            return np.broadcast_to(np.asarray(x, promoted([x])), np.broadcast_shapes(old, wanted))
        except ValueError:
            raise ShapeError(self.op.where, f"a shape that {old} broadcasts with", wanted) from None


@register("Pad")
class OnnxPad(Layer):
    """Borders by ``pads``: first those in front, axis by axis, then those behind. A last input is what they hold.

    Source: ONNX, Pad.
    """

    data_inputs = None

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        mode = op.str_param("mode", "constant")
        if mode not in _PAD_MODES:
            raise self.unsupported(f"mode {', '.join(_PAD_MODES)}", mode)
        self.mode = _PAD_MODES[mode]
        self.pads = [op.ints_param("pads")] if op.has_param("pads") else []

    def forward(self, x: Array, *operands: Any) -> Array:
        pads, value = (*self.pads, *operands, None, None)[:2]
        self.expect(pads is not None, "pads as a parameter or an input", "none")
        borders = _ints(pads)
        self.expect(len(borders) == 2 * x.ndim, f"{2 * x.ndim} borders, two for each axis", borders)
        pairs = list(zip(borders[: x.ndim], borders[x.ndim :], strict=True))
        while pairs and pairs[0] == (0, 0):
            pairs.pop(0)
        amounts = tuple(amount for pair in reversed(pairs) for amount in pair)
        return pad(x, amounts, self.mode, 0.0 if value is None else float(value), self.op.where)


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
        pieces = _ints(sizes) if np.ndim(sizes) else equal_sizes(x.shape[self.axis], int(sizes))
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


def _ints(value: Any) -> tuple[int, ...]:
    """An operand that holds sizes: a number, a list of numbers, or a vector.

    A fraction is cut off: pnnx writes ONNX's division of whole numbers as one of floats.
    """
    return tuple(int(item) for item in np.atleast_1d(np.asarray(value)).ravel())

"""Parts and borders in ONNX's spelling: Slice, Pad, Compress, ReverseSequence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.errors import ShapeError
from kuiper.layers.axes import axes, axis
from kuiper.layers.layer import Array, Layer
from kuiper.layers.operators.onnx_shapes import integers
from kuiper.layers.operators.slice import part_of
from kuiper.layers.registry import register
from kuiper.tensor_limit import check_size

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator

_PAD_MODES = ("constant", "reflect", "edge", "wrap")
_BOUNDS = ("starts", "ends", "axes", "steps")


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
        given = self.known | {key: integers(value) for key, value in zip(self.computed, operands, strict=True)}
        starts = given.get("starts", ())
        axes = given.get("axes", tuple(range(len(starts))))
        columns = [starts, given.get("ends", ()), given.get("steps", (1,) * len(starts))]
        self.expect(len({len(axes), *map(len, columns)}) == 1, "starts, ends, axes and steps of one length", given)
        self.expect(0 not in columns[2], "steps other than 0", columns[2])
        return part_of(x, axes, tuple(slice(*cut) for cut in zip(*columns, strict=True)), self.op.where)


@register("Pad")
class OnnxPad(Layer):
    """Borders by ``pads``: first those in front, axis by axis, then those behind; a negative one cuts off.

    The inputs behind the data: the pads, if they are no parameter, what the borders hold, and which axes have them.

    Source: ONNX, Pad.
    """

    data_inputs = None

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.mode = op.str_param("mode", "constant")
        if self.mode not in _PAD_MODES:
            raise self.unsupported(f"mode {', '.join(_PAD_MODES)}", self.mode)
        self.pads = [op.ints_param("pads")] if op.has_param("pads") else []
        self.axes = op.ints_param("axes", None)

    def borders(self, x: Array, *operands: Any) -> tuple[list[tuple[int, int]], Any]:
        """What comes in front of each axis and behind it, and what it holds.

        Raises
        ------
        ShapeError
            If there are not two borders for each axis.
        """
        pads, value, named = (*self.pads, *operands, None, None, None)[:3]
        self.expect(pads is not None, "pads as a parameter or an input", "none")
        chosen = self.axes if named is None else integers(named)
        chosen = tuple(range(x.ndim)) if chosen is None else axes(chosen, x.ndim, self.op.where)
        amounts, count = integers(pads), len(chosen)
        self.expect(len(amounts) == 2 * count, f"{2 * count} borders, two for each axis", amounts)
        borders = [(0, 0)] * x.ndim
        for place, dim in enumerate(chosen):
            borders[dim] = (amounts[place], amounts[place + count])
        return borders, 0 if value is None else np.asarray(value).reshape(-1)[0]

    def forward(self, x: Array, *operands: Any) -> Array:
        borders, value = self.borders(x, *operands)
        return padded(x, borders, self.mode, value, self.op.where)


def padded(x: Array, borders: list[tuple[int, int]], mode: str, value: Any = 0, where: str = "pad") -> Array:
    """``x`` with a border on every axis; negative ones cut off before the others are made.

    >>> padded(np.array([1, 2, 3]), [(2, -1)], "reflect").tolist()
    [1, 2, 1, 2]

    Raises
    ------
    ShapeError
        If more is cut off than there is, or an axis has nothing to repeat.
    """
    sizes = zip(x.shape, borders, strict=True)
    if any(size + min(before, 0) + min(after, 0) < 0 for size, (before, after) in sizes):
        raise ShapeError(where, f"an input from which {borders} can be cut off", x.shape)
    inner = x[tuple(slice(max(-a, 0), n - max(-b, 0)) for n, (a, b) in zip(x.shape, borders, strict=True))]
    outer = [(max(before, 0), max(after, 0)) for before, after in borders]
    check_size([n + sum(pair) for n, pair in zip(inner.shape, outer, strict=True)], x.itemsize, where)
    if mode == "constant":
        return np.pad(inner, outer, constant_values=np.asarray(value, x.dtype)) if x.ndim else inner
    if any(not n and any(pair) for n, pair in zip(inner.shape, outer, strict=True)):
        raise ShapeError(where, "axes with entries to repeat", inner.shape)
    for dim, (before, after) in enumerate(outer):
        if before or after:
            inner = inner.take(_repeated(inner.shape[dim], before, after, mode), dim)
    return inner


def _repeated(size: int, before: int, after: int, mode: str) -> Array:
    """For each place along a padded axis the place of the input that it repeats."""
    places = np.arange(-before, size + after)
    if mode == "edge":
        return np.clip(places, 0, size - 1)
    if mode == "wrap":
        return np.asarray(places % size)
    period = max(2 * size - 2, 1)
    return np.asarray((size - 1) - np.abs((size - 1) - places % period))


@register("Compress")
class Compress(Layer):
    """The entries along ``axis``, or of the flattened input, for which the second input is true.

    Source: ONNX, Compress.
    """

    data_inputs = None

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.axis = op.int_param("axis", None)

    def forward(self, x: Array, condition: Array) -> Array:
        self.expect(condition.ndim == 1, "a condition with one axis", condition.shape)
        dim = None if self.axis is None else axis(self.axis, x.ndim, self.op.where)
        size = x.size if dim is None else x.shape[dim]
        self.expect(len(condition) <= size, f"a condition of at most {size} entries", condition.shape)
        return np.compress(condition, x, dim)


@register("ReverseSequence")
class ReverseSequence(Layer):
    """The first entries along ``time_axis`` in reverse: as many as the second input says for each of ``batch_axis``.

    Source: ONNX, ReverseSequence.
    """

    data_inputs = None

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.time, self.batch = op.int_param("time_axis", 0), op.int_param("batch_axis", 1)

    def forward(self, x: Array, lengths: Array) -> Array:
        time, batch = axes((self.time, self.batch), x.ndim, self.op.where)
        self.expect(lengths.shape == (x.shape[batch],), f"one length for each of {x.shape[batch]}", lengths.shape)
        steps = np.arange(x.shape[time])
        counts = np.asarray(lengths)[:, None]
        fits = bool(np.all((counts >= 0) & (counts <= len(steps))))
        self.expect(fits, f"lengths within 0..{len(steps)}", lengths.tolist())
        places = np.where(steps < counts, counts - 1 - steps, steps)  # (batch, time)
        shape = [1] * x.ndim
        shape[batch], shape[time] = places.shape
        return np.take_along_axis(x, (places if batch < time else places.T).reshape(shape), time)

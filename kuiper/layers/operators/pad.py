"""F.pad and the padding modules: an array with a border, or without one where the padding is negative."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ParameterError, ShapeError
from kuiper.layers.layer import Array, Layer
from kuiper.layers.reads import Reads, shifted_reads
from kuiper.layers.registry import register
from kuiper.tensor_limit import check_size

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator

# Modules that say in their type what F.pad says in its parameters: mode and number of axes.
_MODULES = {
    "nn.ZeroPad2d": ("constant", 2),
    "nn.ConstantPad1d": ("constant", 1),
    "nn.ConstantPad2d": ("constant", 2),
    "nn.ConstantPad3d": ("constant", 3),
    "nn.ReflectionPad1d": ("reflect", 1),
    "nn.ReflectionPad2d": ("reflect", 2),
    "nn.ReplicationPad1d": ("replicate", 1),
    "nn.ReplicationPad2d": ("replicate", 2),
    "nn.ReplicationPad3d": ("replicate", 3),
}
_MODES = ("constant", "reflect", "replicate", "circular")


@register("F.pad", *_MODULES)
class Pad(Layer):
    """The input with ``pad`` (left, right, top, bottom, ...) more values at the ends of its last axes.

    Source: torch.nn.functional.pad.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        if op.type in _MODULES:
            self.mode, axes = _MODULES[op.type]
            pad = op.ints_param("padding")
            self.pad = pad * (2 * axes) if len(pad) == 1 else pad
        else:
            self.mode, self.pad = op.str_param("mode", "constant"), op.ints_param("pad")
        if self.mode not in _MODES:
            raise self.unsupported(f"mode {', '.join(_MODES)}", self.mode)
        if len(self.pad) % 2:
            raise ParameterError(op.where, "an even number of paddings, two for each axis", self.pad)
        self.value = op.float_param("value", 0.0)

    def reads(self, sizes: list[tuple[int, int]]) -> list[Reads] | None:
        if self.mode != "constant":
            return None
        left, _, top, _ = (*self.pad, 0, 0, 0, 0)[:4]
        return [shifted_reads(i, o, before) for (i, o), before in zip(sizes, (top, left), strict=True)]

    def forward(self, x: Array) -> Array:
        return pad(x, self.pad, self.mode, self.value, self.op.where)


def pad(x: Array, amounts: tuple[int, ...], mode: str = "constant", value: float = 0.0, where: str = "pad") -> Array:
    """``x`` with ``amounts`` = (left, right, top, bottom, ...), the last axis first; a negative amount cuts off.

    What the border holds:

        constant   v v v | a b c d | v v v
        replicate  a a a | a b c d | d d d
        reflect    d c b | a b c d | c b a
        circular   b c d | a b c d | a b c

    >>> import numpy as np
    >>> pad(np.array([1, 2, 3]), (2, -1)).tolist()
    [0, 0, 1, 2]
    >>> pad(np.array([[1, 2, 3]]), (2, 1), "reflect").tolist()
    [[3, 2, 1, 2, 3, 2]]

    Raises
    ------
    ShapeError
        If ``x`` has too few or too small axes for this padding, or the result is larger than a tensor may be.
    """
    axes = len(amounts) // 2
    borders = [(x.ndim - 1 - i, amounts[2 * i], amounts[2 * i + 1]) for i in range(axes)]
    padded = list(x.shape)
    for axis, before, after in borders[: x.ndim]:
        padded[axis] = max(padded[axis] + before + after, 0)
    check_size(padded, x.itemsize, where)
    if mode == "constant":
        _check(x.ndim >= axes, where, f"input with at least {axes} axes", x.shape)
        return _pad_constant(x, borders, value, where)
    _check(axes in (1, 2, 3), where, f"2, 4 or 6 amounts for mode {mode}", amounts)
    _check(x.ndim in (axes + 1, axes + 2), where, f"input with {axes + 1} or {axes + 2} axes", x.shape)
    for axis, before, after in borders:
        if before or after:
            x = x.take(_positions(x.shape, axis, before, after, mode, where), axis)
    return x


def _check(condition: bool, where: str, expected: str, got: object) -> None:
    if not condition:
        raise ShapeError(where, expected, got)


def _pad_constant(x: Array, borders: list[tuple[int, int, int]], value: float, where: str) -> Array:
    shape, inner, kept = list(x.shape), [slice(None)] * x.ndim, [slice(None)] * x.ndim
    for axis, before, after in borders:
        first, end = max(-before, 0), x.shape[axis] - max(-after, 0)
        _check(first <= end, where, f"input with more values along axis {axis} than {before, after} cuts off", x.shape)
        kept[axis] = slice(first, end)
        shape[axis] += before + after
        inner[axis] = slice(max(before, 0), shape[axis] - max(after, 0))
    out = np.full(shape, value, x.dtype)
    out[tuple(inner)] = x[tuple(kept)]
    return out


def _positions(shape: tuple[int, ...], axis: int, before: int, after: int, mode: str, where: str) -> Array:
    """For each place along the padded axis the place of the input that it repeats."""
    size, most = shape[axis], max(before, after)
    i = np.arange(-before, size + after)
    if mode == "circular":  # what is cut off does not come again
        first, kept = max(-before, 0), size + min(before, 0) + min(after, 0)
        _check(0 <= kept >= most, where, f"input with enough values along axis {axis} to repeat {most}", shape)
        return first + np.mod(i - first, kept)
    _check(len(i) > 0 < size, where, f"input with more values along axis {axis} than {before, after} cuts off", shape)
    if mode == "replicate":
        return np.clip(i, 0, size - 1)
    _check(most < size, where, f"input with more than {most} values along axis {axis} to reflect", shape)
    mirrored: Array = (size - 1) - np.abs((size - 1) - np.abs(i))
    return mirrored

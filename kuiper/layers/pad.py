"""F.pad and the padding modules: an array with a border, or without one where the padding is negative."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ParameterError, ShapeError
from kuiper.layers.layer import Array, Layer
from kuiper.layers.registry import register

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
        If ``x`` has too few or too small axes for this padding.
    """
    axes = len(amounts) // 2
    ranks = range(axes, 33) if mode == "constant" else range(axes + 1, axes + 3)
    if x.ndim not in ranks or (mode != "constant" and axes not in (1, 2, 3)):
        expected = f"{ranks[0]} axes or more" if mode == "constant" else f"{ranks[0]} or {ranks[1]} axes"
        raise ShapeError(where, f"input with {expected} for {mode} padding {amounts}", x.shape)
    borders = [(x.ndim - 1 - i, amounts[2 * i], amounts[2 * i + 1]) for i in range(axes)]
    smallest = 1 if mode in ("reflect", "replicate") else 0
    if any(x.shape[axis] + before + after < smallest for axis, before, after in borders):
        raise ShapeError(where, f"input that is larger than the padding {amounts} cuts off", x.shape)
    if mode == "constant":
        return _pad_constant(x, borders, value)
    for axis, before, after in borders:
        if before or after:
            x = x.take(_positions(x.shape, axis, before, after, mode, where), axis)
    return x


def _pad_constant(x: Array, borders: list[tuple[int, int, int]], value: float) -> Array:
    shape, inner, kept = list(x.shape), [slice(None)] * x.ndim, [slice(None)] * x.ndim
    for axis, before, after in borders:
        size = x.shape[axis]
        shape[axis] = size + before + after
        inner[axis] = slice(max(before, 0), shape[axis] - max(after, 0))
        kept[axis] = slice(max(-before, 0), size - max(-after, 0))
    out = np.full(shape, value, x.dtype)
    out[tuple(inner)] = x[tuple(kept)]
    return out


def _positions(shape: tuple[int, ...], axis: int, before: int, after: int, mode: str, where: str) -> Array:
    """For each place along the padded axis the place of the input that it repeats."""
    size, most = shape[axis], max(before, after)
    i = np.arange(-before, size + after)
    if mode == "replicate":
        return np.clip(i, 0, size - 1)
    if mode == "reflect":
        if most >= size:
            raise ShapeError(where, f"input with more than {most} values along axis {axis} to reflect", shape)
        mirrored: Array = (size - 1) - np.abs((size - 1) - np.abs(i))
        return mirrored
    first, kept = max(-before, 0), size + min(before, 0) + min(after, 0)  # what is cut off does not come again
    if most > kept:
        raise ShapeError(where, f"input with at least {most} values along axis {axis} to repeat", shape)
    return first + np.mod(i - first, kept)
